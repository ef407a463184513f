/// Numbers, sizes, times and long texts as a person reads them, at the prompt and on the console's pages.
internal import System
package import Time

package enum Wording {
  /// `12,345`.
  package static func count(_ number: some BinaryInteger) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "−" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return text
  }

  /// `1 session`, `12,345 sessions`.
  package static func count(_ number: Int, _ one: StaticString, _ many: StaticString) -> String {
    "\(count(number)) \(number == 1 ? one : many)"
  }

  /// `999 B`, `1.2 MB`: three digits at most, in powers of a thousand.
  package static func bytes(_ number: UInt64) -> String {
    scaled(number, units: ["B", "kB", "MB", "GB", "TB", "PB", "EB"])
  }

  /// `340 µs`, `1.2 ms`, `12.5 s`.
  package static func microseconds(_ number: Int) -> String {
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
  package static func duration(seconds: Int64) -> String {
    let seconds = max(seconds, 0)
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60)
    if days > 0 { return hours > 0 ? "\(count(days)) d \(hours) h" : "\(count(days)) d" }
    if hours > 0 { return minutes > 0 ? "\(hours) h \(minutes) min" : "\(hours) h" }
    if minutes > 0 {
      return minutes < 10 && seconds % 60 > 0 ? "\(minutes) min \(seconds % 60) s" : "\(minutes) min"
    }
    return "\(seconds) s"
  }

  /// `3 min ago`, `in 2 h`, `now`: by the largest unit alone.
  package static func relative(_ time: UnixTime, to now: UnixTime) -> String {
    let seconds = (time.milliseconds - now.milliseconds) / 1000
    let size = seconds.magnitude
    let length =
      switch size {
      case 0: "now"
      case ..<60: "\(size) s"
      case ..<3600: "\(size / 60) min"
      case ..<86_400: "\(size / 3600) h"
      default: "\(count(size / 86_400)) d"
      }
    return size == 0 ? length : seconds < 0 ? "\(length) ago" : "in \(length)"
  }

  /// Cut where it is too long for its place. Counted in scalars: a single character can be made of thousands.
  package static func cut(_ text: some StringProtocol, to limit: Int) -> String {
    let scalars = text.unicodeScalars
    guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
      end != scalars.endIndex
    else { return String(text) }
    return String(text[..<end]) + "…"
  }

  /// The same for a column of a terminal: by the room that characters take there, with the mark of the cut.
  package static func cut(_ text: String, toColumns limit: Int) -> String {
    guard text.displayColumns > limit else { return text }
    var kept = String.UnicodeScalarView()
    var columns = 1
    for scalar in text.unicodeScalars {
      columns += scalar.displayColumns
      if columns > limit { break }
      kept.append(scalar)
    }
    return String(kept) + "…"
  }

  /// Of a key, on a page.
  package static func shortKey(_ id: String) -> String { cut(id, to: 8) }

  /// Of a key, at the prompt: enough for a command to find it again, and nothing else, so that it can be copied.
  package static func beginning(ofKey id: String) -> String { String(id.prefix(8)) }

  /// A word of the gate's as one of a sentence: `client_certificate` reads `client certificate`.
  package static func plain(_ word: String) -> String { word.replacing("_", with: " ") }
}
