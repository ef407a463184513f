/// The `Date` field's value, made once a second (RFC 9110 §6.6.1).
internal import HTTPWire
package import Time

package struct DateCache {
  private var text = ""
  private var madeAt: MonotonicTime?

  package init() {}

  package mutating func text(at now: MonotonicTime, clock: any Clock) -> String {
    if let madeAt, now - madeAt < .milliseconds(500) { return text }
    madeAt = now
    text = HTTPDate.format(secondsSince1970: clock.wall().seconds)
    return text
  }
}
