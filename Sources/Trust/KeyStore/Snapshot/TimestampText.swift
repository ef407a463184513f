/// Timestamps of the key file, a million at a time: remembers the day it met last (RFC 3339, UTC,
/// milliseconds).
internal import Time

struct TimestampText {
  private var day: [UInt8] = []
  /// Of the day's first moment.
  private var dayStart = Int64.min

  /// `2026-02-17T00:00:00.000Z`, 24 bytes; held within the years that four digits can write.
  mutating func append(_ milliseconds: Int64, to bytes: inout [UInt8]) {
    let time = min(max(milliseconds, Self.earliest), Self.latest)
    if day.isEmpty || time < dayStart || time - dayStart >= Self.dayLength { remember(dayOf: time) }
    var rest = time - dayStart
    let fraction = rest % 1000
    rest /= 1000
    bytes.append(contentsOf: day)
    bytes.append(UInt8(ascii: "T"))
    Self.append(rest / 3600, 2, UInt8(ascii: ":"), to: &bytes)
    Self.append(rest / 60 % 60, 2, UInt8(ascii: ":"), to: &bytes)
    Self.append(rest % 60, 2, UInt8(ascii: "."), to: &bytes)
    Self.append(fraction, 3, UInt8(ascii: "Z"), to: &bytes)
  }

  /// Any RFC 3339 form; quick for the one that `append` writes.
  mutating func parse(_ text: Span<UInt8>) -> Int64? {
    if let time = parseOnSameDay(text) { return time }
    guard let time = UnixTime(timestamp: text) else { return nil }
    remember(dayOf: min(max(time.milliseconds, Self.earliest), Self.latest))
    return time.milliseconds
  }

  private func parseOnSameDay(_ text: Span<UInt8>) -> Int64? {
    guard text.count == 24, day.count == 10, text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":"),
      text[16] == UInt8(ascii: ":"), text[19] == UInt8(ascii: "."), text[23] == UInt8(ascii: "Z")
    else { return nil }
    for index in 0..<10 where text[index] != day[index] { return nil }
    guard let hour = Self.number(text, 11, 2), let minute = Self.number(text, 14, 2),
      let second = Self.number(text, 17, 2), let fraction = Self.number(text, 20, 3), hour < 24, minute < 60,
      second < 60
    else { return nil }
    return dayStart + ((hour * 60 + minute) * 60 + second) * 1000 + fraction
  }

  private mutating func remember(dayOf time: Int64) {
    let intoDay = time % Self.dayLength
    dayStart = time - (intoDay < 0 ? intoDay + Self.dayLength : intoDay)
    day = Array(UnixTime(milliseconds: dayStart).timestamp.utf8.prefix(10))
  }

  private static func append(_ value: Int64, _ width: Int, _ end: UInt8, to bytes: inout [UInt8]) {
    if width == 3 { bytes.append(UInt8(ascii: "0") + UInt8(value / 100)) }
    bytes.append(UInt8(ascii: "0") + UInt8(value / 10 % 10))
    bytes.append(UInt8(ascii: "0") + UInt8(value % 10))
    bytes.append(end)
  }

  private static func number(_ text: Span<UInt8>, _ start: Int, _ width: Int) -> Int64? {
    var value: Int64 = 0
    for index in start..<start + width {
      guard text[index] >= UInt8(ascii: "0"), text[index] <= UInt8(ascii: "9") else { return nil }
      value = value * 10 + Int64(text[index] - UInt8(ascii: "0"))
    }
    return value
  }

  private static let dayLength: Int64 = 86_400_000
  /// 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z.
  private static let earliest: Int64 = -62_167_219_200_000
  private static let latest: Int64 = 253_402_300_799_999
}
