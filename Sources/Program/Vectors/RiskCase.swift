/// A recorded request for a code: what the phone said, what the gate knew, and the reasons to think less of it
/// (docs/risk.md, "Recorded requests").
internal import Addresses
internal import DeviceWire
package import JSON
package import Risk

package struct RiskCase: Sendable {
  package let name: String
  package let expectation: Expectation?
  /// Nil where the signals are malformed.
  package let question: RiskQuestion?
  private let expected: Expected

  /// Nil where nothing is said of it.
  private struct Expected: Sendable {
    var reasons: [String]?
    /// They may be there or not.
    var either: [String] = []
    var distances: [(name: String, value: Double)] = []
  }

  init(name: String, _ fields: Fields) throws(VectorError) {
    self.name = name
    expectation = try fields.expectation()
    expected = try Self.expected(fields.object["expect"]?.object)
    guard let current = try Record(fields, "current") else { throw VectorError("current is not an object") }
    let previous = try Record(fields, "previous")
    let failed = try fields.time("attest_failed_at", in: fields.object)
    let minimum = try Self.minimumPatch(fields)
    let platform = try Self.platform(fields)
    question = Self.signals(fields.object["signals"]).map { signals in
      RiskQuestion(
        signals: signals, at: current.at, place: current.place, previous: previous?.risk,
        minimumPatch: minimum, attestFailedAt: failed, platform: platform)
    }
  }

  /// Nil where they are malformed: what is no object, or is not there at all, included.
  private static func signals(_ value: JSONValue?) -> Signals? {
    guard let value else { return nil }
    var writer = JSONWriter()
    writer.value(value)
    return Signals(writer.bytes)
  }

  private static func minimumPatch(_ fields: Fields) throws(VectorError) -> Int? {
    guard let value = fields.object["policy"]?.object?["min_os_patch"], value != .null else { return nil }
    guard let month = value.integer, (1...999_912).contains(month) else {
      throw VectorError("policy.min_os_patch is no year and month such as 202501")
    }
    return Int(month)
  }

  /// Nil where nothing is said of it: then nobody knows what the phone could have said.
  private static func platform(_ fields: Fields) throws(VectorError) -> DevicePlatform? {
    guard let value = fields.object["platform"], value != .null else { return nil }
    guard let platform = value.string.flatMap({ DevicePlatform(rawValue: $0) }) else {
      throw VectorError("platform is neither ios nor android")
    }
    return platform
  }

  private static func expected(_ expect: JSONObject?) throws(VectorError) -> Expected {
    var expected = Expected()
    guard let expect else { return expected }
    if let value = expect["reasons"] {
      guard let reasons = value.array?.compactMap(\.string) else {
        throw VectorError("expect.reasons is not of strings")
      }
      expected.reasons = reasons
    }
    expected.either = expect["either"]?.array?.compactMap(\.string) ?? []
    for name in RiskAnswer.distances {
      guard case .number(let number)? = expect[name] else { continue }
      guard let value = Double(number.text) else { throw VectorError("expect.\(name) is out of range") }
      expected.distances.append((name, value))
    }
    return expected
  }

  /// Nil where the signals are malformed.
  package var answer: RiskAnswer? { question.map { RiskAnswer(RiskJudge.findings($0)) } }

  package func judge() -> VectorVerdict {
    guard let answer else {
      return .reject(check: "signals", reason: MessageStep.signals.rule)
    }
    return .accept(answer.facts)
  }

  /// Whether the answer has other reasons or distances than the case expects. Whether it is one at all is the verdict's
  /// affair.
  package var differs: Bool {
    guard let answer else { return false }
    if let reasons = expected.reasons {
      func counting(_ words: [String]) -> [String] { words.filter { !expected.either.contains($0) } }
      if counting(answer.reasons) != counting(reasons) { return true }
    }
    return expected.distances.contains { name, value in
      guard let found = answer.distance(name) else { return true }
      return abs(found - value) > (name == RiskAnswer.speed ? 0.1 : 0.01)
    }
  }

  /// An object with a time and what was known then.
  private struct Record {
    let at: UnixSeconds
    let position: Position?
    let place: Place

    var risk: RiskRecord { RiskRecord(at: at, position: position, place: place) }

    init?(_ fields: Fields, _ name: String) throws(VectorError) {
      guard let value = fields.object[name], value != .null else { return nil }
      guard let object = value.object else { throw VectorError("\(name) is not an object") }
      guard let at = try fields.time("at", in: object) else { throw VectorError("\(name) has no at") }
      self.at = at
      position = Position(
        latitude: object["lat_e1"]?.integer, longitude: object["lon_e1"]?.integer,
        accuracy: object["acc_m"]?.integer)
      place = Place(
        country: object["country"]?.string.flatMap { CountryCode($0) },
        timeZone: object["time_zone"]?.string,
        network: object["asn"]?.integer.flatMap { UInt32(exactly: $0) })
    }
  }
}

/// Reasons and distances as files and commands name them.
package struct RiskAnswer: Sendable {
  package let findings: RiskFindings

  static let speed = "speed_kmh"
  static let distances = ["distance_km", "net_km", speed]

  package init(_ findings: RiskFindings) {
    self.findings = findings
  }

  package var reasons: [String] { findings.reasons.map(\.rawValue) }

  /// None where one of the positions is not known.
  package var distances: [(name: String, value: Double)] {
    Self.distances.compactMap { name in distance(name).map { (name, $0) } }
  }

  /// To a thousandth.
  func distance(_ name: String) -> Double? {
    guard let travel = findings.travel else { return nil }
    let value =
      switch name {
      case "distance_km": travel.distanceKm
      case "net_km": travel.netKm
      default: travel.speedKmh
      }
    return (value * 1000).rounded() / 1000
  }

  var facts: [VectorVerdict.Fact] {
    [.init("reasons", reasons.isEmpty ? "none" : reasons.joined(separator: ", "))]
      + distances.map { .init($0.name, "\($0.value)") }
  }

  /// As members of the object that is being written.
  package func write(to writer: inout JSONWriter) {
    writer.name("reasons")
    writer.beginArray()
    for reason in reasons { writer.value(reason) }
    writer.endArray()
    for (name, value) in distances {
      writer.name(name)
      // Rounded, and far from what would be written with an exponent.
      writer.raw(Array("\(value)".utf8))
    }
  }
}

extension Fields {
  /// Nil where there is none.
  func time(_ name: String, in object: JSONObject) throws(VectorError) -> UnixSeconds? {
    guard let value = object[name], value != .null else { return nil }
    guard let time = value.integer.flatMap({ UnixSeconds($0) }) else {
      throw VectorError("\(name) is no time in seconds since 1970")
    }
    return time
  }
}
