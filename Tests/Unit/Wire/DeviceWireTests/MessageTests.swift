/// The bytes of each message, compared with those that a few lines of Python make of the same table (docs/devices-messages.md,
/// "Messages").
import Bytes
import Crypto
import DeviceWire
import Testing

@Suite struct MessageTests {
  /// P-256's base point and its double (SEC 2 §2.4.2): keys whose private halves are 1 and 2.
  private static let keyPoint = P256Point(
    x: bytes32("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
    y: bytes32("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"))
  private static let approvalPoint = P256Point(
    x: bytes32("7cf27b188d034f7e8a52380304b51ac3c08969e277f21b35a60b48fc47669978"),
    y: bytes32("07775510db8ed040293d9ac69f7430dbba7dade63ce982299e04b79d227873d1"))

  private static func messages() throws -> [String: DeviceMessage] {
    let verifier = P256Verifier()
    let key = try #require(DevicePublicKey(keyPoint, checkedBy: verifier))
    let approvalKey = try #require(DevicePublicKey(approvalPoint, checkedBy: verifier))
    let keys = try #require(DeviceKeys(device: key, approval: approvalKey))
    let single = try #require(DeviceKeys(device: key, approval: nil))
    let server = try #require(ServerID(repeated(0x11)))
    let device = try #require(DeviceID(repeated(0x22)))
    let desktop = try #require(DesktopID(repeated(0x33)))
    let request = try #require(ApprovalID(repeated(0x55)))
    let pairing = try #require(PairingID(repeated(0x77)))
    let challenge = try #require(CodeChallengeID(repeated(0x88)))
    let nonce = bytes32(0x44)
    let hash = bytes32(0x66)
    let name = try #require(DeviceName("Zo\u{EB}\u{2019}s phone"))
    let audience = try #require(Audience("game.example"))
    let code = try #require(MatchCode("27"))
    let vote = try #require(Vote(.approve, matchCode: code))
    let issued = try #require(UnixSeconds(1_772_452_811))
    let expires = try #require(UnixSeconds(1 << 53 - 1))
    return [
      "enroll": .enroll(server: server, keys: keys, nonce: nonce, platform: .android),
      "enroll without an approval key": .enroll(server: server, keys: single, nonce: nonce, platform: .ios),
      "pair": .pair(pairing: pairing, serverKeyHash: hash, keys: keys, commit: nonce, name: name),
      "pair-sas": .pairSAS(pairMessageHash: hash, s: nonce, r: Bytes32()),
      "device-auth, token": .deviceAuth(server: server, device: device, nonce: nonce, for: .token(audience)),
      "device-auth, ws-connect": .deviceAuth(server: server, device: device, nonce: nonce, for: .upgrade),
      "device-auth, heartbeat": .deviceAuth(server: server, device: device, nonce: nonce, for: .heartbeat),
      "rotate": .rotate(server: server, device: device, newKeys: keys, nonce: nonce),
      "approval": .approval(
        server: server, request: request, device: device, vote: vote, summaryHash: hash, issuedAt: issued,
        expiresAt: expires),
      "app-attest": .appAttest(server: server, keys: keys, nonce: nonce),
      "android-key": .androidKey(server: server, nonce: nonce),
      "play-nonce": .playNonce(server: server, keys: single, nonce: nonce),
      "otp-issue": .otpIssue(
        server: server, device: device, challenge: challenge, nonce: nonce, signedAt: issued,
        signalsHash: hash),
      "presence": .presence(server: server, device: device, desktop: desktop, nonce: nonce, signedAt: issued),
      "audit-head": .auditHead(server: server, gate: "gate-1", sequence: 7, hash: hash, at: issued),
    ]
  }

  private static let expected: [(String, String)] = [
    (
      "enroll",
      "00000014706f727463756c6c69732f656e726f6c6c2f7631000000101111111111111111111111111111111100000020"
        + "5cd252fb0ce8932436faf8ccd1040981b89ee4ad6b9fe9e2a2b7e71aacb27cd300000020dc0ce633dbcc913dafafa4b8"
        + "9ac44d8ce683fdfc3f60c8bdf21213b9f2b534ba00000020444444444444444444444444444444444444444444444444"
        + "444444444444444400000007616e64726f6964"
    ),
    (
      "enroll without an approval key",
      "00000014706f727463756c6c69732f656e726f6c6c2f7631000000101111111111111111111111111111111100000020"
        + "5cd252fb0ce8932436faf8ccd1040981b89ee4ad6b9fe9e2a2b7e71aacb27cd300000000000000204444444444444444"
        + "44444444444444444444444444444444444444444444444400000003696f73"
    ),
    (
      "pair",
      "00000012706f727463756c6c69732f706169722f76310000001077777777777777777777777777777777000000206666"
        + "666666666666666666666666666666666666666666666666666666666666000000205cd252fb0ce8932436faf8ccd104"
        + "0981b89ee4ad6b9fe9e2a2b7e71aacb27cd300000020dc0ce633dbcc913dafafa4b89ac44d8ce683fdfc3f60c8bdf212"
        + "13b9f2b534ba0000002044444444444444444444444444444444444444444444444444444444444444440000000e5a6f"
        + "c3abe28099732070686f6e65"
    ),
    (
      "pair-sas",
      "00000016706f727463756c6c69732f706169722d7361732f763100000020666666666666666666666666666666666666"
        + "666666666666666666666666666600000020444444444444444444444444444444444444444444444444444444444444"
        + "4444000000200000000000000000000000000000000000000000000000000000000000000000"
    ),
    (
      "device-auth, token",
      "00000019706f727463756c6c69732f6465766963652d617574682f763100000010111111111111111111111111111111"
        + "110000001022222222222222222222222222222222000000204444444444444444444444444444444444444444444444"
        + "44444444444444444400000005746f6b656e0000000c67616d652e6578616d706c65"
    ),
    (
      "device-auth, ws-connect",
      "00000019706f727463756c6c69732f6465766963652d617574682f763100000010111111111111111111111111111111"
        + "110000001022222222222222222222222222222222000000204444444444444444444444444444444444444444444444"
        + "4444444444444444440000000a77732d636f6e6e65637400000000"
    ),
    (
      "device-auth, heartbeat",
      "00000019706f727463756c6c69732f6465766963652d617574682f763100000010111111111111111111111111111111"
        + "110000001022222222222222222222222222222222000000204444444444444444444444444444444444444444444444"
        + "4444444444444444440000000968656172746265617400000000"
    ),
    (
      "rotate",
      "00000014706f727463756c6c69732f726f746174652f7631000000101111111111111111111111111111111100000010"
        + "22222222222222222222222222222222000000205cd252fb0ce8932436faf8ccd1040981b89ee4ad6b9fe9e2a2b7e71a"
        + "acb27cd300000020dc0ce633dbcc913dafafa4b89ac44d8ce683fdfc3f60c8bdf21213b9f2b534ba0000002044444444"
        + "44444444444444444444444444444444444444444444444444444444"
    ),
    (
      "approval",
      "00000016706f727463756c6c69732f617070726f76616c2f763100000010111111111111111111111111111111110000"
        + "001055555555555555555555555555555555000000102222222222222222222222222222222200000001010000002066"
        + "66666666666666666666666666666666666666666666666666666666666666000000023237000000080000000069a57b"
        + "cb00000008001fffffffffffff"
    ),
    (
      "app-attest",
      "00000018706f727463756c6c69732f6170702d6174746573742f76310000001011111111111111111111111111111111"
        + "000000205cd252fb0ce8932436faf8ccd1040981b89ee4ad6b9fe9e2a2b7e71aacb27cd300000020dc0ce633dbcc913d"
        + "afafa4b89ac44d8ce683fdfc3f60c8bdf21213b9f2b534ba000000204444444444444444444444444444444444444444"
        + "444444444444444444444444"
    ),
    (
      "android-key",
      "00000019706f727463756c6c69732f616e64726f69642d6b65792f763100000010111111111111111111111111111111"
        + "11000000204444444444444444444444444444444444444444444444444444444444444444"
    ),
    (
      "play-nonce",
      "00000018706f727463756c6c69732f706c61792d6e6f6e63652f76310000001011111111111111111111111111111111"
        + "000000205cd252fb0ce8932436faf8ccd1040981b89ee4ad6b9fe9e2a2b7e71aacb27cd3000000000000002044444444"
        + "44444444444444444444444444444444444444444444444444444444"
    ),
    (
      "otp-issue",
      "00000017706f727463756c6c69732f6f74702d69737375652f7631000000101111111111111111111111111111111100"
        + "000010222222222222222222222222222222220000001088888888888888888888888888888888000000204444444444"
        + "444444444444444444444444444444444444444444444444444444000000080000000069a57bcb000000206666666666"
        + "666666666666666666666666666666666666666666666666666666"
    ),
    (
      "presence",
      "00000016706f727463756c6c69732f70726573656e63652f763100000010111111111111111111111111111111110000"
        + "001022222222222222222222222222222222000000103333333333333333333333333333333300000020444444444444"
        + "4444444444444444444444444444444444444444444444444444000000080000000069a57bcb"
    ),
    (
      "audit-head",
      "00000018706f727463756c6c69732f61756469742d686561642f76310000001011111111111111111111111111111111"
        + "00000006676174652d310000000800000000000000070000002066666666666666666666666666666666666666666666"
        + "66666666666666666666000000080000000069a57bcb"
    ),
  ]

  @Test func bytesAreThoseOfTheTable() throws {
    let messages = try Self.messages()
    #expect(Set(messages.keys) == Set(Self.expected.map(\.0)))
    for (name, hex) in Self.expected {
      let bytes = try #require(messages[name]?.bytes)
      #expect(Hex.encode(bytes.span) == hex, "\(name)")
    }
  }

  @Test func digitsHaveTheirZeros() {
    let message = DeviceMessage.pairSAS(pairMessageHash: bytes32(1), s: bytes32(2), r: bytes32(3))
    #expect(PairingDigits(of: message).text == "280964")
    let small = DeviceMessage.pairSAS(pairMessageHash: bytes32(74), s: bytes32(0), r: bytes32(3))
    #expect(PairingDigits(of: small).text == "000470")
  }

  @Test func secretAuthenticates() throws {
    let secret = try #require(PairingSecret(Array(0..<16)))
    let server = try #require(ServerID(repeated(0x11)))
    let message = DeviceMessage.androidKey(server: server, nonce: bytes32(0x44))
    let mac = bytes32("b4639fcac185e5c66cb16823cb7c9824ffa3fba728d4f51e3cb0ab2a326a7304")
    #expect(secret.mac(of: message) == mac)
    #expect(secret.isValid(mac, for: message))
    #expect(!secret.isValid(bytes32(0), for: message))
    #expect(PairingSecret(Array(0..<15)) == nil && PairingSecret(Array(0..<17)) == nil)
  }
}

func repeated(_ byte: UInt8, _ count: Int = 16) -> [UInt8] { [UInt8](repeating: byte, count: count) }

func bytes32(_ byte: UInt8) -> Bytes32 { Bytes32(InlineArray(repeating: byte)) }

/// From hex that a test has written down.
func bytes32(_ hex: String) -> Bytes32 {
  guard let bytes = Bytes32(hex: hex) else { fatalError("not 32 bytes: \(hex)") }
  return bytes
}
