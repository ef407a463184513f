/// Sessions that outlive the process: the slots that they have, and the one thread that speaks to whoever keeps their legs
/// for the next process.
///
/// A loop never waits for that thread: it hands over a duplicate of a leg, or the number of a slot that nobody uses any
/// more. What a session notes in its slot is its loop's own business (`PersistedLeg`). A slot is somebody else's only when the
/// store was told to forget the leg before, as a store keeps two descriptors of one name side by side.
///
/// An app is promised that its session is kept (`"kept":true`) only when the store has confirmed the leg. So the leg goes there
/// before the session begins, and the upgrade waits for the thread's word (`ReservedSlot`).
package import Keeping
package import Scheduling
package import Sockets
internal import Synchronization
package import System
package import Telemetry
internal import Time

/// Keeps descriptors beyond the end of the process (docs/restarts.md, "What a restart keeps").
package protocol DescriptorKeeping: Sendable {
  /// It gets a duplicate; the caller's stays open.
  func store(_ descriptor: borrowing OwnedDescriptor, as name: StoredName) throws(SystemError)
  /// Everything of that name; nothing is as good.
  func remove(_ name: StoredName) throws(SystemError)
  /// Returns when it has done all that it was told before; false when it has not within `time`.
  func settle(within time: Duration) -> Bool
}

extension DescriptorStore: DescriptorKeeping {}

