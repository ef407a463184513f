/// The file of keys: what is read, and how a mistake in it is told.
import Bytes
import Crypto
import PlayIntegrity
import Testing

@Suite struct KeysTests {
  private static let decryption = ForeignToken.decryption
  private static let verification = ForeignToken.verification
  private static let good = #"{"decryption_key":"\#(decryption)","verification_key":"\#(verification)"}"#

  private static func problem(_ file: String) -> String? {
    do throws(PlayKeysProblem) {
      _ = try PlayKeys.read(Array(file.utf8).span)
      return nil
    } catch {
      return error.description
    }
  }

  @Test func pairs() throws {
    let other = Base64.encode([UInt8](repeating: 9, count: 32).span)
    let file = " [ \(Self.good) , \(Self.good.replacing(Self.decryption, with: other)) ]\n"
    let keys = try PlayKeys.read(Array(file.utf8).span)
    #expect(keys.map(\.decryption.base64) == [Self.decryption, other])
    let spki = P256Point.subjectPublicKeyInfoHead + keys[0].verification.x963
    let text = Base64.encode(spki.span)
    #expect(text == Self.verification)
    #expect(keys.map(\.isForDevelopment) == [false, false])
  }

  @Test(arguments: [("true", true), ("false", false)])
  func development(value: String, expected: Bool) throws {
    let file = "[\(Self.good.dropLast()),\"development\":\(value)}]"
    let keys = try PlayKeys.read(Array(file.utf8).span)
    #expect(keys.map(\.isForDevelopment) == [expected])
  }

  @Test func mistakes() {
    let many = "[" + String(repeating: Self.good + ",", count: 32) + Self.good + "]"
    for (file, expected) in [
      ("", "not JSON: the text ends too soon, byte 0"),
      (Self.good, "not an array of objects with decryption_key and verification_key"),
      ("[]", "0 pairs of keys instead of 1 to 32"), (many, "33 pairs of keys instead of 1 to 32"),
      (String(repeating: " ", count: 65_537), "larger than 65536 bytes"),
      ("[7]", "[0]: not an object"), ("[\(Self.good),{}]", "[1]: decryption_key is missing"),
      (
        #"[{"decryption_key":"\#(Self.decryption)"}]"#, "[0]: verification_key is missing"
      ),
      (#"[{"decryption_key":7}]"#, "[0]: decryption_key is not a string"),
      (#"[{"decryptionKey":""}]"#, "[0]: unknown member decryptionKey"),
      ("[\(Self.good),\(Self.good)]", "[1]: decryption_key is that of [0]"),
      ("[\(Self.good.dropLast()),\"development\":1}]", "[0]: development is neither true nor false"),
    ] {
      #expect(Self.problem(file) == expected)
    }
  }

  @Test func decryptionKeys() {
    for count in [0, 16, 24, 31, 33] {
      let text = Base64.encode([UInt8](repeating: 1, count: count).span)
      let file = "[\(Self.good.replacing(Self.decryption, with: text))]"
      #expect(Self.problem(file) == "[0]: decryption_key is not base64 of 32 bytes")
    }
    let file = "[\(Self.good.replacing(Self.decryption, with: Self.decryption + "\\n"))]"
    #expect(Self.problem(file) == "[0]: decryption_key is not base64 of 32 bytes")
  }

  @Test func verificationKeys() throws {
    let decoded = Base64.decode(Array(Self.verification.utf8).span)
    let spki = try #require(decoded)
    var offCurve = spki
    offCurve[90] ^= 1
    let point = "[0]: verification_key is no point on P-256"
    let form = "[0]: verification_key is not base64 of a P-256 key's SubjectPublicKeyInfo, 91 bytes"
    for (bytes, expected) in [
      (offCurve, point), (Array(spki.prefix(27)) + .init(repeating: 0, count: 64), point), ([], form),
      (spki + [0], form), (Array(spki.suffix(65)), form), (Array(spki.dropLast()), form),
      ([0x30, 0x58] + spki.dropFirst(2), form),
    ] {
      let text = Base64.encode(bytes.span)
      #expect(Self.problem("[\(Self.good.replacing(Self.verification, with: text))]") == expected)
    }
    #expect(Self.problem("[\(Self.good.replacing(Self.verification, with: "-----BEGIN"))]") == form)
  }

  /// Logs and terminals get what is wrong, never what is there: a value in the wrong place may be the key.
  @Test func keysAreNotTold() throws {
    for file in [
      "[\(Self.good.replacing("=", with: "=!"))]",
      #"[{"decryption_key":"\#(Self.verification)","verification_key":"\#(Self.decryption)"}]"#,
    ] {
      let problem = try #require(Self.problem(file))
      #expect(!problem.contains("AAEC") && !problem.contains("MFkw"))
    }
  }
}
