/// The values of messages: what each takes at its limits, and what it refuses beyond them.
import Bytes
import Crypto
import DeviceWire
import Time
import Testing

@Suite struct FormTests {
  private struct FixedEntropy: Entropy {
    let byte: UInt8
    func fill(_ bytes: inout MutableSpan<UInt8>) {
      for index in bytes.indices { bytes[index] = byte }
    }
  }

  @Test func identifiersAreLowerCaseUUIDs() throws {
    let text = "00112233-4455-6677-8899-aabbccddeeff"
    let id = try #require(DeviceID(text))
    #expect(id.text == text)
    #expect(
      id.bytes == [
        0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF,
      ])
    #expect(DeviceID(id.bytes) == id)
    for bad in [
      "", text.uppercased(), String(text.dropLast()), text + "0", "{\(text)}", text.filter { $0 != "-" },
      "0011223344-55-6677-8899-aabbccddeeff", "g0112233-4455-6677-8899-aabbccddeeff",
      "00112233-4455-6677-8899-aabbccddeef\u{661}", "00112233_4455_6677_8899_aabbccddeeff",
    ] {
      #expect(DeviceID(bad) == nil, "\(bad)")
    }
    #expect(DeviceID(repeated(1, 15)) == nil && DeviceID(repeated(1, 17)) == nil)
  }

  @Test func randomIdentifiersAreOfVersion4() {
    #expect(DeviceID(random: FixedEntropy(byte: 0)).text == "00000000-0000-4000-8000-000000000000")
    #expect(DeviceID(random: FixedEntropy(byte: 0xFF)).text == "ffffffff-ffff-4fff-bfff-ffffffffffff")
    #expect(DeviceID(random: KernelEntropy()) != DeviceID(random: KernelEntropy()))
  }

  @Test func secondsEndWhereNumbersAreExact() throws {
    #expect(UnixSeconds(-1) == nil && UnixSeconds(1 << 53) == nil)
    let last = try #require(UnixSeconds(1 << 53 - 1))
    let first = try #require(UnixSeconds(0))
    #expect(last + 1 == last && last + .max == last)
    #expect(first + -1 == first && first + .min == first)
    #expect((first + 120).value == 120 && (first + 120) - first == 120 && first - (first + 120) == -120)
    #expect(UnixSeconds(UnixTime(milliseconds: 1_999)).value == 1)
    #expect(UnixSeconds(UnixTime(milliseconds: -1)).value == 0)
    #expect(UnixSeconds(UnixTime(milliseconds: .max)).value == UnixSeconds.largest)
  }

  @Test(
    arguments: [
      0x00, 0x1F, 0x7F, 0x9F, 0x061C, 0x200B, 0x200F, 0x2028, 0x202E, 0x2060, 0x2069, 0xFEFF, 0xE0000,
      0xE007F,
    ] as [UInt32])
  func endsOfRefusedRanges(code: UInt32) throws {
    let scalar = try #require(Unicode.Scalar(code))
    #expect(ShownText.isRefused(scalar))
    let text = "a\(Character(scalar))b"
    #expect(DeviceName(text) == nil && Audience(text) == nil)
  }

  @Test(
    arguments: [
      0x20, 0x7E, 0xA0, 0xAC, 0xAE, 0x061B, 0x061D, 0x200A, 0x2010, 0x2027, 0x202F, 0x205F, 0x206A, 0xFE10,
      0xFEFE,
      0xFF00,
      0xDFFFF, 0xE0080, 0x10FFFF, 0x1F600,
    ] as [UInt32])
  func whatStandsBesideThemIsTaken(code: UInt32) throws {
    let scalar = try #require(Unicode.Scalar(code))
    #expect(!ShownText.isRefused(scalar))
    #expect(DeviceName(String(Character(scalar))) != nil)
  }

  @Test func namesHaveTheirLengths() {
    #expect(DeviceName("") == nil && DeviceName("a") != nil)
    #expect(DeviceName(String(repeating: "a", count: 128)) != nil)
    #expect(DeviceName(String(repeating: "a", count: 129)) == nil)
    #expect(DeviceName(String(repeating: "\u{EB}", count: 65)) == nil)
    #expect(Audience("") == .gate && Audience(String(repeating: "a", count: 256)) != nil)
    #expect(Audience(String(repeating: "a", count: 257)) == nil)
  }

  /// A composed and a decomposed letter look alike, and sign differently.
  @Test func textsAreComparedAsBytes() throws {
    let composed = try #require(DeviceName("\u{EB}"))
    let decomposed = try #require(DeviceName("e\u{308}"))
    #expect(composed.text == decomposed.text)
    #expect(composed != decomposed && Set([composed, decomposed]).count == 2)
    #expect(Audience("\u{EB}") != Audience("e\u{308}"))
  }

  @Test func codesAreDigits() throws {
    for good in ["", "04", "907", "123456"] { #expect(MatchCode(good)?.text == good) }
    for bad in ["1", "1234567", "a1", " 12", "+12", "-1", "\u{661}\u{662}", "\u{FF11}\u{FF12}"] {
      #expect(MatchCode(bad) == nil, "\(bad)")
    }
    #expect(MatchCode.none.isNone)
    let code = try #require(MatchCode("12"))
    #expect(Vote(.approve, matchCode: code) != nil && Vote(.approve, matchCode: .none) != nil)
    for decision in [Decision.deny, .report] {
      #expect(Vote(decision, matchCode: code) == nil && Vote(decision, matchCode: .none) != nil)
    }
    #expect(PairingDigits(typed: "000000") != nil)
    for bad in ["", "00000", "0000000", "00000a", "\u{661}00000"] {
      #expect(PairingDigits(typed: bad) == nil)
    }
  }

  @Test func wordsAreThoseOfTheContract() {
    #expect(Decision.allCases.map(\.byte) == [1, 2, 3])
    for byte in [0, 4, 255] as [UInt8] { #expect(Decision(byte: byte) == nil) }
    #expect(Level.allCases.sorted() == [.bare, .appAttested, .hardwareAttested])
    #expect(Level.allCases.map(\.rawValue) == ["bare", "app_attested", "hardware_attested"])
    #expect(UserVerification.allCases.sorted() == [.none, .app, .hardware])
    #expect(AuthPurpose.allCases.map(\.rawValue) == ["token", "ws-connect", "heartbeat"])
    for purpose in [AuthPurpose.upgrade, .heartbeat] {
      #expect(DeviceAuthPurpose(purpose, audience: .gate) != nil)
      #expect(Audience("a").flatMap { DeviceAuthPurpose(purpose, audience: $0) } == nil)
    }
  }

  @Test func keysComeInTwoForms() throws {
    let verifier = P256Verifier()
    let signer = try SigningKey.generate(.p256)
    let spki: [UInt8] = try signer.subjectPublicKeyInfo()
    let key = try #require(parsed(spki, verifier))
    let point = Array(spki.suffix(65))
    #expect(parsed(point, verifier) == key)
    #expect(key.spki == spki && key.hash == hash(spki))
    for text in [base64(spki), base64URL(spki), base64(point), base64URL(point)] {
      #expect(DevicePublicKey(base64: text, checkedBy: verifier) == key)
    }
    #expect(DevicePublicKey(base64: base64(spki) + "AAAA", checkedBy: verifier) == nil)
    #expect(keyFromSPKI(point, verifier) == nil)
    #expect(keyFromPoint(spki, verifier) == nil)
    var offCurve = spki
    offCurve[90] ^= 1
    #expect(parsed(offCurve, verifier) == nil)
    #expect(DeviceKeys(device: key, approval: key) == nil && DeviceKeys(device: key, approval: nil) != nil)
  }

  @Test func signaturesAreOverOneMessageByOneKey() throws {
    let verifier = P256Verifier()
    let signer = try SigningKey.generate(.p256)
    let spki: [UInt8] = try signer.subjectPublicKeyInfo()
    let key = try #require(parsed(spki, verifier))
    let server = try #require(ServerID(repeated(1)))
    let message = DeviceMessage.androidKey(server: server, nonce: bytes32(2))
    let der = try signer.sign(message.bytes)
    let signature = try #require(DeviceSignature(base64: base64URL(der)))
    #expect(signature.der == der)
    #expect(signature.isValid(for: message, by: key, verifier: verifier))
    let other = DeviceMessage.androidKey(server: server, nonce: bytes32(3))
    #expect(!signature.isValid(for: other, by: key, verifier: verifier))
    let another = try SigningKey.generate(.p256).subjectPublicKeyInfo()
    let anotherKey = try #require(parsed(another, verifier))
    #expect(!signature.isValid(for: message, by: anotherKey, verifier: verifier))
    #expect(DeviceSignature(der + [0]) == nil && DeviceSignature([]) == nil)
    #expect(DeviceSignature(base64: base64(repeated(0x30, 200))) == nil)
  }

  private func parsed(_ bytes: [UInt8], _ verifier: P256Verifier) -> DevicePublicKey? {
    DevicePublicKey(bytes.span, checkedBy: verifier)
  }

  private func keyFromSPKI(_ bytes: [UInt8], _ verifier: P256Verifier) -> DevicePublicKey? {
    DevicePublicKey(spki: bytes.span, checkedBy: verifier)
  }

  private func keyFromPoint(_ bytes: [UInt8], _ verifier: P256Verifier) -> DevicePublicKey? {
    DevicePublicKey(x963: bytes.span, checkedBy: verifier)
  }

  private func hash(_ bytes: [UInt8]) -> Bytes32 { SHA256.hash(bytes.span) }

  private func base64(_ bytes: [UInt8]) -> String { Base64.encode(bytes.span) }
  private func base64URL(_ bytes: [UInt8]) -> String { Base64.encodeURL(bytes.span) }
}
