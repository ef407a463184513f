/// Times of messages and summaries: whole seconds since 1970, as far as JSON's numbers are exact (RFC 8259 §6).

/// A moment of the wall clock.
public struct UnixSeconds: Comparable, Hashable, Sendable {
  /// 0…2⁵³−1.
  public let value: Int64

  /// 2⁵³−1.
  public static let largest: Int64 = 1 << 53 - 1

  /// Nil below 0 and above 2⁵³−1.
  public init?(_ value: Int64) {
    guard (0...Self.largest).contains(value) else { return nil }
    self.value = value
  }

  /// The nearest one that there is.
  public init(clamping value: Int64) {
    self.value = min(max(value, 0), Self.largest)
  }

  /// The end of time where the sum lies beyond it.
  public static func + (time: Self, seconds: Int64) -> Self {
    let (sum, overflow) = time.value.addingReportingOverflow(seconds)
    return Self(clamping: overflow ? (seconds > 0 ? .max : .min) : sum)
  }

  /// How many seconds `time` is behind `other`, or before it where negative.
  public static func - (time: Self, other: Self) -> Int64 { time.value - other.value }

  /// Whether the first one comes before the other.
  public static func < (left: Self, right: Self) -> Bool { left.value < right.value }

  /// As messages have it: eight bytes, the highest first.
  var bytes: [UInt8] { UInt64(value).bigEndianBytes }
}
