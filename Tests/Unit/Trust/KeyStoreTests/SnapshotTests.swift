import Bytes
import Foundation
import Identity
import Kit
import System
import Testing
import Time

@testable import JSON
@testable import KeyStore

/// The key file (docs/key-store.md, "Snapshot"): what is read, what survives, what is refused and where, how it is
/// written.
@Suite struct SnapshotTests {
  static let olderIdentifier = identifier(1)
  /// As the older design wrote it: indented, three members a key.
  static let olderFile = """
    {
      "\(identifier(1))": {
        "publicKey": "\(point(1).pem.replacingOccurrences(of: "\n", with: "\\n"))",
        "signCount": 12,
        "registeredAt": "2026-02-17T00:00:00.000Z"
      }
    }

    """

  private func read(_ text: String, piece: Int? = nil) throws(SnapshotDamage) -> KeyTable {
    var table = KeyTable(entropy: TestEntropy(seed: 3))
    var parser = SnapshotParser()
    let bytes = Array(text.utf8)
    var start = 0
    var end = piece ?? bytes.count
    while true {
      let isLast = end >= bytes.count
      let part = Array(bytes[start..<min(end, bytes.count)])
      let taken = try parser.parse(part.span, isLast: isLast, into: &table)
      start += taken
      if isLast { return table }
      end += piece ?? 0
    }
  }

  private func record(_ number: Int, in table: KeyTable) -> KeyRecord? {
    table.position(of: identifier(number)).map { table.record(of: table[$0]) }
  }

  private static func line(_ number: Int, _ members: String = "") -> String {
    let pem = point(number).pem.replacingOccurrences(of: "\n", with: "\\n")
    return "\"\(identifier(number))\":{\"publicKey\":\"\(pem)\",\"signCount\":12,"
      + "\"registeredAt\":\"2026-02-17T00:00:00.000Z\"\(members)}"
  }

