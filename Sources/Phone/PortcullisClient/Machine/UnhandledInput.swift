/// The app's messages that count, from being typed until the gate has acknowledged them.
///
/// Numbers go with the order alone: the first of `messages` is number `handled` + 1.
struct UnhandledInput {
  struct Message: Equatable {
    var isText: Bool
    var bytes: [UInt8]
    /// When it was typed.
    var at: Double
    /// It only takes a number: nothing is to be sent in it.
    var isEmptied = false
  }

  private(set) var messages: [Message] = []
  private var bytes = 0
  /// How many of the session's messages the gate has acknowledged.
  private(set) var handled = 0
  /// How many of `messages` are on their way on this connection, or taken by the gate on an earlier one.
  private(set) var sent = 0
  /// How many of them have ever been sent, so that the gate may have taken them.
  private var everSent = 0
  /// How many of the session's messages the gate has said that it took.
  private(set) var taken = 0

  var isEmpty: Bool { messages.isEmpty }
  var hasUnsent: Bool { sent < messages.count }

  // MARK: In

  /// Whether there is room for one more message.
  func hasRoom(isAttached: Bool) -> Bool {
    messages.count < SessionLimit.keptMessages && bytes < SessionLimit.keptBytes
      && (isAttached || messages.count - everSent < SessionLimit.waitingMessages)
  }

  mutating func append(_ message: Message) {
    messages.append(message)
    bytes += message.bytes.count
  }

  // MARK: Out

  /// The next one to be sent on this connection.
  mutating func next() -> Message? {
    guard sent < messages.count else { return nil }
    defer {
      sent += 1
      everSent = max(everSent, sent)
    }
    return messages[sent]
  }

  /// Ignored when it takes back what was acknowledged, or goes beyond what was sent.
  mutating func acknowledge(_ received: Int) {
    guard received > handled, received <= handled + sent else { return }
    remove(received - handled)
  }

  private mutating func remove(_ count: Int) {
    bytes -= messages.prefix(count).reduce(0) { $0 + $1.bytes.count }
    messages.removeFirst(count)
    handled += count
    sent = max(0, sent - count)
    everSent = max(0, everSent - count)
  }

  // MARK: Connections and sessions

  /// The session is one of an earlier start of the app, whose messages nobody has any more. What was typed since waits.
  mutating func adopt(received: Int) {
    handled = received
    taken = received
  }

  /// The gate has taken `received` messages of this session: what is after them is sent again.
  /// - Returns: whether that can be.
  mutating func resume(after received: Int) -> Bool {
    guard received >= handled, received <= handled + everSent else { return false }
    sent = received - handled
    taken = received
    return true
  }

  /// Another session begins.
  /// - Parameter keepsUnsent: there was no session that the input was meant for.
  /// - Returns: how many messages are dropped.
  mutating func begin(keepsUnsent: Bool) -> Int {
    let dropped = keepsUnsent ? messages.prefix(everSent) : messages[...]
    let count = dropped.count { !$0.isEmptied }
    remove(dropped.count)
    handled = 0
    sent = 0
    everSent = 0
    taken = 0
    return count
  }

  /// Drops what was typed at `moment` or before and is not on its way. What the gate may have taken becomes empty, so that
  /// it keeps its number.
  /// - Returns: how many messages.
  mutating func drop(until moment: Double) -> Int {
    var dropped = 0
    for index in messages.indices[sent...] where messages[index].at <= moment && !messages[index].isEmptied {
      bytes -= messages[index].bytes.count
      messages[index] = Message(isText: false, bytes: [], at: messages[index].at, isEmptied: true)
      dropped += 1
    }
    let waiting = messages[everSent...].filter { !$0.isEmptied }
    messages.replaceSubrange(everSent..., with: waiting)
    return dropped
  }

  /// When the oldest one was typed that is not on its way.
  var oldestUnsent: Double? { messages[sent...].first { !$0.isEmptied }?.at }
}
