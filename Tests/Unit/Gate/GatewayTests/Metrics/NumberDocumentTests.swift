/// The numbers of `portcullis stats`, as docs/metrics.md has them and as a scrape has them.
import Foundation
import Kit
import Testing

@testable import Gateway
@testable import Telemetry

@Suite struct NumberDocumentTests {
  private static var table: String {
    var text = "\n| member | kind | what it is |\n|---|---|---|\n"
    for number in OperatorNumber.all {
      let kind = number.onlyRises ? "rises" : "now"
      let unit = number.unit == .count ? "" : ", \(number.unit.rawValue)"
      text += "| `\(number.group.rawValue).\(number.name)` | \(kind)\(unit) | \(number.help) |\n"
    }
    return text + "\n"
  }

  /// Between its markers the page has the table as it is; `make documents` puts it there.
  @Test func thePageFollowsTheTable() throws {
    let file = Repository.folder.appending(path: "docs/metrics.md")
    let (begin, end) = ("<!-- numbers:begin -->\n", "<!-- numbers:end -->")
    func section(of text: String) throws -> Range<String.Index> {
      let start = try #require(text.range(of: begin)).upperBound
      return try start..<#require(text.range(of: end, range: start..<text.endIndex)).lowerBound
    }
    var text = try String(contentsOf: file, encoding: .utf8)
    if ProcessInfo.processInfo.environment["UPDATE_EXAMPLE"] == "1" {
      text.replaceSubrange(try section(of: text), with: Self.table)
      try Data(text.utf8).write(to: file)
    }
    #expect(text[try section(of: text)] == Self.table)
  }

  @Test func eachHasItsName() {
    #expect(Set(OperatorNumber.all.map { "\($0.group).\($0.name)" }).count == OperatorNumber.all.count)
    for number in OperatorNumber.all { #expect(!number.help.contains("|"), "\(number.name)") }
  }

  // MARK: Beside a scrape

  /// What series of a scrape come to the same as a number.
  private static let same: [(number: String, series: [String])] = [
    ("connections", ConnectionState.allCases.map { "connections{state=\"\($0.word)\"}" }),
    ("sessions", SessionCounts.credentials.map { "sessions{state=\"attached\",credential=\"\($0)\"}" }),
    ("detached", ["detached_sessions"]),
    ("buffered", ["buffered_bytes"]),
    ("kept", ["kept_sessions"]),
    (
      "handshakes",
      ["1.2", "1.3"].flatMap { version in
        ["false", "true"].map { "tls_handshakes_total{version=\"\(version)\",resumed=\"\($0)\"}" }
      }
    ),
    (
      "handshakesResumed", ["1.2", "1.3"].map { "tls_handshakes_total{version=\"\($0)\",resumed=\"true\"}" }
    ),
    (
      "handshakesFailed",
      HandshakeFailure.allCases.map { "tls_handshake_failures_total{reason=\"\($0.word)\"}" }
    ),
    ("registrations", ["registrations_total{result=\"registered\"}"]),
    ("admitted", ["admissions_total{result=\"admitted\"}"]),
    ("resumed", ["admissions_total{result=\"resumed\"}"]),
    ("resumed", ["resumes_total{result=\"resumed\"}"]),
    ("bytesFromPlayers", ["bytes_total{direction=\"to_game\"}"]),
    ("bytesFromGame", ["bytes_total{direction=\"from_game\"}"]),
    ("keys", ["keys{state=\"active\"}", "keys{state=\"revoked\"}"]),
    ("revokedKeys", ["keys{state=\"revoked\"}"]),
    ("journalBytes", ["store_journal_bytes"]),
  ]

  /// While somebody plays, somebody is away, and somebody has come who is no player.
  @Test func aScrapeSaysTheSame() throws {
    let harness = try LoopHarness(hasGame: true, keeping: MemoryDescriptors())
    let (one, other) = (TestApp(harness), TestApp(harness))
    for app in [one, other] {
      try app.connect()
      harness.game?.accept()
      app.type("look\n")
      harness.turn()
    }
    for game in harness.game?.callers ?? [] {
      game.hear()
      game.say("a hall\r\n")
    }
    harness.settle()
    other.vanish()
    harness.settle()
    try other.connect()
    other.vanish()
    let stranger = try harness.arrive()
    stranger.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
    harness.settle()

    let all = harness.shared.numbers
    let numbers = Dictionary(uniqueKeysWithValues: OperatorNumber.all.map { ($0.name, $0.read(all)) })
    let scrape = harness.metrics
    for (number, series) in Self.same {
      let values = try series.map { Int(try #require(scrape["portcullis_" + $0])) }
      #expect(values.reduce(0, +) == numbers[number], "\(number)")
    }
    for name in ["connections", "sessions", "detached", "kept", "handshakes", "handshakesFailed", "resumed"] {
      #expect(numbers[name, default: 0] > 0, "\(name) shows nothing here")
    }
  }
}
