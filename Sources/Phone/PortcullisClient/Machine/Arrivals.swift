/// The gate's messages that count: how many have come, how many the app has handled, and when that is to be acknowledged.
struct Arrivals {
  /// So many have come.
  private(set) var received = 0
  /// So many were handled: what is acknowledged, and what another start of the app says that it has.
  private(set) var handled = 0
  private var receivedBytes = 0
  private var handledBytes = 0
  private var acknowledged = 0
  private var acknowledgedBytes = 0
  /// When the first one was handled that is not acknowledged.
  private var since: Double?
  /// Which session they belong to.
  private let session: Int

  /// - Parameter handled: in a session of before.
  init(session: Int = 0, handled: Int = 0) {
    self.session = session
    self.handled = handled
    received = handled
    acknowledged = handled
  }

  /// Those of another session, in which none has come.
  var next: Arrivals { Arrivals(session: session + 1) }

  // MARK: Counting

  mutating func count(_ size: Int) {
    received += 1
    receivedBytes += size
  }

  /// The next message to come is number `next`.
  mutating func skip(to next: Int) {
    received = next - 1
  }

  /// All that have come so far.
  var mark: ArrivalMark { ArrivalMark(session: session, messages: received, bytes: receivedBytes) }

  mutating func handle(_ mark: ArrivalMark, now: Double) {
    guard mark.session == session, mark.messages > handled else { return }
    handled = mark.messages
    handledBytes = mark.bytes
    since = since ?? now
  }

  // MARK: Acknowledging

  /// When the acknowledgement is due, if one is.
  var due: Double? {
    guard let since else { return nil }
    let isFull =
      handled - acknowledged >= SessionLimit.unacknowledgedMessages
      || handledBytes - acknowledgedBytes >= SessionLimit.unacknowledgedBytes
    return isFull ? since : since + SessionLimit.acknowledgementDelay
  }

  mutating func acknowledge() {
    acknowledged = handled
    acknowledgedBytes = handledBytes
    since = nil
  }
}

/// A place in the order of the gate's messages: all up to here.
package struct ArrivalMark: Equatable, Sendable {
  fileprivate let session: Int
  fileprivate let messages: Int
  fileprivate let bytes: Int
}
