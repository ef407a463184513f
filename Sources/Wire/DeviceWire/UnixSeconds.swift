/// Times of messages and summaries: whole seconds since 1970, as far as JSON's numbers are exact (RFC 8259 §6).
package import Time

package struct UnixSeconds: Comparable, Hashable, Sendable {
  /// 0…2⁵³−1.
  package let value: Int64

  package static let largest: Int64 = 1 << 53 - 1

  /// Nil below 0 and above 2⁵³−1.
  package init?(_ value: Int64) {
    guard (0...Self.largest).contains(value) else { return nil }
    self.value = value
  }

  /// The second that has begun; the first one for times before 1970.
  package init(_ time: UnixTime) {
    value = min(max(time.seconds, 0), Self.largest)
  }

  /// The end of time where the sum lies beyond it.
  package static func + (time: Self, seconds: Int64) -> Self {
    let (sum, overflow) = time.value.addingReportingOverflow(seconds)
    return Self(clamping: overflow ? (seconds > 0 ? .max : .min) : sum)
  }

  /// How many seconds `time` is behind `other`, or before it where negative.
  package static func - (time: Self, other: Self) -> Int64 { time.value - other.value }

  package static func < (left: Self, right: Self) -> Bool { left.value < right.value }

  private init(clamping value: Int64) {
    self.value = min(max(value, 0), Self.largest)
  }

  /// As messages have it: eight bytes, the highest first.
  var bytes: [UInt8] { UInt64(value).bigEndianBytes }
}
