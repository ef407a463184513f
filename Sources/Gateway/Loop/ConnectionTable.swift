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

/// Values by slot, each with the generation of its token beside it.
struct TokenTable<Value> {
  private struct Place {
    var generation: UInt32
    var value: Value?
  }

  private var places: [Place] = []
  private var free: [Int] = []
  private var generation: UInt32

  /// - Parameter generation: the last one used; tokens go on from there.
  init(generation: UInt32 = 0) {
    self.generation = generation
  }

  var count: Int { places.count - free.count }

  /// A token for a value about to be made; `insert` must follow.
  mutating func reserve() -> Token {
    // The highest generation stays unused: it belongs to listeners and the mailbox.
    generation = generation >= .max - 1 ? 1 : generation + 1
    if let slot = free.popLast() {
      places[slot].generation = generation
      return Token(slot: slot, generation: generation)
    }
    places.append(Place(generation: generation, value: nil))
    return Token(slot: places.count - 1, generation: generation)
  }

  mutating func insert(_ value: Value, at token: Token) {
    guard names(token) else { fatalError("TokenTable: a value for a token that was not reserved") }
    places[token.slot].value = value
  }

  /// Nothing when the token is stale: its slot is somebody else's by now.
  mutating func release(_ token: Token) {
    guard names(token) else { return }
    // No token has generation 0, so that a second release of this one is stale.
    places[token.slot] = Place(generation: 0, value: nil)
    free.append(token.slot)
  }

  func find(_ token: Token) -> Value? {
    names(token) ? places[token.slot].value : nil
  }

  func forEach(_ body: (Value) -> Void) {
    for place in places {
      if let value = place.value { body(value) }
    }
  }

  private func names(_ token: Token) -> Bool {
    token.slot < places.count && places[token.slot].generation == token.generation && token.generation != 0
  }
}

typealias ConnectionTable = TokenTable<Connection>

extension TokenTable where Value == Connection {
  mutating func insert(_ connection: Connection) {
    insert(connection, at: connection.token)
  }
}
