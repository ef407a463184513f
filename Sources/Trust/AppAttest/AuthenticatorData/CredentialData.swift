/// Attested credential data (WebAuthn Level 3 §6.5.1) as App Attest has it: every part has a fixed place.
internal import Bytes

enum CredentialData {
  static let aaguid = 37..<53
  static let identifierLength = 53..<55
  static let identifier = 55..<87
  static let publicKey = 87..<164

  /// `COSE_Key` (RFC 9053 §7.1) of an ES256 key, in the one encoding that is shortest and in order: 77 bytes.
  static func coseKey(_ point: P256Point) -> [UInt8] {
    // {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}
    [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + point.x.array + [0x22, 0x58, 0x20]
      + point.y.array
  }
}
