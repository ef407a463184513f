import Configuration
import Glibc
import Kit
import Stores
import Synchronization
import Testing

@testable import Gateway
@testable import Keeping
@testable import Sockets
@testable import System
@testable import Telemetry
@testable import Upstream

/// Keeps descriptors in this process, as a service manager does in its own.
final class MemoryDescriptors: DescriptorKeeping {
  private struct State: Sendable {
    var numbers: [StoredName: Int32] = [:]
    var said: [String] = []
    var isSilent = false
    var isDeaf = false
  }

  private let state = Mutex(State())

  deinit { for number in state.withLock({ Array($0.numbers.values) }) { _ = close(number) } }

  func store(_ descriptor: borrowing OwnedDescriptor, as name: StoredName) throws(SystemError) {
    let number = descriptor.number
    try answer("+\(name)") { state throws(SystemError) in
      state.numbers[name] = try OwnedDescriptor.duplicate(number).release()
    }
  }

  func remove(_ name: StoredName) throws(SystemError) {
    try answer("-\(name)") { state in
      if let number = state.numbers.removeValue(forKey: name) { _ = close(number) }
    }
  }

  private func answer(
    _ word: String, _ change: (inout State) throws(SystemError) -> Void
  ) throws(SystemError) {
    try state.withLock { (state) throws(SystemError) in
      if state.isSilent { throw SystemError("sendto NOTIFY_SOCKET", EAGAIN) }
      state.said.append(word)
      try change(&state)
    }
  }

  func settle(within time: Duration) -> Bool { state.withLock { !$0.isSilent && !$0.isDeaf } }

  /// Does not answer from now on, or again.
  func setSilent(_ isSilent: Bool) { state.withLock { $0.isSilent = isSilent } }

  /// Takes what it is told, and does not confirm it.
  func setDeaf(_ isDeaf: Bool) { state.withLock { $0.isDeaf = isDeaf } }

  /// What it was told, in order: `+` what it was to keep, `-` what to forget.
  var said: [String] { state.withLock { $0.said } }
  var names: [String] { state.withLock { $0.numbers.keys.map(\.description).sorted() } }

  fileprivate func duplicate(_ name: StoredName) -> OwnedDescriptor? {
    guard let number = state.withLock({ $0.numbers[name] }) else { return nil }
    return try? OwnedDescriptor.duplicate(number)
  }

  fileprivate var legs: [Int: KeptStart.Leg] {
    var legs: [Int: KeptStart.Leg] = [:]
    for name in state.withLock({ Array($0.numbers.keys) }) {
      if case .leg(let slot) = name, let descriptor = duplicate(name) {
        legs[slot] = KeptStart.Leg(Socket(descriptor))
      }
    }
    return legs
  }
}

/// What a gate leaves behind.
final class Estate {
  /// Its folder has the game's socket.
  private let gate: LoopHarness
  let clock: ManualClock
  let store: MemoryStore
  let game: TestGame?
  /// Its slots as they were at that moment.
  let slots: OwnedDescriptor
  let snapshot: OwnedDescriptor

  /// The same with other slots.
  init(_ other: Estate, slots: consuming OwnedDescriptor) throws {
    (gate, clock, store, game) = (other.gate, other.clock, other.store, other.game)
    self.slots = slots
    snapshot = try OwnedDescriptor.duplicate(other.snapshot.number)
  }

  fileprivate init(_ harness: LoopHarness) throws {
    gate = harness
    clock = harness.clock
    store = harness.store
    game = harness.game
    let storeClient = try #require(harness.shared.storeClient)
    let number = storeClient.slots.descriptorNumber
    let before = try SharedMemory.adopt(OwnedDescriptor.duplicate(number), limit: 1 << 24)
    let copy = try SharedMemory.create(name: "copy", wordCount: before.wordCount)
    for index in 0..<before.wordCount {
      let word = before.load(at: index)
      if word != 0 { copy.store(word, at: index) }
    }
    slots = try OwnedDescriptor.duplicate(copy.descriptor.number)
    snapshot = try OwnedDescriptor.duplicate(storeClient.snapshots.descriptorNumber)
  }
}

extension LoopHarness {
  /// The process is no more from one instruction to the next: what was in its slots then is left, and the legs.
  func kill() throws -> Estate {
    let estate = try Estate(self)
    // What it does from here on is done to memory that nobody looks at.
    shared.storeClient?.handOver()
    leave()
    return estate
  }

  /// SIGTERM, and all the time that it takes.
  func restart() throws -> Estate {
    shared.isRestarting.store(true, ordering: .relaxed)
    for loop in loops { loop.receive(.restart(spread: .seconds(1))) }
    pass(.milliseconds(500))
    pass(.seconds(1))
    shared.storeClient?.handOver()
    leave()
    return try Estate(self)
  }

  private func leave() {
    for loop in loops {
      loop.receive(.restart(spread: .zero))
      loop.receive(.abandon)
    }
  }
}

extension KeptStart {
  static func make(
    _ configuration: GateConfiguration, _ store: MemoryDescriptors, _ estate: Estate?, _ log: GateLogger
  ) throws -> KeptStart? {
    var slots: OwnedDescriptor?
    var snapshot: OwnedDescriptor?
    if let estate {
      slots = try OwnedDescriptor.duplicate(estate.slots.number)
      snapshot = try OwnedDescriptor.duplicate(estate.snapshot.number)
    }
    return make(slots, snapshot, store.legs, store, limit: configuration.sessions.mostKept, log: log)
  }
}
