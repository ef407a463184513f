/// The file of a policy: what it counts, and every way to write it wrong.
import ApprovalPolicy
import Addresses
import DeviceWire
import Risk
import Time
import Testing

private func policy(_ text: String) throws(PolicyFailure) -> RiskPolicy {
  try RiskPolicy(parsing: Array(text.utf8).span)
}

private func problems(_ text: String) -> [String] {
  do throws(PolicyFailure) {
    _ = try policy(text)
    return []
  } catch {
    return error.problems.map(\.description)
  }
}

@Suite struct RiskPolicyTests {
  private static let whole = #"""
    {"weights": {"mock_location": 30, "rooted": 50, "impossible_travel": 60},
     "unknown": {"position_unknown": 5, "impossible_travel": 10},
     "hours": {"22-6": 7, "12-13": 3},
     "bands": {"presence": 40, "deny": 80}, "min_os_patch": "2025-01", "enforce": true}
    """#

  /// 2026-03-02 at this hour of UTC.
  private func time(_ hour: Int64) -> UnixTime {
    UnixTime(milliseconds: (1_772_409_600 + hour * 3600) * 1000)
  }

  @Test func sumsAndBands() throws {
    let policy = try policy(Self.whole)
    #expect(policy.minimumPatch == 202_501 && policy.isEnforced)
    func verdict(_ members: String..., at hour: Int64 = 9) throws -> RiskVerdict {
      policy.judge(try members.reduce(Request()) { $0.with($1) }.findings(), at: time(hour))
    }
    #expect(try verdict() == RiskVerdict(score: 0, band: .allow, isEnforced: true))
    #expect(try verdict(#""mock_location":true"#).band == .allow)
    #expect(try verdict(#""mock_location":true"#, at: 12).score == 33)
    #expect(try verdict(#""mock_location":true"#, at: 13).score == 30)
    #expect(try verdict(#""mock_location":true"#, at: 5).score == 37)
    #expect(try verdict(#""rooted":true"#) == RiskVerdict(score: 50, band: .presence, isEnforced: true))
    #expect(
      try verdict(#""rooted":true"#, #""mock_location":true"#)
        == RiskVerdict(score: 80, band: .deny, isEnforced: true))
    // A missing position counts as a reason that has no weight here, as unknown, and so does the travel.
    #expect(try verdict(#""lat_e1""#).score == 15)
  }

  @Test func sumAtTheBand() throws {
    let at = try policy(#"{"weights":{"rooted":40},"bands":{"presence":40}}"#)
    let below = try policy(#"{"weights":{"rooted":39},"bands":{"presence":40}}"#)
    let findings = try Request().with(#""rooted":true"#).findings()
    #expect(at.judge(findings, at: time(0)).band == .presence)
    #expect(below.judge(findings, at: time(0)).band == .allow)
    #expect(!at.judge(findings, at: time(0)).isEnforced)
  }

  @Test func withoutAFile() throws {
    let findings = try Request().with(#""rooted":true"#).findings()
    #expect(
      RiskPolicy.default.judge(findings, at: time(3))
        == RiskVerdict(score: 0, band: .allow, isEnforced: false))
    #expect(try policy("{}") == .default)
  }

  @Test(arguments: [-86_401, -1, 0, 1_772_409_600] as [Int64]) func hoursOfAnyTime(seconds: Int64) throws {
    let always = try policy(#"{"hours":{"0-24":1}}"#)
    let never = try policy(#"{"hours":{}}"#)
    let findings = try Request().findings()
    let time = UnixTime(milliseconds: seconds * 1000)
    #expect(always.judge(findings, at: time).score == 1 && never.judge(findings, at: time).score == 0)
    // Two halves of the day never hold together, and one of them always does.
    let halves = try policy(#"{"hours":{"6-18":1,"18-6":1}}"#)
    #expect(halves.judge(findings, at: time).score == 1)
  }

  @Test(
    arguments: [
      (#"{"weight":{}}"#, "weight"), (#"{"weights":{"root":1}}"#, "weights.root"),
      (#"{"weights":{"rooted":-1}}"#, "weights.rooted"), (#"{"weights":{"rooted":1001}}"#, "weights.rooted"),
      (#"{"weights":{"rooted":1.5}}"#, "weights.rooted"), (#"{"weights":{"rooted":"1"}}"#, "weights.rooted"),
      (#"{"weights":[]}"#, "weights"), (#"{"unknown":{"attest_failed":1}}"#, "unknown.attest_failed"),
      (#"{"bands":{"presence":0}}"#, "bands.presence"), (#"{"bands":{"allow":1}}"#, "bands.allow"),
      (#"{"bands":{"presence":80,"deny":80}}"#, "bands.presence"),
      (#"{"hours":{"22":1}}"#, "hours.22"), (#"{"hours":{"5-5":1}}"#, "hours.5-5"),
      (#"{"hours":{"24-6":1}}"#, "hours.24-6"), (#"{"hours":{"0-25":1}}"#, "hours.0-25"),
      (#"{"hours":{"0-6":"1"}}"#, "hours.0-6"), (#"{"hours":{"-1-6":1}}"#, "hours.-1-6"),
      (#"{"hours":{"٢-٦":1}}"#, "hours."), (#"{"min_os_patch":202501}"#, "min_os_patch"),
      (#"{"min_os_patch":"2025-13"}"#, "min_os_patch"), (#"{"min_os_patch":"2025-01-01"}"#, "min_os_patch"),
      (#"{"enforce":1}"#, "enforce"), (#"{"enforce":true}"#, "enforce"), (#"{"rooted":null}"#, "rooted"),
      (#"{"weights":null}"#, "weights"), (#"{"weights":{"rooted":1,"rooted":2}}"#, "line 1, byte 25"),
      ("[]", ""), ("", "line 1"), (#"{"a":{"#, "line 1"),
    ])
  func problem(text: String, member: String) {
    let found = problems(text)
    #expect(found.count == 1 && found.allSatisfy { $0.hasPrefix(member) && $0.contains(": ") }, "\(found)")
  }

  @Test func allProblemsAtOnce() {
    let found = problems(#"{"weights":{"a":1,"rooted":-1},"hours":{"x":1},"enforce":"no","more":1}"#)
    #expect(found.count == 5, "\(found)")
  }
}
