/// The object identifiers of Apple's own extensions in a leaf of App Attest, as the contents of their DER.
enum AppleIdentifiers {
  /// 1.2.840.113635.100.8.2
  static let nonce: [UInt8] = apple + [0x02]
  /// 1.2.840.113635.100.8.5: what the key belongs to, the app id among it.
  static let keyOwner: [UInt8] = apple + [0x05]

  private static let apple: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x08]
}
