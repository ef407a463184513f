import Bytes
import DeviceWire
import Testing

@Suite struct AndroidAppTests {
  private static let one = String(repeating: "a1", count: 32)
  private static let two = String(repeating: "b2", count: 32)

  @Test func severalDigestsAndApps() throws {
    let apps = try AndroidApp.list(
      parsing:
        "org.example.b:\(Self.one), org.example.A_1:\(Self.two.uppercased()) ,org.example.b:\(Self.two)")
    #expect(apps.map(\.package) == ["org.example.b", "org.example.A_1"])
    let one = try #require(Bytes32(hex: Self.one))
    let two = try #require(Bytes32(hex: Self.two))
    #expect(apps.map(\.digests) == [[one, two], [two]])
  }

  @Test(arguments: [
    ("", AndroidApp.ParseError.noDigest(item: "")), ("org.example", .noDigest(item: "org.example")),
    ("org.example:\(one),", .noDigest(item: "")), (":\(one)", .package("")),
    ("example:\(one)", .package("example")), ("org.example :\(one)", .package("org.example ")),
    ("org.example:", .digest("")), ("org.example:\(one)0", .digest(one + "0")),
    ("org.example:\(one.dropLast())", .digest(String(one.dropLast()))),
    ("org.example:\(one.dropLast())g", .digest(one.dropLast() + "g")),
    ("org.example: \(one)", .digest(" " + one)), ("org.example:A1:B2", .digestWithColons("A1:B2")),
    (
      "org.example:\(one),org.example:\(one.uppercased())",
      .duplicate(item: "org.example:\(one.uppercased())")
    ),
  ])
  func refused(text: String, problem: AndroidApp.ParseError) {
    #expect(throws: problem) { try AndroidApp.list(parsing: text) }
    #expect("\(problem)".hasPrefix("has "))
  }

  @Test func packages() {
    let longest = "a." + String(repeating: "b", count: 221)
    for good in ["a.b", "com.Example.app_2", "org.a1.b_", longest] {
      #expect(AndroidApp.isPackage(good), "\(good)")
    }
    for bad in [
      "", ".", "a", "a.", ".a", "a..b", "1a.b", "a.1", "a._b", "a.b-c", "a.\u{E4}", "a.b\0", "a .b", "a.b/c",
      "a.K\u{212A}", longest + "b",
    ] {
      #expect(!AndroidApp.isPackage(bad), "\(bad)")
    }
  }

  @Test func noAppWithoutDigests() {
    #expect(AndroidApp(package: "org.example", digests: []) == nil)
    #expect(AndroidApp(package: "example", digests: [Bytes32()]) == nil)
  }

  /// What a recorded case says is known.
  @Test func verbatim() {
    let app = AndroidApp(verbatimPackage: "mud", digests: [])
    #expect(app.package == "mud" && app.digests.isEmpty)
  }
}
