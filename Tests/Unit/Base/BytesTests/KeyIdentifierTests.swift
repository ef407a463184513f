import Testing

@testable import Bytes

@Suite struct KeyIdentifierTests {
  private static let digest = (0..<32).map { UInt8(255 - $0) }
  private static let text = "//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA="

  @Test func writtenInTheStandardAlphabet() throws {
    let identifier = KeyIdentifier(try #require(Bytes32(Self.digest)))
    #expect(identifier.base64 == Self.text)
    #expect(identifier.description == Self.text)
    #expect(identifier.short == "//79/Pv6")
  }

  @Test(arguments: [
    text, "__79_Pv6-fj39vX08_Lx8O_u7ezr6uno5-bl5OPi4eA=", "__79_Pv6-fj39vX08_Lx8O_u7ezr6uno5-bl5OPi4eA",
  ])
  func readInEitherAlphabet(text: String) {
    #expect(KeyIdentifier(base64: text)?.digest.array == Self.digest)
  }

  /// 31 and 33 bytes, both alphabets, a standard one without padding, spare bits, white space, nothing; hexadecimal, and what
  /// encoders with line breaks write.
  @Test(arguments: [
    "//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4Q==", "//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eDf",
    "__79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=", "//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA",
    "//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eB=", " //79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=", "",
    "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0efeeedecebeae9e8e7e6e5e4e3e2e1e0",
    "//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=\n", "//79/Pv6+fj39vX08/Lx8O/u\r\n7ezr6uno5+bl5OPi4eA=",
  ])
  func refused(text: String) {
    #expect(KeyIdentifier(base64: text) == nil)
  }
}

/// `SubjectPublicKeyInfo` as PEM (RFC 5480 §2, RFC 7468).
@Suite struct P256PointTests {
  /// Made with `openssl ecparam -name prime256v1 -genkey | openssl ec -pubout`.
  private static let pem = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEq8Zlh3zqbrTK3rbKP+998HTM8XLM
    0Ug1rkw7fgQtgPKKKGLVNQt6ZmEVvAz47+x/4Cwj2F7/fayf3b6Q4EzyVQ==
    -----END PUBLIC KEY-----

    """

  private static func point(_ pem: String) -> P256Point? { P256Point(pem: Array(pem.utf8).span) }

  @Test func readsAndWritesWhatOpenSSLWrites() throws {
    let point = try #require(Self.point(Self.pem))
    #expect(point.pem == Self.pem)
    #expect(point.x963.count == 65)
    #expect(point.x963.first == 4)
    #expect(P256Point(x963: point.x963.span) == point)
  }

  @Test func lineEndsAreFree() throws {
    let point = try #require(Self.point(Self.pem))
    #expect(Self.point(String(Self.pem.dropLast())) == point)
    #expect(Self.point(Self.pem.split(separator: "\n").joined(separator: "\r\n")) == point)
    #expect(Self.point("\n" + Self.pem + "\n\n") == point)
  }

  private static let changes: [(what: String, apply: @Sendable (String) -> String)] = [
    ("cut before its end line", { String($0.prefix(150)) }),
    ("text before", { "x\n" + $0 }), ("text behind", { $0 + "x" }), ("twice", { $0 + $0 }),
    ("another label", { $0.replacing("PUBLIC KEY", with: "EC PUBLIC KEY") }),
    ("a broken digit", { $0.replacing("MFkw", with: "MF*w") }),
    ("a carriage return inside a line", { $0.replacing("MFkw", with: "MF\rkw") }),
    (
      "base64url",
      { $0.replacing("+99", with: "-99").replacing("/", with: "_").replacing("7+x", with: "7-x") }
    ),
    ("another curve", { $0.replacing("zj0DAQcD", with: "zj0DAQYD") }),
    ("a compressed point", { $0.replacing("QgAEq8", with: "QgACq8") }),
    (
      "a missing line",
      { $0.replacing("0Ug1rkw7fgQtgPKKKGLVNQt6ZmEVvAz47+x/4Cwj2F7/fayf3b6Q4EzyVQ==\n", with: "") }
    ),
    ("nothing", { _ in "" }),
  ]

  @Test(arguments: changes.indices) func refused(index: Int) {
    let change = Self.changes[index]
    let changed = change.apply(Self.pem)
    #expect(changed != Self.pem, "the change does nothing")
    #expect(Self.point(changed) == nil, "\(change.what)")
  }

  @Test(arguments: [64, 66]) func pointsOfAnotherLengthAreRefused(count: Int) {
    #expect(P256Point(x963: ([4] + [UInt8](repeating: 1, count: count - 1)).span) == nil)
  }

  @Test(arguments: [0, 2, 3, 5, 6, 7] as [UInt8]) func onlyTheUncompressedForm(first: UInt8) {
    #expect(P256Point(x963: ([first] + [UInt8](repeating: 1, count: 64)).span) == nil)
  }
}
