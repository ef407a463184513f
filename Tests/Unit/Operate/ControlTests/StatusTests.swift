/// What `portcullis status` and `portcullis stats` say at a terminal.
import Addresses
import Bytes
import JSON
import PortcullisProtocol
import Prompt
import System
@testable import Telemetry
import Testing
import Time

@testable import Control
@testable import Gateway

@Suite struct StatusTests {
  private let now = UnixTime(milliseconds: 1_800_000_000_000)

  private func status(
    _ health: GateHealth.Status = .ok, store: String = "accepting", approvals: [JSONObject]? = [],
    devices: [JSONObject]? = [], refusals: [RefusalSummary]? = []
  ) -> GateStatus {
    let statistics = GateStatistics(
      health: GateHealth(status: health, version: "1.2.3", process: 4711, uptimeSeconds: 11_520),
      gauges: [NamedCount("sessions", 1200), NamedCount("detached", 5), NamedCount("concluded", 2)],
      counters: [NamedCount("bytesFromGame", 1_234_567), NamedCount("admitted", 7)],
      refusals: [NamedCount("key_unknown", 2000)], turns: AnswerTests.turns,
      store: StoreStatistics(
        service: store, reason: store == "stalled" ? "fdatasync: Input/output error" : nil,
        lastSnapshotAt: "2027-01-15T07:00:00.000Z",
        counts: [NamedCount("keys", 3), NamedCount("lastSnapshotMilliseconds", 17)]))
    return GateStatus(statistics, approvals: approvals, devices: devices, refusals: refusals)
  }

  private func lines(_ status: GateStatus, in window: Int? = 80) -> [String] {
    status.lines(now: now, in: window, .none)
  }

  @Test func allIsWell() {
    #expect(
      lines(status()) == [
        "ok  version 1.2.3  up 3 h 12 min  process 4711", "", "Players", "  1,200 connected",
        "  3 without a connection, may reconnect", "", "Waiting for you", "  nothing", "", "Last refusals",
        "  none",
      ])
  }

  @Test func whatIsWrongComesFirst() {
    #expect(lines(status(.draining)).prefix(2).joined().contains("New players are refused"))
    let stalled = lines(status(store: "stalled"))
    #expect(stalled[0].hasPrefix("ok, but the key store is not"))
    #expect(stalled[1].contains("stalled") && stalled[1].contains("Input/output error"))
  }

  @Test func whatWaitsIsNamedWithItsTimeLeft() {
    let approvals = (1...7).map { number in
      JSONObject([
        ("id", .string("id-\(number)")), ("operation", .string("door.open")),
        ("subject", .string("anna\u{1B}[2J")), ("expires_at", .number(JSONNumber(1_800_000_240 as Int64))),
      ])
    }
    let device = JSONObject([
      ("device_id", .string("d-1")), ("device_name", .string("Anna")), ("platform", .string("ios")),
      ("created_at", .number(JSONNumber(1_799_996_400 as Int64))),
    ])
    let shown = lines(status(approvals: approvals, devices: [device]))
    #expect(shown.contains { $0.hasPrefix("  id-1") && $0.hasSuffix("in 4 min") })
    #expect(!shown.contains { $0.contains("id-6") } && shown.contains { $0.hasPrefix("  2 more: ") })
    #expect(shown.contains { $0.hasPrefix("  d-1") && $0.contains("Anna") && $0.hasSuffix("1 h ago") })
    #expect(!shown.joined().contains("\u{1B}") && !shown.contains("  nothing"))
    #expect(lines(status(approvals: nil, devices: nil)).contains("  nothing: the gate has no devices"))
  }

  @Test func refusalsAreByCodeAndStepTheLatestFirst() {
    let times: [(RefusalCode, String, Int64)] = [
      (.keyUnknown, "key", 5), (.nonceInvalid, "nonce", 60), (.keyUnknown, "key", 7200),
    ]
    let entries = times.enumerated().map { index, entry in
      RefusalEntry(
        number: index, at: UnixTime(milliseconds: now.milliseconds - entry.2 * 1000), code: entry.0,
        step: entry.1, keyID: nil, asked: nil,
        peer: PeerName(
          loop: 0, number: 1, source: Endpoint(address: .loopbackV4, port: 1), trace: nil))
    }
    let refusals = RefusalSummary.all(entries)
    #expect(refusals.map(\.count) == [2, 1] && refusals.map(\.code) == ["key_unknown", "nonce_invalid"])
    let shown = lines(status(refusals: refusals)).suffix(2).map { $0.split(separator: "  ").map(String.init) }
    #expect(
      shown.map { $0.map { $0.trimmingPrefix(" ") } }
        == [
          ["key_unknown", "key", "2", "5 s ago"], ["nonce_invalid", "nonce", "1", "1 min ago"],
        ].map { $0.map { $0[...] } })
    #expect(lines(status(refusals: nil)).last?.contains("older") == true)
  }

  @Test func asJSON() throws {
    var writer = JSONWriter()
    status(devices: nil, refusals: [RefusalSummary(code: "a", step: "b", count: 3, lastAt: now)]).write(
      to: &writer)
    let value = try JSONValue(parsing: writer.bytes.span, depthLimit: 8)
    let object = try #require(value.object)
    #expect(object["status"]?.string == "ok" && object["sessions"]?.integer == 1200)
    #expect(
      object["detached"]?.integer == 3 && object["devices"] == .null && object["approvals"] == .array([]))
    #expect(object["refusals"]?.array?.first?.object?["lastAt"]?.string == now.timestamp)
  }
}

@Suite struct StatisticsTextTests {
  @Test func numbersAreInGroupsWithUnits() throws {
    let statistics = GateStatistics(
      health: GateHealth(status: .ok, version: "1.2.3", process: 4711, uptimeSeconds: 60),
      gauges: [NamedCount("sessions", 1200)], counters: [NamedCount("bytesFromGame", 1_234_567)],
      refusals: [NamedCount("key_unknown", 2000)], turns: AnswerTests.turns, store: AnswerTests.store)
    let lines = statistics.lines(now: UnixTime(milliseconds: 1_771_290_000_000), in: nil, .none)
    func row(_ name: String) -> String? { lines.first { $0.hasPrefix("  \(name) ") } }
    #expect(lines.filter { !$0.hasPrefix(" ") && !$0.isEmpty }.count == 6)
    let help = try #require(OperatorNumber.all.first { $0.name == "sessions" }?.help)
    #expect(row("sessions")?.contains("1,200") == true && row("sessions")?.hasSuffix(help) == true)
    #expect(row("bytesFromGame")?.contains("1.2 MB") == true && row("key_unknown")?.contains("2,000") == true)
    #expect(row("service")?.contains("stalled") == true && row("lastSnapshotAt")?.contains("1 h ago") == true)
    #expect(lines.last?.split(separator: " ") == ["1", "0", "0", "µs", "0", "µs", "0", "µs"])
    // Names of a gate that is newer than this command.
    let narrow = statistics.lines(now: UnixTime(milliseconds: 0), in: 60, .none)
    #expect(narrow.allSatisfy { $0.count <= 60 || $0.contains("99 OF 100") }, "\(narrow)")
  }
}
