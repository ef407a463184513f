/// Slow and obvious models of the two ledgers: one array entry a message, searched from the front each time.
import SessionWire
import WebSocketWire

/// Of `OutgoingLedger`, with nothing to say again.
struct OutgoingModel {
  struct Message: Equatable {
    let number: Int
    let type: MessageType
    let payload: [UInt8]

    var size: Int { Self.size(payload.count) }

    static func size(_ payload: Int) -> Int {
      payload < 126 ? payload + 2 : payload <= 65_535 ? payload + 4 : payload + 10
    }
  }

  /// What a connection is given.
  enum Item: Equatable {
    case message(Message)
    case gap(messages: Int, next: Int, isLast: Bool)
  }

  let limit: Int
  /// In order; a number that is not there is missing.
  private(set) var kept: [Message] = []
  private(set) var last = 0
  private(set) var acknowledged = 0
  private(set) var highestSent = 0
  private(set) var isAttached = false
  var keepsAll = false
  private(set) var cursor = 1
  /// Numbers that were too large; each costs nine bytes until it is the oldest to be kept.
  private var holes: [Int] = []

  init(limit: Int) { self.limit = limit }

  var bytes: Int { kept.reduce(0) { $0 + $1.size } + holes.count * 9 }

  mutating func append(_ type: MessageType, _ payload: [UInt8]) {
    last += 1
    let message = Message(number: last, type: type, payload: payload)
    if isAttached || keepsAll {
      kept.append(message)
    } else if message.size > limit {
      holes.append(last)
      while bytes > limit, evictOldest() {}
    } else {
      while bytes + message.size > limit, evictOldest() {}
      kept.append(message)
    }
  }

  @discardableResult
  mutating func evictOldest() -> Bool {
    if isAttached { return false }
    let oldest = [kept.first?.number, holes.first].compactMap { $0 }.min()
    guard let oldest else { return false }
    kept.removeAll { $0.number == oldest }
    holes.removeAll { $0 == oldest }
    return true
  }

  mutating func acknowledge(_ number: Int) {
    guard isAttached, number > acknowledged, number < cursor else { return }
    acknowledged = number
    kept.removeAll { $0.number <= number }
    holes.removeAll { $0 <= number }
  }

  mutating func attach(after number: Int) -> Bool {
    guard number >= 0, number <= highestSent else { return false }
    isAttached = true
    keepsAll = false
    cursor = number + 1
    return true
  }

  mutating func detach(keepsAll: Bool) {
    isAttached = false
    self.keepsAll = keepsAll
    if bytes > limit, !keepsAll {
      for message in kept where message.size > limit {
        kept.removeAll { $0 == message }
        holes.append(message.number)
      }
      holes.sort()
      while bytes > limit, evictOldest() {}
    }
  }

  /// The next thing for the connection, which is sent by that.
  mutating func next() -> Item? {
    guard isAttached, cursor <= last else { return nil }
    defer { highestSent = max(highestSent, cursor - 1) }
    if let message = kept.first(where: { $0.number == cursor }) {
      cursor += 1
      return .message(message)
    }
    let next = kept.first { $0.number > cursor }?.number ?? last + 1
    defer { cursor = next }
    let isLast = kept.filter { $0.number >= next }.count == last + 1 - next
    return .gap(messages: next - cursor, next: next, isLast: isLast)
  }
}

/// Of `IncomingLedger`: where each message ends, and how far the game's socket is.
struct IncomingModel {
  private var ends: [Int] = []
  private var queued = 0
  private(set) var accepted = 0

  var waiting: Int { queued - accepted }
  var taken: Int { ends.count }
  /// A message without bytes of its own is handled with the one before it.
  var handled: Int { ends.prefix { $0 <= accepted }.count }

  mutating func take(_ bytes: Int) {
    queued += bytes
    ends.append(queued)
  }

  mutating func enqueue(_ bytes: Int) { queued += bytes }
  mutating func accept(_ bytes: Int) { accepted += bytes }
}
