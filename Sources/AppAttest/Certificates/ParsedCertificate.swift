/// A certificate whose encoding is strict DER and whose grammar is RFC 5280 §4.1; nothing of it is verified.
internal import Bytes
internal import System

struct ParsedCertificate: Sendable {
  enum SignatureAlgorithm: Equatable, Sendable {
    case ecdsaWithSHA256
    case ecdsaWithSHA384
    case other
  }

  enum PublicKey: Equatable, Sendable {
    /// Uncompressed; not yet known to be on the curve.
    case p256(P256Point)
    case p384
    case other
  }

  struct BasicConstraints: Equatable, Sendable {
    let isAuthority: Bool
    let pathLength: Int?
  }

  /// Bits as RFC 5280 §4.2.1.3 numbers them, bit 0 first.
  struct KeyUsage: OptionSet, Sendable {
    let rawValue: UInt16
    static let digitalSignature = KeyUsage(rawValue: 1 << 0)
    static let keyCertSign = KeyUsage(rawValue: 1 << 5)
  }

  struct Extension: Sendable {
    /// Content of the OBJECT IDENTIFIER.
    let identifier: [UInt8]
    let isCritical: Bool
    /// Content of the OCTET STRING, within `der`.
    let value: Range<Int>
  }

  let der: [UInt8]
  /// Both names as they are encoded.
  let issuer: [UInt8]
  let subject: [UInt8]
  let notBefore: UnixTime
  let notAfter: UnixTime
  /// Of the signature; that of the body, which RFC 5280 §4.1.1.2 wants to be the same.
  let signatureAlgorithm: SignatureAlgorithm
  let innerSignatureAlgorithm: SignatureAlgorithm
  let publicKey: PublicKey
  /// Nil: the extension is absent.
  let basicConstraints: BasicConstraints?
  let keyUsage: KeyUsage?
  /// No identifier twice.
  let extensions: [Extension]

  /// The value of the extension, which is at most once there.
  func extensionValue(_ identifier: [UInt8]) -> Range<Int>? {
    extensions.first { $0.identifier == identifier }?.value
  }

  /// RFC 5280 §4.1.2.5: both ends are included; they have no fractions of a second.
  func isValid(at time: UnixTime) -> Bool {
    notBefore.seconds <= time.seconds && time.seconds <= notAfter.seconds
  }
}