package final class DescriptorStoreClient: Sendable {
  private enum Job: Sendable {
    case store(Duplicate, slot: Int, answer: @Sendable () -> Void)
    case remove(slot: Int)
    /// A leg whose name is no slot's of this file.
    case forget(slot: Int)
  }

  private struct State: Sendable {
    var jobs: [Job] = []
    /// Removals that the store did not hear of; their slots stay taken.
    var owed: [Int] = []
    /// Slots whose legs it does not have.
    var lost: Set<Int> = []
    /// Slots whose legs are on their way: the store has not confirmed them yet.
    var unconfirmed: Set<Int> = []
    /// Those of them that were sent.
    var sent: Set<Int> = []
    /// Until when no upgrade waits for a store that has not confirmed in time.
    var silentUntil: MonotonicTime?
    /// Slots of sessions.
    var used = 0
    /// Until when nothing new is offered to a store that did not take the last thing.
    var pausedUntil: MonotonicTime?
    var isWorking = false
    var isStopping = false
  }

  /// A leg's second descriptor, on its way to the store.
  private final class Duplicate: Sendable {
    let descriptor: OwnedDescriptor

    init(_ descriptor: consuming OwnedDescriptor) {
      self.descriptor = descriptor
    }
  }

  package let slots: SlotFile
  /// For the next process.
  package let snapshots: Handover
  package let store: any DescriptorKeeping
  package let log: GateLogger
  private let state = Monitor(State())
  private let thread = Mutex<JoinHandle?>(nil)
  private let handsOver = Atomic(false)
  private let reservedNumber = Atomic<UInt64>(0)
  /// What the store did not take.
  package let failures = Count()
  /// Sessions that the next process has.
  package let handedOver = Count()

  package init(_ slots: SlotFile, _ snapshots: Handover, _ store: any DescriptorKeeping, log: GateLogger) {
    self.slots = slots
    self.snapshots = snapshots
    self.store = store
    self.log = log
  }

  package func start() throws(SystemError) {
    let handle = JoinHandle(try Thread(name: "keeper") { [self] in run() })
    thread.withLock { $0 = handle }
  }

  /// Returns when all that it was told is done, or was tried.
  package func stop() {
    state.withLock { state, signal in
      state.isStopping = true
      signal.all()
    }
    thread.withLock { $0.take() }?.join()
  }

  // MARK: For loops

  /// A slot for a session that begins, and its leg on the way to the store. Nil when there is none, no descriptor is left,
  /// or the store is in trouble: then the session goes on without.
  /// - Parameter answer: called by the thread when the store has the leg, has not taken it or does not say so in time.
  package func reserve(_ leg: borrowing Socket, answer: @escaping @Sendable () -> Void) -> ReservedSlot? {
    guard isWilling, let slot = slots.reserve() else { return nil }
    do throws(SystemError) {
      let duplicate = Duplicate(try leg.duplicate())
      let isAwaited = state.withLock { state, signal in
        state.used += 1
        state.unconfirmed.insert(slot)
        state.jobs.append(.store(duplicate, slot: slot, answer: answer))
        signal.all()
        return !Self.isAhead(&state.silentUntil)
      }
      return ReservedSlot(slot, isAwaited: isAwaited, storeClient: self)
    } catch {
      slots.release(slot)
      return nil
    }
  }

  private var isWilling: Bool { state.withLock { state, _ in !Self.isAhead(&state.pausedUntil) } }

  private static func isAhead(_ time: inout MonotonicTime?) -> Bool {
    guard let ahead = time else { return false }
    if SystemClock().monotonic() < ahead { return true }
    time = nil
    return false
  }

  /// One more session was taken up, whose leg is in the store.
  package func noteTakenUp() {
    state.withLock { state, _ in state.used += 1 }
  }

  /// What the process before has left in a slot does not go on.
  package func discard(_ slot: Int) {
    state.withLock { state, signal in
      state.jobs.append(.remove(slot: slot))
      signal.all()
    }
  }

  /// The leg was shut down, and its slot says so.
  package func release(_ slot: Int) {
    state.withLock { state, signal in
      state.used -= 1
      state.jobs.append(.remove(slot: slot))
      signal.all()
    }
  }

  /// Up to which numbers the next process does not begin with them again.
  package func noteNumber(_ number: UInt64) {
    if number <= reservedNumber.load(ordering: .relaxed) { return }
    let reserved = number + Self.numbersReserved
    slots.reserveNumbers(upTo: reserved)
    reservedNumber.store(reserved, ordering: .relaxed)
  }

  /// Whether the store has a slot's leg, or will have.
  package func holds(_ slot: Int) -> Bool { state.withLock { state, _ in !state.lost.contains(slot) } }

  /// Whether the store has said that it has a slot's leg.
  func hasConfirmed(_ slot: Int) -> Bool {
    state.withLock { state, _ in !state.lost.contains(slot) && !state.unconfirmed.contains(slot) }
  }

  /// Sessions that have a slot.
  package var used: Int { state.withLock { state, _ in state.used } }

  /// From now on what is dropped is for the next process.
  package func handOver() { handsOver.store(true, ordering: .sequentiallyConsistent) }
  package var isHandingOver: Bool { handsOver.load(ordering: .relaxed) }

  /// The store has a leg that no slot knows.
  package func forget(_ slot: Int) {
    state.withLock { state, signal in
      state.jobs.append(.forget(slot: slot))
      signal.all()
    }
  }

  /// Whether nothing of a session is in the store any more, as far as it was told; waits up to `time`.
  package func isEmpty(within time: Duration) -> Bool {
    let isIdle: Bool? = state.wait(until: SystemClock().monotonic() + time) { state in
      let isEmpty = state.used == 0 && state.jobs.isEmpty && state.owed.isEmpty && !state.isWorking
      return isEmpty ? .done(true) : .wait
    }
    return isIdle == true
  }

  // MARK: The thread

  private func run() {
    while let jobs = next() { carryOut(jobs) }
  }

  /// Nil when there is nothing left to be done. What the store did not hear of is said again in between.
  private func next() -> [Job]? {
    let look: (inout State) -> Waited<[Job]?> = { state in
      if state.jobs.isEmpty { return state.isStopping ? .done(nil) : .wait }
      return .done(Self.take(&state))
    }
    while let retry = state.withLock({ state, _ in Self.retry(state) }) {
      if let jobs = state.wait(until: retry, look) { return jobs }
      sayOwed()
      confirm()
    }
    return state.wait(look)
  }

  /// When the store is spoken to again of what it has not heard, or not confirmed.
  private static func retry(_ state: State) -> MonotonicTime? {
    // The first call after a pause ends it.
    let atOnce = MonotonicTime(nanoseconds: 0)
    let says = state.owed.isEmpty ? nil : state.pausedUntil ?? atOnce
    let asks = state.sent.isEmpty ? nil : state.silentUntil ?? atOnce
    guard let says, let asks else { return says ?? asks }
    return min(says, asks)
  }

  private func sayOwed() {
    let owed = state.withLock { state, _ in
      if state.owed.isEmpty || Self.isAhead(&state.pausedUntil) { return [Int]() }
      state.isWorking = true
      defer { state.owed = [] }
      return state.owed
    }
    if !owed.isEmpty { carryOut(owed.map { .remove(slot: $0) }) }
  }

  /// All that waits, by the calling thread.
  package func carryOutWaiting() { carryOut(state.withLock { state, _ in Self.take(&state) }) }

  private static func take(_ state: inout State) -> [Job] {
    state.isWorking = true
    defer { state.jobs = [] }
    return state.jobs
  }

  private func carryOut(_ jobs: [Job]) {
    var answers: [@Sendable () -> Void] = []
    for job in jobs {
      if case .store(_, _, let answer) = job { answers.append(answer) }
      // Nobody waits a second for each of thousands that the store does not take.
      if isPaused { putOff(job) } else { carryOut(job) }
    }
    if !answers.isEmpty { confirm() }
    state.withLock { state, signal in
      state.isWorking = false
      signal.all()
    }
    for answer in answers { answer() }
  }

  /// Asks the store once for all that was sent. One that is silent gets no promise out of the gate, and has the legs
  /// nevertheless as soon as it reads.
  private func confirm() {
    // What another thread sends meanwhile is not covered.
    let asked = state.withLock { state, _ in Self.isAhead(&state.silentUntil) ? [] : state.sent }
    if asked.isEmpty { return }
    if store.settle(within: Self.patience) {
      state.withLock { state, _ in
        state.unconfirmed.subtract(asked)
        state.sent.subtract(asked)
      }
    } else {
      state.withLock { state, _ in state.silentUntil = SystemClock().monotonic() + Self.pause }
      log.keepingFailed(SystemError("BARRIER", Self.ETIMEDOUT))
    }
  }

  private var isPaused: Bool {
    state.withLock { state, _ in state.pausedUntil.map { SystemClock().monotonic() < $0 } ?? false }
  }

  private func putOff(_ job: Job) {
    state.withLock { state, _ in
      switch job {
      case .store(_, let slot, _): state.lost.insert(slot)
      case .remove(let slot): state.owed.append(slot)
      // Its connection is shut down; what is left is a name that is taken away by the next process.
      case .forget: break
      }
    }
  }

  private func carryOut(_ job: Job) {
    switch job {
    case .store(let duplicate, let slot, _):
      do throws(SystemError) {
        try store.store(duplicate.descriptor, as: .leg(slot: slot))
        state.withLock { state, _ in _ = state.sent.insert(slot) }
      } catch {
        failed(error) { $0.lost.insert(slot) }
      }
    case .remove(let slot): remove(slot)
    case .forget(let slot):
      do throws(SystemError) { try store.remove(.leg(slot: slot)) } catch { failed(error) { _ in } }
    }
  }

  private func remove(_ slot: Int) {
    do throws(SystemError) {
      try store.remove(.leg(slot: slot))
    } catch {
      return failed(error) { $0.owed.append(slot) }
    }
    state.withLock { state, _ in
      state.lost.remove(slot)
      state.sent.remove(slot)
      state.unconfirmed.remove(slot)
    }
    slots.release(slot)
  }

  /// Said once while it lasts: each of thousands of sessions would else write a line.
  private func failed(_ error: SystemError, _ note: (inout State) -> Void) {
    failures.increment()
    let isFirst = state.withLock { state, _ in
      note(&state)
      defer { state.pausedUntil = SystemClock().monotonic() + Self.pause }
      return state.pausedUntil == nil
    }
    if isFirst { log.keepingFailed(error) }
  }

  private static let numbersReserved: UInt64 = 1023
  /// A store that did not take something is left in peace for so long.
  private static let pause: Duration = .seconds(10)
  /// A service manager confirms within milliseconds, unless it reads its own units again. An upgrade waits no longer.
  package static let patience: Duration = .seconds(1)
  private static let ETIMEDOUT: Int32 = 110
}
