/// When either side tells the other how far it has come (docs/sessions.md, "Counting"): after so many messages, so
/// many bytes, or so long.
package import Time

package struct AckSchedule: Equatable, Sendable {
  package static let messageLimit = 32
  package static let byteLimit = 16 * 1024
  package static let delay = Duration.seconds(5)

  private var messages = 0
  private var bytes = 0
  /// When the first of `messages` has waited long enough.
  package private(set) var deadline = MonotonicTime.never

  package init() {}

  /// Messages that are to be acknowledged, and bytes of messages.
  package mutating func note(messages: Int, bytes: Int, now: MonotonicTime) {
    self.messages += messages
    self.bytes += bytes
    if self.messages > 0, deadline == .never { deadline = now + Self.delay }
  }

  package func isDue(at now: MonotonicTime) -> Bool {
    messages > 0 && (messages >= Self.messageLimit || bytes >= Self.byteLimit || deadline <= now)
  }

  /// One is due at once: the connection is new, and what was said on the old one may be lost.
  package mutating func demand(now: MonotonicTime) {
    messages = max(messages, 1)
    deadline = min(deadline, now)
  }

  /// An `ack` is on its way.
  package mutating func acknowledged() {
    self = AckSchedule()
  }
}
