import Kit
import Testing

@testable import Gateway
@testable import Scheduling

@Suite struct TokenTests {
  @Test(arguments: Token.Kind.allCases, [0, 1, 2, 19_999, 65_535, 1 << 30 - 1])
  func holdsItsParts(kind: Token.Kind, slot: Int) {
    for generation in [0, 1, 2, 0x8000_0000, UInt32.max] as [UInt32] {
      let token = Token(kind, slot: slot, generation: generation)
      #expect(token.kind == kind)
      #expect(token.slot == slot)
      #expect(token.generation == generation)
      #expect(Token(rawValue: token.rawValue) == token)
      #expect(Token(kind, number: token.number) == token)
    }
  }

  @Test func listenersAndMailboxAreNoConnections() {
    #expect(Token.mailbox.kind == .mailbox)
    for index in [0, 1, 15, 1000] {
      #expect(Token.listener(index).kind == .listener)
      #expect(Token.listener(index).slot == index)
    }
  }
}

@Suite struct TokenTableTests {
  @Test func aTokenFindsItsValue() {
    var table = TokenTable<String>(of: .connection)
    let token = table.reserve()
    #expect(table.find(token) == nil)
    table.insert("a", at: token)
    #expect(table.find(token) == "a")
    #expect(table.count == 1)
  }

  @Test func aStaleTokenFindsNothing() {
    var table = TokenTable<String>(of: .connection)
    let first = table.reserve()
    table.insert("a", at: first)
    table.release(first)
    #expect(table.find(first) == nil)
    let second = table.reserve()
    #expect(second.slot == first.slot)
    #expect(second.generation != first.generation)
    table.insert("b", at: second)
    #expect(table.find(first) == nil)
    #expect(table.find(second) == "b")
  }

  @Test func aStaleReleaseChangesNothing() {
    var table = TokenTable<String>(of: .connection)
    let first = table.reserve()
    table.insert("a", at: first)
    table.release(first)
    let second = table.reserve()
    table.insert("b", at: second)
    table.release(first)
    #expect(table.find(second) == "b")
    #expect(table.count == 1)
  }

  @Test func strangersFindNothing() {
    var table = TokenTable<String>(of: .connection)
    table.insert("a", at: table.reserve())
    for raw in [0, 1, .max, .max - 1, .max - 2, 1 << 32 | 4, 2 << 32] as [UInt64] {
      #expect(table.find(Token(rawValue: raw)) == nil, "\(raw)")
    }
  }

  /// A connection and a session may have one number: the kind tells them apart.
  @Test func anotherKindFindsNothing() {
    var table = TokenTable<String>(of: .connection)
    let token = table.reserve()
    table.insert("a", at: token)
    for kind in Token.Kind.allCases where kind != .connection {
      #expect(table.find(Token(kind, number: token.number)) == nil)
      table.release(Token(kind, number: token.number))
    }
    #expect(table.find(token) == "a")
  }

  /// 0 belongs to places that are free.
  @Test func generationsWrap() {
    var table = TokenTable<Int>(of: .session, generation: .max - 3)
    var generations: [UInt32] = []
    for _ in 0..<5 {
      let token = table.reserve()
      table.insert(0, at: token)
      generations.append(token.generation)
      table.release(token)
    }
    #expect(generations == [.max - 2, .max - 1, .max, 1, 2])
  }

  @Test(arguments: 0..<10 as Range<UInt64>) func agreesWithADictionary(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var table = TokenTable<Int>(of: .session)
    var model: [Token: Int] = [:]
    var gone: [Token] = []
    for step in 0..<2000 {
      if random.next(below: 5) > 1 || model.isEmpty {
        let token = table.reserve()
        table.insert(step, at: token)
        #expect(model.updateValue(step, forKey: token) == nil)
      } else if let token = model.keys.min(by: { $0.rawValue &* 31 < $1.rawValue &* 31 }) {
        table.release(token)
        model[token] = nil
        gone.append(token)
      }
      #expect(table.count == model.count)
    }
    for (token, value) in model { #expect(table.find(token) == value) }
    for token in gone { #expect(table.find(token) == nil) }
    var seen: [Int] = []
    table.forEach { seen.append($0) }
    #expect(seen.sorted() == model.values.sorted())
  }
}

@Suite struct ArrivalOrderTests {
  private static func token(_ number: Int) -> Token {
    Token(.connection, slot: number, generation: 1)
  }

  @Test func theOldestThatStillWaits() {
    var order = ArrivalOrder()
    var waiting = Set((0..<5).map(Self.token))
    for number in 0..<5 { order.append(Self.token(number), isWaiting: waiting.contains) }
    #expect(order.oldest(isWaiting: waiting.contains) == Self.token(0))
    #expect(order.oldest(isWaiting: waiting.contains) == Self.token(0))
    waiting.remove(Self.token(0))
    waiting.remove(Self.token(1))
    waiting.remove(Self.token(3))
    #expect(order.oldest(isWaiting: waiting.contains) == Self.token(2))
    waiting.remove(Self.token(2))
    #expect(order.oldest(isWaiting: waiting.contains) == Self.token(4))
    #expect(order.oldest { _ in false } == nil)
    order.append(Self.token(9)) { _ in true }
    #expect(order.oldest { _ in true } == Self.token(9))
  }

  /// Whoever stays in front for ever must not make the rest pile up behind.
  @Test func onePatientPeerCostsNoMemory() {
    var order = ArrivalOrder()
    let patient = Self.token(0)
    order.append(patient) { _ in true }
    for number in 1..<200_000 {
      let newcomer = Self.token(number)
      order.append(newcomer) { $0 == patient || $0 == newcomer }
      #expect(order.heldCount <= 2 * ArrivalOrder.compactedAt)
    }
    #expect(order.oldest { $0 == patient } == patient)
  }
}
