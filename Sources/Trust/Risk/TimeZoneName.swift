/// A time zone as a phone or a database names it, so that two can be told apart: by a name of the IANA time zone database, or by
/// how far it is from UTC.
internal import DeviceWire

struct TimeZoneName {
  private let text: String
  private let rules: [TimeZoneRule]?

  /// Nil for no name.
  init?(_ text: String?) {
    guard let text, !text.isEmpty else { return nil }
    self.text = text
    rules = Self.offset(text).map { [TimeZoneRule(offset: $0)] } ?? TimeZoneTable.rules(of: text)
  }

  /// Whether clocks show different times in the two. Names of which one is in no table differ as texts do; nil where one of them
  /// is, and the other is no name but an offset.
  func differs(from other: TimeZoneName, at time: UnixSeconds) -> Bool? {
    if let mine = rules, let theirs = other.rules {
      return Set(mine.map { $0.offset(at: time) }).isDisjoint(with: theirs.map { $0.offset(at: time) })
    }
    if Self.offset(text) != nil || Self.offset(other.text) != nil { return nil }
    return text != other.text
  }

  /// Minutes to the east, of `+05:30`, `+0530`, `+5`, and the same behind `GMT`, `UTC` or `UT`; nil for names. `Etc/GMT+5` and
  /// `EST5EDT`, which count to the west, are names.
  private static func offset(_ text: String) -> Int? {
    let prefix = ["GMT", "UTC", "UT"].first { text.hasPrefix($0) } ?? ""
    var rest = Array(text.utf8.dropFirst(prefix.utf8.count))
    guard let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
    rest.removeFirst()
    if let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
      guard colon == rest.count - 3 else { return nil }
      rest.remove(at: colon)
      guard rest.count >= 3 else { return nil }
    }
    guard (1...4).contains(rest.count),
      rest.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    let digits = rest.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    let (hours, minutes) = rest.count <= 2 ? (digits, 0) : (digits / 100, digits % 100)
    guard hours <= 23, minutes <= 59 else { return nil }
    return (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -1 : 1)
  }
}
