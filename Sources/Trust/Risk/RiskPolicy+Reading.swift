/// The file of `RISK_POLICY` (docs/risk.md, "Policy"): strict, and every problem of it told at once.
package import ApprovalPolicy
internal import JSON

extension RiskPolicy {
  package init(parsing bytes: Span<UInt8>) throws(PolicyFailure) {
    var file = try PolicyFile.object(bytes)
    self.init()
    weights = file.object("weights") { Self.weights(&$0, of: RiskReason.allCases) } ?? [:]
    unknown =
      file.object("unknown") { Self.weights(&$0, of: RiskReason.allCases.filter(\.canBeUnknown)) } ?? [:]
    file.object("bands") { bands in
      presenceBand = bands.integer("presence", RiskBounds.band)
      denyBand = bands.integer("deny", RiskBounds.band)
      if let presenceBand, let denyBand, presenceBand >= denyBand {
        bands.complain(
          "presence", .number(JSONNumber(Int64(presenceBand))), "is never reached, as deny comes first",
          remedy: "write less than deny, or leave one of them out")
      }
      return ()
    }
    hours = file.object("hours") { Self.hours(&$0) } ?? []
    minimumPatch = Self.patch(&file)
    isEnforced = file.boolean("enforce") ?? false
    if isEnforced, presenceBand == nil, denyBand == nil, file.problems.isEmpty {
      file.complain(
        "enforce", .boolean(true), "decides nothing without bands",
        remedy: #"write "bands":{"presence":n,"deny":n}, one of them at least"#)
    }
    var problems: [PolicyProblem] = []
    file.finish(&problems)
    guard problems.isEmpty else { throw PolicyFailure(problems: problems) }
  }

  private static func weights(_ object: inout PolicyObject, of reasons: [RiskReason]) -> [RiskReason: Int] {
    var weights: [RiskReason: Int] = [:]
    for reason in reasons { weights[reason] = object.integer(reason.rawValue, RiskBounds.weight) }
    return weights
  }

  private static func hours(_ object: inout PolicyObject) -> [RiskHours] {
    var hours: [RiskHours] = []
    for (name, weight) in object.allIntegers(RiskBounds.weight) {
      if let found = RiskHours(name, weight: weight), hours.count < RiskBounds.hours {
        hours.append(found)
      } else {
        object.complain(
          name, nil, "is no range of hours, or one of more than \(RiskBounds.hours)",
          remedy: #"write hours of UTC from 0 to 24, such as "22-6": from ten in the evening until six"#)
      }
    }
    return hours
  }

  private static func patch(_ file: inout PolicyObject) -> Int? {
    guard let value = file.value("min_os_patch") else { return nil }
    if let month = value.string.flatMap(Self.month) { return month }
    file.complain("min_os_patch", value, "is no month", remedy: #"write a year and a month, like "2025-01""#)
    return nil
  }

  private static func month(_ text: String) -> Int? {
    let bytes = Array(text.utf8)
    guard bytes.count == 7, bytes[4] == UInt8(ascii: "-"), let year = number(bytes[..<4]),
      let month = number(bytes[5...]), (1...12).contains(month)
    else { return nil }
    return year * 100 + month
  }

  fileprivate static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    let isNumber = digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return isNumber ? Int(String(decoding: digits, as: UTF8.self)) : nil
  }
}

extension RiskHours {
  /// From `22-6`; nil where it is none.
  init?(_ text: String, weight: Int) {
    let parts = Array(text.utf8).split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ (1...2).contains($0.count) }),
      let start = RiskPolicy.number(parts[0]), let end = RiskPolicy.number(parts[1]),
      (0...23).contains(start), (0...24).contains(end), start != end
    else { return nil }
    self.init(start: start, end: end == 0 ? 24 : end, weight: weight)
  }
}
