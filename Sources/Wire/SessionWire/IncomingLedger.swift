/// The counted messages from the app to the gate (docs/sessions.md, "Counting"): taken when they wait for the game,
/// handled when the game's socket has accepted their last byte.
///
/// Where each message ends in the queue to the game is noted as its distance from the one before, in bytes of seven
/// bits: the notes never take more room than the queue itself.
package import Time

package struct IncomingLedger: Equatable, Sendable {
  /// How many are whole and in the queue, or were left out with a reason.
  package private(set) var taken: Int
  /// How many the game's socket has accepted.
  package private(set) var handled: Int
  /// When the app is told. Whoever sends an `ack` says so to it.
  package var schedule = AckSchedule()

  /// Bytes that were put into the queue and that have left it.
  private var queued = 0
  private var accepted = 0
  /// Where the last message ended that was handled, or what was said without one when nothing else waited.
  private var handledEnd = 0
  /// Where the oldest message that is not handled ends, and the newest one.
  private var firstEnd = 0
  private var lastEnd = 0
  /// For the messages behind the oldest.
  private var distances: [UInt8] = []
  private var readDistances = 0

  /// Of a session whose queue is empty.
  package init(taken: Int = 0) {
    self.taken = taken
    handled = taken
  }

  /// How many wait for the game.
  package var unhandled: Int { taken - handled }

  /// A counted message of `size` bytes has put `bytes` into the queue to the game; none if it was refused or unknown.
  package mutating func take(bytes: Int, size: Int, now: MonotonicTime) {
    queued += bytes
    taken += 1
    if queued == accepted {
      handledEnd = accepted
      handled = taken
      schedule.note(messages: 1, bytes: size, now: now)
    } else if unhandled == 1 {
      firstEnd = queued
      lastEnd = queued
    } else {
      noteDistance(queued - lastEnd)
      lastEnd = queued
    }
  }

  /// The queue has got bytes that belong to no counted message: answers of telnet, and the like.
  package mutating func enqueue(bytes: Int) {
    queued += bytes
  }

  /// The game's socket has accepted `bytes` of the queue.
  package mutating func accept(bytes: Int, now: MonotonicTime) {
    accepted += bytes
    if accepted > queued { fatalError("IncomingLedger: more left the queue than was in it") }
    let before = handled
    while unhandled > 0, firstEnd <= accepted {
      handled += 1
      handledEnd = firstEnd
      if unhandled > 0 { firstEnd += nextDistance() }
    }
    if accepted == queued { handledEnd = accepted }
    if handled > before || unhandled > 0 { schedule.note(messages: handled - before, bytes: bytes, now: now) }
  }

  // MARK: Going on elsewhere

  /// What the queue holds, for who goes on with it.
  package var snapshot: IncomingSnapshot {
    var copy = self
    var ends: [Int] = []
    for left in stride(from: unhandled, to: 0, by: -1) {
      ends.append(copy.firstEnd - accepted)
      if left > 1 { copy.firstEnd += copy.nextDistance() }
    }
    return IncomingSnapshot(
      handled: handled, waiting: queued - accepted, ends: ends, isTorn: torn != nil)
  }

  /// Of a session that goes on with the queue that `snapshot` was taken of.
  package init(restoring snapshot: IncomingSnapshot) {
    self.init(taken: snapshot.handled)
    queued = snapshot.waiting
    if snapshot.isTorn { handledEnd = -1 }
    for end in snapshot.ends {
      if unhandled == 0 { firstEnd = end } else { noteDistance(end - lastEnd) }
      lastEnd = end
      taken += 1
    }
  }

  /// How much of the queue is the rest of something whose beginning the game has: up to the end of the oldest message that
  /// waits, or all where there is none. Nil where the game has got whole messages and no more.
  package var torn: (bytes: Int, endsMessage: Bool)? {
    guard accepted > handledEnd, queued > accepted else { return nil }
    return unhandled > 0 ? (firstEnd - accepted, true) : (queued - accepted, false)
  }

  // MARK: Distances

  private mutating func noteDistance(_ distance: Int) {
    var rest = distance
    while rest >= 0x80 {
      distances.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    distances.append(UInt8(rest))
  }

  private mutating func nextDistance() -> Int {
    var distance = 0
    var shift = 0
    while true {
      let byte = distances[readDistances]
      readDistances += 1
      distance |= Int(byte & 0x7F) << shift
      shift += 7
      if byte < 0x80 { break }
    }
    if readDistances == distances.count {
      distances = []
      readDistances = 0
    } else if readDistances > 64, readDistances > distances.count / 2 {
      distances.removeFirst(readDistances)
      readDistances = 0
    }
    return distance
  }
}
