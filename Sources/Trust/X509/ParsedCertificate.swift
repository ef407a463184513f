/// A certificate whose encoding is strict DER and whose grammar is RFC 5280 §4.1; nothing of it is verified.
package import Bytes
package import Time

package struct ParsedCertificate: Sendable {
  package enum SignatureAlgorithm: Equatable, Sendable {
    case ecdsaWithSHA256
    case ecdsaWithSHA384
    case other
  }

  package enum PublicKey: Equatable, Sendable {
    /// Uncompressed; not yet known to be on the curve.
    case p256(P256Point)
    case p384
    case other
  }

  package struct BasicConstraints: Equatable, Sendable {
    package let isAuthority: Bool
    package let pathLength: Int?
  }

  /// Bits as RFC 5280 §4.2.1.3 numbers them, bit 0 first.
  package struct KeyUsage: OptionSet, Sendable {
    package let rawValue: UInt16
    package static let digitalSignature = KeyUsage(rawValue: 1 << 0)
    package static let keyCertSign = KeyUsage(rawValue: 1 << 5)

    package init(rawValue: UInt16) {
      self.rawValue = rawValue
    }
  }

  package struct Extension: Sendable {
    /// Content of the OBJECT IDENTIFIER.
    package let identifier: [UInt8]
    package let isCritical: Bool
    /// Content of the OCTET STRING, within `der`.
    package let value: Range<Int>
  }

  package let der: [UInt8]
  /// What is signed, within `der`: the whole of `TBSCertificate`.
  package let toBeSigned: Range<Int>
  /// Content of the INTEGER, within `der`.
  package let serialNumber: Range<Int>
  /// Both names as they are encoded.
  package let issuer: [UInt8]
  package let subject: [UInt8]
  /// Nil only where the rules let a time be anything.
  package let notBefore: UnixTime?
  package let notAfter: UnixTime?
  /// Of the signature; that of the body, which RFC 5280 §4.1.1.2 wants to be the same.
  package let signatureAlgorithm: SignatureAlgorithm
  package let innerSignatureAlgorithm: SignatureAlgorithm
  /// The same two whole, within `der`.
  package let signatureAlgorithmIdentifier: Range<Int>
  package let innerSignatureAlgorithmIdentifier: Range<Int>
  /// The bytes of the signature, within `der`; maybe none.
  package let signature: Range<Int>
  package let publicKey: PublicKey
  /// The key whole, within `der`.
  package let subjectPublicKeyInfo: Range<Int>
  /// Nil: the extension is absent, or not read.
  package let basicConstraints: BasicConstraints?
  /// Nil also where it is not read.
  package let keyUsage: KeyUsage?
  /// No identifier twice.
  package let extensions: [Extension]

  /// The value of the extension, which is at most once there.
  package func extensionValue(_ identifier: [UInt8]) -> Range<Int>? {
    extensions.first { $0.identifier == identifier }?.value
  }

  /// RFC 5280 §4.1.2.5: both ends are included; they have no fractions of a second.
  package func isValid(at time: UnixTime) -> Bool {
    guard let notBefore, let notAfter else { return false }
    return notBefore.seconds <= time.seconds && time.seconds <= notAfter.seconds
  }
}
