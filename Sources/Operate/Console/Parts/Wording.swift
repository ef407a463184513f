/// Numbers, sizes, times and long texts as a person reads them.
internal import Time

enum Wording {
  /// `12,345`.
  static func count(_ number: some BinaryInteger) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "−" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return text
  }

  /// `1 session`, `12,345 sessions`.
  static func count(_ number: Int, _ one: StaticString, _ many: StaticString) -> String {
    "\(count(number)) \(number == 1 ? one : many)"
  }

  /// `999 B`, `1.2 MB`: three digits at most, in powers of a thousand.
  static func bytes(_ number: UInt64) -> String {
    scaled(number, units: ["B", "kB", "MB", "GB", "TB", "PB", "EB"])
  }

  /// `340 µs`, `1.2 ms`, `12.5 s`.
  static func microseconds(_ number: Int) -> String {
    scaled(UInt64(max(number, 0)), units: ["µs", "ms", "s"])
  }

  private static func scaled(_ number: UInt64, units: [String]) -> String {
    var rest = number
    var tenths: UInt64 = 0
    var unit = 0
    while rest >= 1000, unit < units.count - 1 {
      tenths = rest % 1000 / 100
      rest /= 1000
      unit += 1
    }
    return unit > 0 && rest < 100 ? "\(rest).\(tenths) \(units[unit])" : "\(count(rest)) \(units[unit])"
  }

  /// `2 d 4 h`, `12 min`, `45 s`: the two largest units.
  static func duration(seconds: Int64) -> String {
    let seconds = max(seconds, 0)
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60)
    if days > 0 { return hours > 0 ? "\(count(days)) d \(hours) h" : "\(count(days)) d" }
    if hours > 0 { return minutes > 0 ? "\(hours) h \(minutes) min" : "\(hours) h" }
    if minutes > 0 {
      return minutes < 10 && seconds % 60 > 0 ? "\(minutes) min \(seconds % 60) s" : "\(minutes) min"
    }
    return "\(seconds) s"
  }

  /// `2026-11-23 01:03:53 UTC`, for who has no script to read it in a zone of his own.
  static func time(_ time: UnixTime) -> String {
    let text = time.timestamp
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)) UTC"
  }

  /// Cut where it is too long for its place. Counted in scalars: a single character can be made of thousands.
  static func cut(_ text: some StringProtocol, to limit: Int) -> String {
    let scalars = text.unicodeScalars
    guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
      end != scalars.endIndex
    else { return String(text) }
    return String(text[..<end]) + "…"
  }

  /// Without the port, for a list: `203.0.113.7:51234`, `[2001:db8::7]:51234`.
  static func address(_ source: String) -> String {
    if source.first == "[", let end = source.firstIndex(of: "]") {
      return String(source[source.index(after: source.startIndex)..<end])
    }
    let parts = source.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 2 ? String(parts[0]) : source
  }

  /// Of a key, in the way of `keys list`: the first characters find it again.
  static func shortKey(_ id: String) -> String { cut(id, to: 8) }

  /// A word of the gate's as one of a sentence: `client_certificate` reads `client certificate`.
  static func plain(_ word: String) -> String { word.replacing("_", with: " ") }
}
