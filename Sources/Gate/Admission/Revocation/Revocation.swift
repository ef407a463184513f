/// What is still to happen until a revocation has come true: of a key, of a device with its keys, of what the registry ended by
/// itself (docs/architecture-threads.md, "Revocations"). Pure: it takes events, and returns what is to be done.
///
/// 1. `ordered`: the keys and devices that go are named, by the operator's call or the registry, until the call says that
///    this is all. Each key is refused from its mark in memory on, each device as soon as the door does not know it any more.
///    Only after that sessions are looked up in the register and told to end (`SessionRegister`).
/// 2. `telling`: each loop says that it has done what it was told up to here, and those sessions have ended. What it hands to
///    another loop from then on is judged where it arrives.
/// 3. `arriving`: each loop says so once more. What was on its way between two loops has arrived.
/// 4. `writing`: the key store has yet to say that each key is on the disk as revoked.
/// 5. `settled`.
///
/// An event may come late, twice, or never. What never comes is an outcome that says so: `expired` ends a step that takes too
/// long. What is named while loops are being told has them told again.
package import Bytes

package struct Revocation: Sendable {
  package enum State: Equatable, CaseIterable, Sendable {
    case ordered, telling, arriving, writing, settled
  }

  package enum Action: Equatable, Sendable {
    case nothing
    /// Have the key refused from now on, and written as revoked; then look up its sessions.
    case mark(Mark)
    /// Ask each loop to say when it has done what it was told so far.
    case tell(Round)
    /// The outcome is there for those who wait.
    case settle
  }

  /// One order to refuse a key: a key may be named twice, and each time has an answer of its own.
  package struct Mark: Hashable, Sendable {
    package let key: KeyIdentifier
    let number: UInt64
  }

  /// One question to all loops: an answer to an earlier one says nothing.
  package struct Round: Hashable, Sendable {
    let number: UInt64
  }

  package enum Written: CaseIterable, Sendable {
    case written, failed
    /// Nobody has registered the key.
    case nothingToWrite
  }

  package struct Outcome: Equatable, Sendable {
    package internal(set) var sessionsEnded = 0
    /// They were told to end and had not.
    package internal(set) var sessionsLeft = 0
    /// Not everybody has answered in time: a session may be left.
    package internal(set) var isSilent = false
    /// Not known to be refused: the store has not answered in time, and it may still come true.
    package internal(set) var unmarked: Set<KeyIdentifier> = []
    /// Refused in memory, and not known to be on the disk.
    package internal(set) var unwritten: Set<KeyIdentifier> = []
  }

  package private(set) var state = State.ordered
  /// Whole when it is settled.
  package private(set) var outcome = Outcome()
  private let loops: Range<Int>
  private var isComplete = false
  private var lastNumber: UInt64 = 0
  /// Those that are not known to stand in memory.
  private var unmarked: Set<Mark> = []
  /// Those that the store has not answered for.
  private var waiting: Set<Mark> = []
  private var failed: Set<KeyIdentifier> = []
  private var written: Set<KeyIdentifier> = []
  /// Sessions that were told to end, and those of them that have not.
  private var told: Set<SessionReference> = []
  private var living: Set<SessionReference> = []
  /// Sessions that have ended: one may do so before it is known here that it was told.
  private var over: Set<SessionReference> = []
  private var silent: Set<Int> = []
  private var round: Round?

  package init(loops: Int) {
    self.loops = 0..<loops
  }

  // MARK: What is ordered

  /// A key goes.
  package mutating func end(_ key: KeyIdentifier) -> Action {
    guard state != .settled else { return .nothing }
    let mark = Mark(key: key, number: nextNumber())
    unmarked.insert(mark)
    waiting.insert(mark)
    goBack()
    return .mark(mark)
  }

  /// The mark stands in memory, or there is nothing to be marked.
  /// - Parameter sessions: that were found after that, and told to end.
  package mutating func marked(_ mark: Mark, ending sessions: [SessionReference] = []) -> Action {
    guard unmarked.remove(mark) != nil else { return .nothing }
    return ending(sessions)
  }

  /// A player without a key is refused from now on, and these sessions of his were told to end.
  package mutating func ending(_ sessions: [SessionReference]) -> Action {
    guard state != .settled else { return .nothing }
    for session in sessions {
      told.insert(session)
      if !over.contains(session) { living.insert(session) }
    }
    goBack()
    return goOn()
  }

  /// Nothing more is named.
  package mutating func complete() -> Action {
    isComplete = true
    return goOn()
  }

  // MARK: What comes true

  package mutating func ended(_ session: SessionReference) -> Action {
    over.insert(session)
    living.remove(session)
    return goOn()
  }

  /// A loop has done what it was told before it was asked.
  package mutating func heard(_ round: Round, by loop: Int) -> Action {
    guard round == self.round else { return .nothing }
    silent.remove(loop)
    return goOn()
  }

  package mutating func wrote(_ mark: Mark, _ result: Written) -> Action {
    guard waiting.remove(mark) != nil else { return .nothing }
    switch result {
    case .written: written.insert(mark.key)
    case .failed: failed.insert(mark.key)
    case .nothingToWrite: break
    }
    return goOn()
  }

  /// The time for the present step is over.
  package mutating func expired() -> Action {
    switch state {
    case .ordered, .telling, .arriving:
      outcome.isSilent = true
      state = .writing
      return goOn()
    case .writing: return settle()
    case .settled: return .nothing
    }
  }

  // MARK: Steps

  /// More is named: loops have to be told of it. Once one has not answered in time, none is asked any more.
  private mutating func goBack() {
    if !outcome.isSilent { state = .ordered }
  }

  private mutating func goOn() -> Action {
    switch state {
    case .ordered: return isComplete && unmarked.isEmpty ? ask(.telling) : .nothing
    case .telling: return silent.isEmpty && living.isEmpty ? ask(.arriving) : .nothing
    case .arriving:
      guard silent.isEmpty && living.isEmpty else { return .nothing }
      state = .writing
      return goOn()
    case .writing: return waiting.isEmpty ? settle() : .nothing
    case .settled: return .nothing
    }
  }

  private mutating func ask(_ state: State) -> Action {
    let round = Round(number: nextNumber())
    self.state = state
    self.round = round
    silent = Set(loops)
    return .tell(round)
  }

  private mutating func settle() -> Action {
    state = .settled
    outcome.sessionsLeft = living.count
    outcome.sessionsEnded = told.count - living.count
    outcome.unmarked = Set(unmarked.map(\.key))
    outcome.unwritten = failed.union(waiting.map(\.key)).subtracting(written)
    return .settle
  }

  private mutating func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }
}
