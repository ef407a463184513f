/// Policies of risk (docs/risk.md): every problem is told in a line, more against a phone never makes its sum smaller, and
/// bands follow the sum.
internal import Addresses
internal import ApprovalPolicy
internal import Bytes
internal import DeviceWire
internal import Risk
internal import Time

enum RiskPolicyHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let policy: RiskPolicy
    do throws(PolicyFailure) {
      policy = try RiskPolicy(parsing: bytes.span)
    } catch {
      try check(error)
      return .refused
    }
    guard let good = findings(Self.quiet), let bad = findings(Self.loud) else {
      throw BrokenProperty("signals in their form are refused")
    }
    for hour in 0..<24 {
      let time = UnixTime(milliseconds: 1_772_409_600_000 + Int64(hour) * 3_600_000)
      let (less, more) = (policy.judge(good, at: time), policy.judge(bad, at: time))
      try require(less.score >= 0 && less.score <= more.score, "reasons make the sum smaller")
      for (findings, verdict) in [(good, less), (bad, more)] {
        let parts = policy.parts(findings, at: time)
        try require(parts.reduce(0) { $0 + $1.weight } == verdict.score, "the parts are not the sum")
        try require(verdict.band == band(of: verdict.score, policy), "a band that the sum does not reach")
        try require(verdict.isEnforced == policy.isEnforced, "enforced otherwise than said")
      }
    }
    try require(
      !policy.isEnforced || policy.presenceBand != nil || policy.denyBand != nil, "enforced without bands")
    return .accepted
  }

  private static func band(of score: Int, _ policy: RiskPolicy) -> RiskBand {
    if score >= policy.denyBand ?? .max { return .deny }
    return score >= policy.presenceBand ?? .max ? .presence : .allow
  }

  private static func findings(_ signals: String) -> RiskFindings? {
    guard let signals = Signals(Array(signals.utf8)), let at = UnixSeconds(Int64(1_772_452_800)) else {
      return nil
    }
    let place = Place(country: CountryCode("AT"), timeZone: "Europe/Vienna", network: 64_496)
    let position = Position(latitude: 482, longitude: 164, accuracy: nil)
    let previous = RiskRecord(at: at, position: position, place: place)
    return RiskJudge.findings(RiskQuestion(signals: signals, at: at, place: place, previous: previous))
  }

  private static let flags = ["mock_location", "adb_enabled", "emulator", "debugger", "rooted"]
  private static let quiet = signals(zone: "Europe/Vienna", flag: false, latitude: 482, longitude: 164)
  /// The same that is known, and every bit of it worse.
  private static let loud = signals(zone: "Asia/Tokyo", flag: true, latitude: -482, longitude: -164)

  private static func signals(zone: String, flag: Bool, latitude: Int, longitude: Int) -> String {
    let members = flags.map { #""\#($0)":\#(flag),"# }.joined()
    return #"{\#(members)"tz":"\#(zone)","mcc_mnc":"23201","lat_e1":\#(latitude),"lon_e1":\#(longitude)}"#
  }

  private static func check(_ failure: PolicyFailure) throws(BrokenProperty) {
    try require(!failure.problems.isEmpty, "a failure without a problem")
    for problem in failure.problems {
      try require(!problem.reason.isEmpty && !problem.remedy.isEmpty, "no reason or no remedy")
      try require(
        problem.description.unicodeScalars.allSatisfy {
          $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value)
        },
        "a control character: \(PrintableText.field(problem.description))")
    }
  }
}
