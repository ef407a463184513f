/// The object identifiers that a chain of App Attest knows, as the contents of their DER.
enum ObjectIdentifiers {
  /// id-ce-basicConstraints, 2.5.29.19
  static let basicConstraints: [UInt8] = [0x55, 0x1D, 0x13]
  /// id-ce-keyUsage, 2.5.29.15
  static let keyUsage: [UInt8] = [0x55, 0x1D, 0x0F]
  /// 1.2.840.113635.100.8.2: the nonce.
  static let appleNonce: [UInt8] = apple + [0x02]
  /// 1.2.840.113635.100.8.5: what the key belongs to, the app id among it.
  static let appleKeyOwner: [UInt8] = apple + [0x05]

  private static let apple: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x08]
}
