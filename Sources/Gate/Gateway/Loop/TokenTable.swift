/// A loop's values of one kind by slot, each with the generation of its token beside it.
internal import Scheduling

struct TokenTable<Value> {
  private struct Place {
    var generation: UInt32
    var value: Value?
  }

  private let kind: Token.Kind
  private var places: [Place] = []
  private var free: [Int] = []
  private var generation: UInt32

  /// - Parameter generation: the last one used; tokens go on from there.
  init(of kind: Token.Kind, generation: UInt32 = 0) {
    self.kind = kind
    self.generation = generation
  }

  var count: Int { places.count - free.count }

  /// A token for a value about to be made; `insert` must follow.
  mutating func reserve() -> Token {
    // 0 stays unused, so that no number of a place that is free finds anything.
    generation = generation == .max ? 1 : generation + 1
    if let slot = free.popLast() {
      places[slot].generation = generation
      return Token(kind, slot: slot, generation: generation)
    }
    places.append(Place(generation: generation, value: nil))
    return Token(kind, slot: places.count - 1, generation: generation)
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
    token.kind == kind && token.slot < places.count && places[token.slot].generation == token.generation
      && token.generation != 0
  }
}
