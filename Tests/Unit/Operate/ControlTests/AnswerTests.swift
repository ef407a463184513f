/// The control socket's answers, written by the gate and read by the commands.
import System
import Testing
import Time

@testable import Control
@testable import Gateway
@testable import JSON
@testable import Telemetry

@Suite struct AnswerTests {
  static let health = GateHealth(status: .draining, version: "0.1.0", process: 4711, uptimeSeconds: 86_400)
  static let store = StoreStatistics(
    service: "stalled", reason: "fdatasync: Input/output error", lastSnapshotAt: "2026-02-17T00:00:00.000Z",
    counts: [NamedCount("keys", 3), NamedCount("journalBytes", 0)])
  static let turns = [
    TurnStatistics(
      count: 3, median: 20, percentile99: 5119, maximum: 5000,
      buckets: [.init(microseconds: 20, count: 2), .init(microseconds: 5119, count: 1)]),
    TurnStatistics(count: 0, median: 0, percentile99: 0, maximum: 0, buckets: []),
  ]
  static let session = SessionEntry(
    session: 17, state: "attached", since: 2, connection: "1-20000001", subprotocol: nil, isKept: false,
    buffered: 0,
    source: "[2001:db8::1]:50000", credential: "client_certificate", keyID: nil,
    subject: "CN=\u{202E}\"player\" \\ 1", seconds: 3, bytesFromPlayer: 1 << 40, bytesFromGame: 0)

  static let detached = SessionEntry(
    session: 1 << 40, state: "detached", since: 599, connection: nil, subprotocol: "portcullis.v1",
    isKept: true, buffered: 65_536,
    source: "192.0.2.1:1", credential: "assertion", keyID: "AA==", subject: nil, seconds: 3600,
    bytesFromPlayer: 0,
    bytesFromGame: 1)

  static let answers: [ControlAnswer] =
    [
      .health(health),
      .statistics(
        GateStatistics(
          health: health, gauges: [NamedCount("loops", 2)], counters: [NamedCount("accepted", 9)],
          refusals: [NamedCount("nonce_invalid", 1), NamedCount("key_unknown", 2)], turns: turns,
          store: store)),
      .refusals([
        RefusalSummary(
          code: "key_unknown", step: "key", count: 3, lastAt: UnixTime(milliseconds: 1_771_286_400_001))
      ]), .refusals([]),
      .keysStatistics(store),
      .revoked(Revocation(revokedAt: "2026-02-17T00:00:00.000Z", sessionsEnded: 2, sessionsLeft: 1)),
      .pruned(keys: 5),
      .sessions([]),
      .sessions([session, detached]),
      .sessionsClosed(ended: 1, left: 0), .drained(ended: 3),
      .imported(taken: 512, known: 1, isFull: true), .draining(sessions: 2, detached: 1),
      .undrained(wasDraining: true), .registry(.array([])),
      .admin(.object(JSONObject([("path", .string("/sign-in/x"))]))),
      .registry(.object(JSONObject([("id", .string("\u{202E}x")), ("uses_left", .number(3))]))),
    ] + ControlRefusal.Code.allCases.map { .refused(ControlRefusal($0, "why \"so\"")) }

  @Test(arguments: answers)
  func roundTrip(answer: ControlAnswer) throws {
    let line = answer.line
    #expect(!line.contains(UInt8(ascii: "\n")))
    #expect(try Self.parse(line) == answer)
  }

  /// What the gate counts can be seen in text and in JSON, by its name and once.
  @Test(arguments: OperatorNumber.all.map(\.name)) func everyNumberIsInBothOutputs(name: String) throws {
    let row = try #require(OperatorNumber.all.first { $0.name == name })
    func counts(_ group: OperatorNumber.Group) -> [NamedCount] {
      OperatorNumber.all.filter { $0.group == group }.map { NamedCount($0.name, $0.name == name ? 4711 : 0) }
    }
    let statistics = GateStatistics(
      health: GateHealth(status: .ok, version: "1", process: 1, uptimeSeconds: 1), gauges: counts(.now),
      counters: counts(.sinceStart), refusals: [], turns: Self.turns,
      store: StoreStatistics(service: "accepting", reason: nil, lastSnapshotAt: nil, counts: counts(.store)))
    let label = row.group == .store ? "store.\(name)" : name
    #expect(statistics.rows.filter { $0.0 == label }.map(\.1) == ["4711"])
    let line = ControlAnswer.statistics(statistics).line
    let value = try JSONValue(parsing: line.span, depthLimit: 8)
    let json = try #require(value.object)
    #expect(json[row.group.rawValue]?.object?[name]?.integer == 4711)
    #expect(!row.help.isEmpty && !row.help.hasSuffix("."))
  }

  /// A gate of another version may know more.
  @Test func unknownMembersArePassedOver() throws {
    let text = #"{"answer":"pruned","keys":5,"seconds":1,"more":{"x":[]}}"#
    #expect(try Self.parse(Array(text.utf8)) == .pruned(keys: 5))
  }

  @Test(arguments: [
    "", "5", "{}", #"{"answer":"other"}"#, #"{"answer":"pruned"}"#, #"{"answer":"pruned","keys":"5"}"#,
    #"{"answer":"health","status":"fine","version":"1","pid":1,"uptimeSeconds":1}"#,
    #"{"answer":"sessions","sessions":[5]}"#, #"{"error":{"code":"new_code","message":"x"}}"#,
    #"{"error":{"code":"timeout"}}"#,
  ])
  func notUnderstood(text: String) {
    #expect(throws: ControlAnswerError.self) { try Self.parse(Array(text.utf8)) }
  }

  private static func parse(_ line: [UInt8]) throws(ControlAnswerError) -> ControlAnswer {
    try ControlAnswer(parsing: line.span)
  }
}
