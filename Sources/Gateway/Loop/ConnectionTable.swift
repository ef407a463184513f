/// A loop's connections by slot, and the tokens that name them to epoll, to the wheel and to other threads.

/// Names one leg of one connection. A slot is used again, its generation is not: a stale token finds nothing.
struct Token: Hashable, Sendable {
  enum Leg: UInt64, Sendable {
    case client = 0
    case backend = 1
  }

  let rawValue: UInt64

  init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  init(slot: Int, generation: UInt32, leg: Leg = .client) {
    rawValue = UInt64(generation) << 32 | UInt64(slot) << 1 | leg.rawValue
  }

  /// For what is no connection: listeners by their index, and the mailbox's wake-up.
  static func listener(_ index: Int) -> Token { Token(rawValue: .max - 1 - UInt64(index)) }
  static let mailbox = Token(rawValue: .max)

  var listenerIndex: Int? { rawValue > .max - 1024 && rawValue < .max ? Int(.max - 1 - rawValue) : nil }
  var slot: Int { Int(rawValue & 0xFFFF_FFFF) >> 1 }
  var generation: UInt32 { UInt32(rawValue >> 32) }
  var leg: Leg { rawValue & 1 == 0 ? .client : .backend }
  var client: Token { Token(rawValue: rawValue & ~1) }
  var backend: Token { Token(rawValue: rawValue | 1) }
}

struct ConnectionTable {
  private var slots: [Connection?] = []
  private var free: [Int] = []
  private var generation: UInt32 = 0

  var count: Int { slots.count - free.count }

  /// A token for a connection about to be made; `insert` must follow.
  mutating func reserve() -> Token {
    // The highest generation stays unused: it belongs to listeners and the mailbox.
    generation = generation >= .max - 1 ? 1 : generation + 1
    if let slot = free.popLast() { return Token(slot: slot, generation: generation) }
    slots.append(nil)
    return Token(slot: slots.count - 1, generation: generation)
  }

  mutating func insert(_ connection: Connection) {
    slots[connection.token.slot] = connection
  }

  mutating func release(_ token: Token) {
    slots[token.slot] = nil
    free.append(token.slot)
  }

  func find(_ token: Token) -> Connection? {
    guard token.slot < slots.count, let connection = slots[token.slot],
      connection.token.generation == token.generation
    else { return nil }
    return connection
  }

  func forEach(_ body: (Connection) -> Void) {
    for case .some(let connection) in slots { body(connection) }
  }
}
