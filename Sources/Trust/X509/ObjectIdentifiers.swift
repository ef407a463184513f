/// The object identifiers of extensions that are read here (RFC 5280 §4.2.1), as the contents of their DER.
package enum ObjectIdentifiers {
  /// id-ce-basicConstraints, 2.5.29.19
  package static let basicConstraints: [UInt8] = [0x55, 0x1D, 0x13]
  /// id-ce-keyUsage, 2.5.29.15
  package static let keyUsage: [UInt8] = [0x55, 0x1D, 0x0F]
}
