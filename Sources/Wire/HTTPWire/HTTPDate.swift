/// `IMF-fixdate`, the one form of date that HTTP sends (RFC 9110 §5.6.7).
package enum HTTPDate {
  /// 29 characters; the loop that owns the clock makes one a second.
  package static func format(secondsSince1970 seconds: Int64) -> String {
    let days = Int(seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400)
    let second = Int(seconds) - days * 86_400
    // Years begin in March here, so that the day of a leap year comes last; an era is 400 of them.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = (monthFromMarch + 2) % 12
    let year = yearOfEra + era * 400 + (month < 2 ? 1 : 0)
    let weekday = ((days + 4) % 7 + 7) % 7
    let time = "\(padded(second / 3600)):\(padded(second / 60 % 60)):\(padded(second % 60))"
    return "\(weekdays[weekday]), \(padded(day)) \(months[month]) \(padded(year, 4)) \(time) GMT"
  }

  private static func padded(_ number: Int, _ width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
