/// Sessions to be kept, memory that notes each store, and numbers that come again.
import Addresses
import Bytes
import Kit
import Synchronization
import Time
import TelnetWire
import Testing

@testable import Keeping

extension SplitMix {
  mutating func bytes(_ counts: ClosedRange<Int>) -> [UInt8] {
    (0..<Int.random(in: counts, using: &self)).map { _ in .random(in: 0...255, using: &self) }
  }

  mutating func printable(_ counts: ClosedRange<Int>) -> [UInt8] {
    (0..<Int.random(in: counts, using: &self)).map { _ in .random(in: 0x21...0x7E, using: &self) }
  }

  mutating func digest() -> Bytes32 { Bytes32(words: next(), next(), next(), next()) }

  mutating func flip() -> Bool { .random(using: &self) }
}

extension KeptDescription {
  /// Anything that a session may be, short enough for all of it to have room.
  static func random(using random: inout SplitMix) -> Self {
    let credentials: [KeptCredential] = [
      .none, .assertion(KeyIdentifier(random.digest())),
      .certificate(subject: "Zoë", publicKey: random.digest(), terms: nil),
      .certificate(
        subject: "Zoë", publicKey: random.digest(),
        terms: KeptCredential.Terms(
          authority: random.next(), end: UnixTime(milliseconds: Int64(bitPattern: random.next())))),
      .device(id: random.bytes(16...16), attestedKey: nil),
      .device(id: random.bytes(16...16), attestedKey: KeyIdentifier(random.digest())),
    ]
    let address = random.flip() ? IPAddress(v4: 0x7F00_0001) : IPAddress(v6: random.next(), random.next())
    var description = KeptDescription(
      ids: random.flip() ? [random.digest()] : [random.digest(), random.digest()],
      credential: credentials.randomElement(using: &random) ?? .none, number: random.next() >> 20,
      startedAt: MonotonicTime(nanoseconds: random.next()),
      changedAt: MonotonicTime(nanoseconds: random.next()),
      source: Endpoint(address: address, port: .random(in: 0...65_535, using: &random)), leg: random.next())
    if random.flip() { description.charset = Array("windows-1251".utf8) }
    if random.flip() { description.earlySize = TerminalSize(columns: 80, rows: 24) }
    if random.flip() {
      var client = ClientDescription()
      if random.flip() { client.name = ClientText(random.printable(1...9)) }
      if random.flip() { client.version = ClientText(random.printable(1...9)) }
      if random.flip() { client.terminal = ClientText(random.printable(1...9)) }
      client.hasTrueColor = random.flip()
      client.isScreenReader = random.flip()
      if random.flip() { client.size = TerminalSize(columns: 65_535, rows: 1) }
      if random.flip() { client.gmcp = [Array("Char 1".utf8), []] }
      description.client = client
    }
    if random.flip() {
      description.owed = random.bytes(1...20)
      description.owedEndsMessage = random.flip()
      description.owedIsWhole = random.flip()
    }
    description.doubt = random.flip() ? 0 : 3
    description.isTorn = random.flip()
    description.isOver = random.flip()
    return description
  }
}

extension KeptProgress {
  static func random(using random: inout SplitMix) -> Self {
    var progress = KeptProgress()
    progress.taken = .random(in: 0...1 << 40, using: &random)
    progress.handled = .random(in: 0...progress.taken, using: &random)
    progress.last = .random(in: 0...1 << 40, using: &random)
    progress.highestSent = .random(in: 0...progress.last, using: &random)
    progress.acknowledged = .random(in: 0...progress.highestSent, using: &random)
    progress.bytesFromGame = random.next()
    progress.bytesFromPlayer = random.next()
    progress.telnet.place = TelnetState.Place(rawValue: .random(in: 0...7, using: &random)) ?? .data
    progress.telnet.gameSaidCR = random.flip()
    progress.telnet.appTypedCR = random.flip()
    progress.telnet.isAttached = random.flip()
    progress.telnet.isHelloDue = random.flip()
    progress.telnet.terminalTypeStep = .random(in: 0...4, using: &random)
    progress.telnet.terminalTypesDue = .random(in: 0...4, using: &random)
    progress.telnet.bodyBytes = .random(in: 0...65_538, using: &random)
    progress.telnet.ofGame.bits = .random(in: 0..<1 << 11, using: &random)
    progress.telnet.ofGate.bits = .random(in: 0..<1 << 11, using: &random)
    let count = UInt64.random(in: 0...3, using: &random)
    progress.held = count << 56 | random.next() & (1 << (count * 8) - 1)
    progress.bytesTaken = random.next()
    progress.isLossUnknown = random.flip()
    return progress
  }
}

extension SlotLayout {
  /// Of another program, which has swapped two counts.
  static let swapped = SlotLayout(
    number: 2,
    progress: { (words) throws(KeptError) in
      var words = words
      (words[0], words[1]) = (words[1], words[0])
      return try KeptProgress(words: words)
    }, description: SlotLayout.first.description)
}

/// Memory that notes what was stored, so that a test can end it anywhere.
final class NotedMemory: SlotMemory {
  /// One store of a word, or several in no order.
  typealias Store = [(index: Int, word: UInt64)]

  private struct State {
    var words: [UInt64]
    var stores: [Store] = []
  }

  private let state: Mutex<State>

  init(_ words: [UInt64]) { state = Mutex(State(words: words)) }

  var words: [UInt64] { state.withLock { $0.words } }

  /// Those since this was asked last.
  func takeStores() -> [Store] {
    state.withLock { state in
      defer { state.stores = [] }
      return state.stores
    }
  }

  func load(at index: Int) -> UInt64 { state.withLock { $0.words[index] } }

  func store(_ word: UInt64, at index: Int) { store([(index, word)]) }

  func store(_ words: Span<UInt64>, at index: Int) {
    store(words.indices.map { (index + $0, words[$0]) })
  }

  private func store(_ store: Store) {
    state.withLock { state in
      for (index, word) in store { state.words[index] = word }
      state.stores.append(store)
    }
  }
}

struct Missing: Error {}

/// `#require` of what has no copy.
func present<Value: ~Copyable>(_ value: consuming Value?) throws -> Value {
  switch consume value {
  case .some(let value): return value
  case nil: throw Missing()
  }
}
