/// The extensions of a version 3 certificate (RFC 5280 §4.2) that are issued here.
internal import Bytes

package struct CertificateExtension: Sendable {
  package var identifier: [UInt32]
  package var critical: Bool
  /// The DER inside the extension's OCTET STRING.
  package var value: [UInt8]

  package init(_ identifier: [UInt32], critical: Bool = false, _ value: [UInt8]) {
    self.identifier = identifier
    self.critical = critical
    self.value = value
  }

  package static func basicConstraints(authority: Bool, pathLength: UInt32? = nil) -> Self {
    var members: [UInt8] = []
    // FALSE is the default and DER leaves defaults out (X.690 §11.5).
    if authority { members += DERWriter.boolean(true) }
    if let pathLength { members += DERWriter.integer(pathLength) }
    return Self([2, 5, 29, 19], critical: true, DERWriter.element(0x30, members))
  }

  /// The bits of RFC 5280 §4.2.1.3 by their numbers.
  package enum KeyUsage: Int, Sendable {
    case digitalSignature = 0
    case contentCommitment = 1
    case keyEncipherment = 2
    case dataEncipherment = 3
    case keyCertSign = 5
    case crlSign = 6
  }

  package static func keyUsage(_ usages: KeyUsage...) -> Self {
    Self([2, 5, 29, 15], critical: true, DERWriter.bitString(bits: Set(usages.map(\.rawValue))))
  }

  package static let serverAuthentication: [UInt32] = [1, 3, 6, 1, 5, 5, 7, 3, 1]
  package static let clientAuthentication: [UInt32] = [1, 3, 6, 1, 5, 5, 7, 3, 2]

  package static func extendedKeyUsage(_ purposes: [UInt32]...) -> Self {
    Self([2, 5, 29, 37], DERWriter.element(0x30, purposes.flatMap(DERWriter.objectIdentifier)))
  }

  package enum AlternativeName: Equatable, Sendable {
    case dns(String)
    /// 4 or 16 bytes, as on the wire.
    case address([UInt8])
  }

  package static func subjectAlternativeNames(_ names: [AlternativeName]) -> Self {
    let members = names.flatMap { name in
      switch name {
      case .dns(let name): DERWriter.implicit(2, Array(name.utf8))
      case .address(let bytes): DERWriter.implicit(7, bytes)
      }
    }
    return Self([2, 5, 29, 17], DERWriter.element(0x30, members))
  }

  package static func subjectKeyIdentifier(_ identifier: [UInt8]) -> Self {
    Self([2, 5, 29, 14], DERWriter.octetString(identifier))
  }

  package static func authorityKeyIdentifier(_ identifier: [UInt8]) -> Self {
    Self([2, 5, 29, 35], DERWriter.sequence(DERWriter.implicit(0, identifier)))
  }

  var der: [UInt8] {
    DERWriter.sequence(
      DERWriter.objectIdentifier(identifier), critical ? DERWriter.boolean(true) : [],
      DERWriter.octetString(value))
  }
}
