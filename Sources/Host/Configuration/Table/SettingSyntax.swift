/// How the text of a setting becomes a value: one syntax for each kind, with the words that tell a reader
/// what to write.
internal import Identity
internal import Time

/// Why a text is not a value. `SettingSyntax.form` says what would be, unless a remedy is known.
package struct SettingError: Error, Equatable, Sendable {
  package let reason: String
  /// An imperative.
  package let remedy: String?

  init(_ reason: String, remedy: String? = nil) {
    self.reason = reason
    self.remedy = remedy
  }
}

struct SettingSyntax<Value: Sendable & Equatable>: Sendable {
  /// Completes "write …".
  let form: String
  let parse: @Sendable (String) throws(SettingError) -> Value

  init(_ form: String, parse: @escaping @Sendable (String) throws(SettingError) -> Value) {
    self.form = form
    self.parse = parse
  }
}

extension SettingSyntax where Value == Bool {
  static let boolean = SettingSyntax("true or false") { (text) throws(SettingError) in
    switch text {
    case "true": return true
    case "false": return false
    default: throw SettingError("is neither true nor false")
    }
  }
}

extension SettingSyntax where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  /// One of the raw values, in lower case as they are.
  static var choice: Self {
    let words = Value.allCases.map(\.rawValue)
    let form = words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
    return SettingSyntax(form) { (text) throws(SettingError) in
      guard let value = Value(rawValue: text) else { throw SettingError("is none of the choices") }
      return value
    }
  }
}

extension SettingSyntax where Value == GateConfiguration.Compression {
  /// `deflate` is what `on` was called in 0.2.0.
  static let compression = SettingSyntax("on or off") { (text) throws(SettingError) in
    switch text {
    case "on", "deflate": return .on
    case "off": return .off
    default: throw SettingError("is neither on nor off")
    }
  }
}

extension SettingSyntax where Value == Set<AttestEnvironment> {
  static let environments = SettingSyntax("production, development or both") { (text) throws(SettingError) in
    switch text {
    case "production": return [.production]
    case "development": return [.development]
    case "both": return [.production, .development]
    default: throw SettingError("is none of the choices")
    }
  }
}

extension SettingSyntax where Value == Int {
  static func count(_ range: ClosedRange<Int>) -> Self {
    SettingSyntax("a whole number from \(range.lowerBound) to \(range.upperBound)") {
      (text) throws(SettingError) in
      try inRange(wholeNumber(text), range)
    }
  }

  /// Bytes, or with `KiB` or `MiB`.
  static func size(_ range: ClosedRange<Int>) -> Self {
    let bounds = "from \(sizeText(range.lowerBound)) to \(sizeText(range.upperBound))"
    let form = "bytes, or a number with KiB or MiB, \(bounds)"
    return SettingSyntax(form) { (text) throws(SettingError) in
      for (unit, factor) in [("KiB", 1 << 10), ("MiB", 1 << 20)] where text.hasSuffix(unit) {
        return try inRange(product(wholeNumber(text.dropLast(unit.count)), factor), range)
      }
      return try inRange(wholeNumber(text[...]), range)
    }
  }
}

extension SettingSyntax where Value == Duration {
  /// Seconds, or with `ms`, `s`, `m`, `h` or `d`.
  static func duration(_ range: ClosedRange<Duration>) -> Self {
    let form =
      "seconds, or a number with ms, s, m, h or d, from \(durationText(range.lowerBound)) to "
      + durationText(range.upperBound)
    return SettingSyntax(form) { (text) throws(SettingError) in
      let units = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("", 1000)]
      for (unit, factor) in units where text.hasSuffix(unit) {
        let milliseconds = try product(wholeNumber(text.dropLast(unit.count)), factor)
        return try inRange(.milliseconds(milliseconds), range)
      }
      throw SettingError("is not a duration")
    }
  }
}

extension SettingSyntax where Value == Duration? {
  /// A duration, or nil for `off`.
  static func durationOrOff(_ range: ClosedRange<Duration>) -> Self {
    let duration = SettingSyntax<Duration>.duration(range)
    return SettingSyntax("off, or \(duration.form)") { (text) throws(SettingError) in
      text == "off" ? nil : try duration.parse(text)
    }
  }
}

extension SettingSyntax where Value == Rate {
  /// `N/s` or `N/m`. The bucket holds what comes in over `window`, and one at least.
  static func rate(burstOver window: Duration) -> Self {
    SettingSyntax("a number with /s or /m, from 1 to 1000000") { (text) throws(SettingError) in
      for (unit, seconds) in [("/s", 1), ("/m", 60)] where text.hasSuffix(unit) {
        let count = try inRange(wholeNumber(text.dropLast(2)), 1...1_000_000)
        let burst = max(1, count * Int(window.components.seconds) / seconds)
        return Rate(count: count, per: .seconds(seconds), burst: burst)
      }
      throw SettingError("is not a rate")
    }
  }
}

private func wholeNumber(_ text: some StringProtocol) throws(SettingError) -> Int {
  guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
    throw SettingError("is not a whole number with a known unit")
  }
  guard let number = Int(text) else { throw SettingError("is out of range") }
  return number
}

private func product(_ number: Int, _ factor: Int) throws(SettingError) -> Int {
  let (product, overflow) = number.multipliedReportingOverflow(by: factor)
  guard !overflow else { throw SettingError("is out of range") }
  return product
}

private func inRange<Number: Comparable>(
  _ number: Number, _ range: ClosedRange<Number>
) throws(SettingError) -> Number {
  guard range.contains(number) else { throw SettingError("is out of range") }
  return number
}

/// In the largest unit that leaves no rest, as the settings are written.
func sizeText(_ bytes: Int) -> String {
  if bytes > 0, bytes.isMultiple(of: 1 << 20) { return "\(bytes >> 20)MiB" }
  if bytes > 0, bytes.isMultiple(of: 1 << 10) { return "\(bytes >> 10)KiB" }
  return "\(bytes)"
}

/// In the largest unit that leaves no rest, as the settings are written.
func durationText(_ duration: Duration) -> String {
  let milliseconds = duration.wholeMilliseconds
  for (unit, factor) in [("d", Int64(86_400_000)), ("h", 3_600_000), ("m", 60_000), ("s", 1000)]
  where milliseconds > 0 && milliseconds.isMultiple(of: factor) {
    return "\(milliseconds / factor)\(unit)"
  }
  return "\(milliseconds)ms"
}