  @Test func readsTheOlderDesign() throws {
    let record = try #require(record(1, in: try read(Self.olderFile)))
    #expect(
      record
        == KeyRecord(
          publicKey: point(1), signCount: 12, registeredAt: UnixTime(milliseconds: 1_771_286_400_000)))
  }

  @Test(arguments: ["", " \n\t", "{}", "{\n}\n", " { } "]) func empty(text: String) throws {
    #expect(try read(text).count == 0)
    for piece in 1...3 { #expect(try read(text, piece: piece).count == 0) }
  }

  @Test func readsAllMembersWhereverThePieceEnds() throws {
    let members =
      ",\"lastUsedAt\":\"2026-03-01T12:34:56.789Z\",\"appId\":\"T.a\",\"environment\":\"development\","
      + "\"validationCategory\":4294967295,\"bundleVersion\":\"1.0 \\\"\\u00e9\\\"\","
      + "\"revokedAt\":\"2026-03-02T00:00:00+01:00\",\"revokedReason\":\"lost, \\u0022he\\u0022 says\","
      + "\"note\":{\"a\":[1,2]}"
    let text = "{\n" + Self.line(1, members) + ",\n" + Self.line(2) + "\n}\n"
    let expected = KeyRecord(
      publicKey: point(1), signCount: 12, registeredAt: UnixTime(milliseconds: 1_771_286_400_000),
      lastUsedAt: UnixTime(timestamp: "2026-03-01T12:34:56.789Z"), appID: "T.a", environment: .development,
      validationCategory: .max, bundleVersion: "1.0 \"é\"",
      revokedAt: UnixTime(timestamp: "2026-03-01T23:00:00Z"), revokedReason: "lost, \"he\" says")
    for piece in [1, 7, 64, 300, 10_000] {
      let table = try read(text, piece: piece)
      #expect(record(1, in: table) == expected)
      #expect(record(2, in: table)?.signCount == 12)
      #expect(table.extras == [identifier(1): Array(",\"note\":{\"a\":[1,2]}".utf8)])
    }
  }

  @Test func anyPEMLayoutAndEscapedNames() throws {
    let pem = point(1).pem.replacingOccurrences(of: "\n", with: "\\u000d\\n")
    let text =
      "{\"\(identifier(1))\":{\"public\\u004bey\":\"\(pem)\",\"signCount\":0,\"registeredAt\":\"2026-02-17T00:00:00Z\"}}"
    #expect(record(1, in: try read(text))?.publicKey == point(1))
  }

  /// A rival layout's members stay as they are; none of them is a key to verify with.
  @Test func rivalLayoutSurvives() throws {
    let bench = Bench()
    let members =
      ",\"alternatePublicKey\" : \"-----BEGIN\",\n \"lastUsedAt\":null,\"lastAssertedAt\":\"2026-05-05T05:05:05.005Z\", \"x\\u0041\": [ 1, \" \" ]"
    bench.files.place(storePath, Array(("{" + Self.line(1, members) + "}").utf8))
    let store = try bench.open()
    #expect(store.find(identifier(1))?.lastUsedAt == UnixTime(timestamp: "2026-05-05T05:05:05.005Z"))
    #expect(store.find(identifier(1))?.publicKey == point(1))
    #expect(store.advance(1, to: 13) == .accepted)
    #expect(store.close())
    let text = bench.snapshotText()
    #expect(
      text.contains(
        ",\"alternatePublicKey\":\"-----BEGIN\",\"lastAssertedAt\":\"2026-05-05T05:05:05.005Z\",\"x\\u0041\":[1,\" \"]}"
      ))
    // Written again and again it stays the same.
    let again = try bench.open()
    #expect(again.advance(1, to: 14) == .accepted)
    #expect(again.close())
    #expect(
      bench.snapshotText() == text.replacingOccurrences(of: "\"signCount\":13", with: "\"signCount\":14"))
  }

  @Test func oneKeyALine() throws {
    let bench = Bench()
    let store = try bench.open()
    for key in 0..<300 { _ = store.register(newKey(key)) { _ in } }
    #expect(store.advance(7, to: 4_000_000_000) == .accepted)
    #expect(store.close())
    let text = bench.snapshotText()
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 303)
    #expect(lines.first == "{")
    #expect(lines.suffix(2) == ["}", ""])
    for line in lines.dropFirst().dropLast(2) { #expect(line.contains("\":{\"publicKey\":\"-----BEGIN")) }
    // An independent reader agrees.
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [String: Any]])
    let record = try #require(object[identifier(7).base64])
    #expect(record["publicKey"] as? String == point(7).pem)
    #expect(record["signCount"] as? Int == 4_000_000_000)
    #expect(record["registeredAt"] as? String == "2026-02-17T00:00:00.000Z")
    #expect(record["appId"] as? String == "ABCDEF12K4.com.example.app")
    #expect(record["environment"] as? String == "production")
    #expect(record["validationCategory"] as? Int == 4)
    #expect(record["bundleVersion"] as? String == "1.1")
    #expect(record["revokedAt"] == nil)
  }

  /// Refused at the place, never emptied.
  @Test(arguments: [
    ("[]", "a byte that cannot stand here", 0), ("{", "the text ends too soon", 1),
    ("\0\0\0\0", "a byte that cannot stand here", 0),
    ("{} x", "something follows the value", 3), ("{\"abc\":{}}", "the name is not the base64 of 32 bytes", 2),
    ("{\(line(1))", "the text ends too soon", 303), ("{\(line(1)),}", "a byte that cannot stand here", 304),
    ("{\(line(1)),\(line(1))}", "the key is there twice", 305),
    ("{\(line(1, ",\"signCount\":1"))}", "a member name comes twice", 304),
    ("{\(line(1, ",\"x\":1,\"\\u0078\":1"))}", "a member name comes twice", 310),
    (
      "{\(line(1, ",\"environment\":\"sandbox\""))}", "environment is neither production nor development", 317
    ),
    ("{\(line(1, ",\"revokedAt\":\"yesterday\""))}", "not a timestamp of RFC 3339", 316),
    ("{\(line(1, ",\"revokedReason\":7"))}", "a byte that cannot stand here", 319),
    ("{\(line(1, ",\"validationCategory\":-1"))}", "not a whole number of 32 bits", 324),
    ("{\"\(identifier(1))\":{}}", "publicKey is missing", 2),
    ("{\"\(identifier(1))\":{\"signCount\":4294967296}}", "not a whole number of 32 bits", 61),
    ("{\"\(identifier(1))\":{\"signCount\":1.0}}", "not a whole number of 32 bits", 61),
    ("{\"\(identifier(1))\":{\"publicKey\":\"x\"}}", "not the PEM of a P-256 public key", 62),
    ("{\"\(identifier(1))\":{\"signCount\":null}}", "not a JSON number", 61),
  ])
  func refused(text: String, reason: String, offset: Int64) throws {
    let bench = Bench()
    bench.files.place(storePath, Array(text.utf8))
    #expect(throws: KeyStoreError.damagedSnapshot(file: storePath, offset: offset, reason: reason)) {
      try bench.open()
    }
    #expect(bench.files.contents(of: storePath) == Array(text.utf8))
    #expect(throws: SnapshotDamage(offset: offset, reason: reason)) { try read(text, piece: 1) }
  }

  @Test func timestampsAgreeWithTheSlowOnes() throws {
    var times = TimestampText()
    var random = SplitMix(seed: 4)
    var moments: [Int64] = [
      0, -1, 86_399_999, 86_400_000, 951_782_400_000, 253_402_300_799_999, -62_167_219_200_000,
    ]
    for _ in 0..<2000 { moments.append(Int64(random.next() % 4_000_000_000_000) - 1_000_000_000_000) }
    for moment in moments {
      for neighbour in [moment, moment + 1].map({ min($0, 253_402_300_799_999) }) {
        var text: [UInt8] = []
        times.append(neighbour, to: &text)
        #expect(String(decoding: text, as: UTF8.self) == UnixTime(milliseconds: neighbour).timestamp)
        let parsed = times.parse(text.span)
        #expect(parsed == neighbour)
      }
    }
  }
}

/// Strings by number, whether they come as strings or as bytes.
@Suite struct NamesTests {
  @Test func bytesAndStringsAgree() {
    var names = Names()
    let first = names.number(of: "A.one")
    #expect(names.number(of: Array("A.two".utf8).span) == first + 1)
    #expect(names.number(of: "A.one") == first)
    #expect(names.number(of: Array("A.two".utf8).span) == first + 1)
    #expect(names.number(of: Array("A.one".utf8).span) == first)
    #expect(names.number(of: Array("".utf8).span) == first + 2)
    #expect(names[first] == "A.one")
  }
}
