/// RFC 3339 timestamps in UTC, without a calendar library (days from civil, H. Hinnant's proleptic Gregorian count).
extension UnixTime {
  /// `2026-02-17T00:00:00.000Z`
  package var timestamp: String {
    let day = milliseconds.flooredQuotient(by: 86_400_000)
    var rest = milliseconds - day * 86_400_000
    let (year, month, dayOfMonth) = Self.civil(fromDays: day)
    let fraction = rest % 1000
    rest /= 1000
    var text: [UInt8] = []
    text.reserveCapacity(24)
    Self.append(year, 4, UInt8(ascii: "-"), to: &text)
    Self.append(Int64(month), 2, UInt8(ascii: "-"), to: &text)
    Self.append(Int64(dayOfMonth), 2, UInt8(ascii: "T"), to: &text)
    Self.append(rest / 3600, 2, UInt8(ascii: ":"), to: &text)
    Self.append(rest / 60 % 60, 2, UInt8(ascii: ":"), to: &text)
    Self.append(rest % 60, 2, UInt8(ascii: "."), to: &text)
    Self.append(fraction, 3, UInt8(ascii: "Z"), to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// At least `width` digits, then `end`.
  private static func append(_ value: Int64, _ width: Int, _ end: UInt8, to text: inout [UInt8]) {
    var divisor: UInt64 = 1
    for _ in 1..<width { divisor *= 10 }
    while value.magnitude / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      text.append(UInt8(ascii: "0") + UInt8(value.magnitude / divisor % 10))
      divisor /= 10
    }
    text.append(end)
  }

  /// From RFC 3339 with `T`, seconds, at most nine digits of fraction, and `Z` or a numeric offset; else nil. No leap
  /// seconds: the system's clock has none either.
  package init?(timestamp text: String) {
    self.init(timestamp: Array(text.utf8).span)
  }

  package init?(timestamp text: Span<UInt8>) {
    var position = 0
    func number(_ digits: Int) -> Int64? {
      guard text.count - position >= digits else { return nil }
      var value: Int64 = 0
      for index in position..<position + digits {
        let byte = text[index]
        guard byte >= 0x30, byte <= 0x39 else { return nil }
        value = value * 10 + Int64(byte - 0x30)
      }
      position += digits
      return value
    }
    func take(_ character: Unicode.Scalar) -> Bool {
      guard position < text.count, text[position] == UInt8(ascii: character) else { return false }
      position += 1
      return true
    }
    guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2), take("T"),
      let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2),
      (1...12).contains(month), day >= 1, day <= Self.days(inMonth: month, of: year), hour < 24, minute < 60,
      second < 60
    else { return nil }
    var fraction: Int64 = 0
    if take(".") {
      var digits = 0
      while digits < 9, let digit = number(1) {
        if digits < 3 { fraction = fraction * 10 + digit }
        digits += 1
      }
      guard digits > 0 else { return nil }
      while digits < 3 {
        fraction *= 10
        digits += 1
      }
    }
    var offset: Int64 = 0
    if !take("Z") {
      let sign: Int64
      if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
      guard let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60 else {
        return nil
      }
      offset = sign * (hours * 60 + minutes) * 60
    }
    guard position == text.count else { return nil }
    let days = Self.days(fromCivil: year, month, day)
    let time = (((days * 24 + hour) * 60 + minute) * 60 + second - offset) * 1000 + fraction
    // An offset can lead out of the years that `timestamp` has digits for.
    guard Self.writable.contains(time) else { return nil }
    milliseconds = time
  }

  /// From 0000-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z.
  private static let writable: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

  /// In the Gregorian calendar (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms"), for days since 1970.
  package static func civil(fromDays days: Int64) -> (year: Int64, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = shifted.flooredQuotient(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, Int(month), Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1))
  }

  package static func days(fromCivil year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted.flooredQuotient(by: 400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  package static func days(inMonth month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
    default: 31
    }
  }
}

extension Int64 {
  fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
