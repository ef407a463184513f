/// The file of `ASSURANCE_POLICY` (docs/policies.md): strict, and every problem of it told at once.
internal import DeviceWire
internal import JSON

extension AssurancePolicy {
  package init(parsing bytes: Span<UInt8>) throws(PolicyFailure) {
    var problems: [PolicyProblem] = []
    var file = try PolicyFile.object(bytes)
    var classes: [AssuranceClass] = []
    for (index, value) in PolicyFile.list("classes", in: &file, required: true).enumerated() {
      guard var object = PolicyFile.element(value, "class \(index + 1)", &file) else { continue }
      let found = AssuranceClass(reading: &object)
      if let found, classes.contains(where: { $0.name.utf8.elementsEqual(found.name.utf8) }) {
        object.complain(
          "name", .string(found.name), "is another class's too", remedy: "give each class a name of its own")
      }
      object.finish(&problems)
      if let found { classes.append(found) }
    }
    file.finish(&problems)
    guard problems.isEmpty else { throw PolicyFailure(problems: problems) }
    self.init(classes: classes)
  }
}

extension AssuranceClass {
  /// Nil with a problem noted.
  fileprivate init?(reading object: inout PolicyObject) {
    if !object.has("name") {
      object.complain("name", nil, "is missing", remedy: "write a name to tell the class by")
    }
    let name = object.text("name", 1...64)
    if !object.has("match") {
      object.complain("match", nil, "is missing", remedy: #"write "match":{"subject":["*"]} for everybody"#)
    }
    let subjects = object.object("match") { match -> [Glob]? in
      guard match.has("subject") else {
        match.complain("subject", nil, "is missing", remedy: #"write ["*"] for everybody"#)
        return nil
      }
      return match.textOrTexts("subject")?.map { Glob($0) }
    }
    level = object.choice("level") ?? .bare
    userVerification = object.choice("uv") ?? .none
    (needsPlay, playMinimum) = object.play("play")
    needsPresence = object.boolean("presence") ?? false
    otpAttestMaxAge = object.seconds("otp_attest_max_age")
    reattestAfter = object.seconds("reattest_after") ?? Self.defaultReattestAfter
    minAppVersion = object.version("min_app_version")
    nextHeartbeat = object.seconds("next_heartbeat") ?? Self.defaultNextHeartbeat
    guard let name, let subjects else { return nil }
    self.name = name
    self.subjects = subjects
  }
}

extension PolicyObject {
  /// Whether Play Integrity is asked for, and how far it has to trust the phone.
  fileprivate mutating func play(_ name: String) -> (Bool, PlayTrust?) {
    guard let value = value(name) else { return (false, nil) }
    if let boolean = value.boolean { return (boolean, nil) }
    if let trust = value.string.flatMap({ PlayTrust(rawValue: $0) }) { return (true, trust) }
    complain(
      name, value, "is neither true nor false, nor a minimum",
      remedy: #"write true for PLAY_INTEGRITY_MIN, "device" or "strong" for a minimum of its own, or false"#)
    return (false, nil)
  }

  /// A single text stands for a list of it.
  fileprivate mutating func textOrTexts(_ name: String) -> [String]? {
    if case .string? = peek(name) { return text(name).map { [$0] } }
    return texts(name)
  }

  /// Seconds as a number, or a text as in settings: `90s`, `10m`, `12h`, `7d`.
  fileprivate mutating func seconds(_ name: String) -> Int? {
    guard let value = value(name) else { return nil }
    if let seconds = Self.seconds(value), Self.greatestDuration.contains(seconds) { return seconds }
    complain(
      name, value, "is no time from 1s to 365d",
      remedy: #"write seconds, or a text like "90s", "10m", "12h", "7d""#)
    return nil
  }

  private static let greatestDuration = 1...365 * 86_400

  private static func seconds(_ value: JSONValue) -> Int? {
    if let integer = value.integer { return Int(exactly: integer) }
    guard let text = value.string, let unit = text.utf8.last else { return nil }
    let factors: [UInt8: Int] = [
      UInt8(ascii: "s"): 1, UInt8(ascii: "m"): 60, UInt8(ascii: "h"): 3600, UInt8(ascii: "d"): 86_400,
    ]
    let digits = String(decoding: text.utf8.dropLast(), as: UTF8.self)
    guard let factor = factors[unit], let number = UInt32(digits),
      String(number).utf8.elementsEqual(digits.utf8)
    else { return nil }
    let (seconds, isTooMuch) = Int(number).multipliedReportingOverflow(by: factor)
    return isTooMuch ? nil : seconds
  }

  fileprivate mutating func version(_ name: String) -> AppVersion? {
    guard let value = value(name) else { return nil }
    if let version = value.string.flatMap({ AppVersion($0) }) { return version }
    complain(name, value, "is no version", remedy: #"write whole numbers between dots, like "1.4.0""#)
    return nil
  }
}
