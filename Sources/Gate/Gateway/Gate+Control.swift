/// What the operator sees of the running gate and may do to it (docs/running.md, "Control socket"), from any thread
/// but a loop's.
package import Admission
package import Bytes
package import KeyStore
package import PortcullisProtocol
internal import Scheduling
internal import Synchronization
internal import System
package import Telemetry
package import Time

/// Numbers of one moment, over all loops.
package struct GateActivity: Sendable {
  /// By row of `OperatorNumber`, in its order.
  package let numbers: [(row: OperatorNumber, value: Int)]
  /// Those that occurred, in the order of `RefusalCode`.
  package let refusals: [(code: RefusalCode, count: Int)]
  /// By loop.
  package let turns: [TurnReading]
  package let store: KeyStoreStatistics
}

extension Gate {
  package var activity: GateActivity {
    let numbers = shared.numbers
    var refusals: [RefusalCode: Int] = [:]
    for counters in shared.counters {
      for (code, count) in counters.refusalsByCode { refusals[code, default: 0] += count }
    }
    return GateActivity(
      numbers: OperatorNumber.all.map { ($0, $0.read(numbers)) },
      refusals: RefusalCode.allCases.compactMap { code in refusals[code].map { (code, $0) } },
      turns: shared.counters.map(\.turns.reading), store: numbers.store)
  }

  /// Those that are admitted and not over.
  package var sessionCount: Int { shared.sessions.value }

  package var storeStatistics: KeyStoreStatistics { shared.storeStatistics }

  // MARK: Sessions

  /// Sessions whose `101` is out, of all loops; nil when a loop does not answer within `time`.
  package func sessions(within time: Duration = .seconds(5)) -> [SessionDescription]? {
    let gathering = Gathering(loops: shared.mailboxes.count)
    shared.postToAll(.listSessions { found in gathering.add(found) })
    return gathering.wait(until: SystemClock().monotonic() + time)
  }

  /// Ends the sessions that `isMeant` picks with 1008, and waits until they are gone, those too that are on their way from
  /// one loop to another.
  /// - Returns: how many have ended, and how many are still there; nil as for `sessions`.
  package func closeSessions(
    where isMeant: @escaping @Sendable (SessionDescription) -> Bool
  ) -> (ended: Int, left: Int)? {
    shared.closeSessions(where: isMeant)
  }

  // MARK: Keys

  package enum KeyRevocation: Equatable, Sendable {
    /// A key that could not be written stands in memory, and the next snapshot that succeeds will hold it.
    case revoked(since: UnixTime, Revocation.Outcome)
    case unknownKey
    /// The store has not said in time whether the key is refused: it may still come true.
    case unconfirmed
    /// The store is closing.
    case unavailable
  }

  /// Revokes the key, ends its sessions with 1008, and waits for both to have come true.
  /// - Parameters:
  ///   - patience: how long the store has until the key is refused.
  ///   - meanwhile: what else is to end with it, once it is refused.
  package func revoke(
    _ keyID: KeyIdentifier, reason: RevocationReason? = nil, now: UnixTime,
    within patience: Duration = CommitResult.deadline, meanwhile: () -> Void = {}
  ) -> KeyRevocation {
    let order = shared.revocations.begin()
    let verdict = ResultWait<RevokeVerdict>()
    shared.revocations.revoke(keyID, reason: reason, now: now, verdict: { verdict.complete($0) })
    switch verdict.wait(within: patience) {
    case .revoked(let since):
      meanwhile()
      return .revoked(since: since, shared.revocations.settle(order))
    case .unknownKey:
      shared.revocations.giveUp(order)
      return .unknownKey
    case .unavailable:
      shared.revocations.giveUp(order)
      return .unavailable
    case nil:
      shared.revocations.giveUp(order)
      return .unconfirmed
    }
  }

  /// Removes keys without use since `cutoff`; nil when that could not be made durable.
  package func prune(unusedSince cutoff: UnixTime) -> Int? {
    let (removed, commit) = (ResultWait<Int>(), CommitWait())
    let register = shared.register
    shared.store.prune(
      unusedSince: cutoff, isInUse: { register.hasSessions(of: $0) }, removed: { removed.complete($0) },
      completion: { commit.complete($0) })
    guard let removed = removed.wait(within: Self.storeTime) else { return nil }
    return commit.wait(within: CommitResult.deadline) == .committed ? removed : nil
  }

  /// Takes keys of another gate, good until `imported` says; nil when that could not be made durable, which leaves open what
  /// of it stands. To be done again then: what is there stays as it is.
  package func adopt(_ keys: [ForeignKey], _ imported: KeyImport, appID: String?) -> ImportVerdict? {
    let (verdict, commit) = (ResultWait<ImportVerdict>(), CommitWait())
    shared.store.adopt(
      keys, imported, appID: appID, verdict: { verdict.complete($0) }, completion: { commit.complete($0) })
    guard let verdict = verdict.wait(within: Self.storeTime),
      commit.wait(within: CommitResult.deadline) == .committed
    else { return nil }
    if verdict.taken > 0 { shared.log.keysImported(verdict.taken, imported) }
    return verdict
  }

  /// For a walk through all keys, below what a command waits.
  private static let storeTime: Duration = .seconds(9)

  /// Whether each loop has done what it was asked so far.
  func waitForLoops() -> Bool { shared.waitForLoops() }
}

extension Shared {
  /// `Gate.closeSessions`: each loop is asked once, and not again.
  func closeSessions(
    where isMeant: @escaping @Sendable (SessionDescription) -> Bool
  ) -> (ended: Int, left: Int)? {
    let order = ClosingOrder(loops: mailboxes.count, where: isMeant)
    closing.begin(order)
    defer { closing.finish(order) }
    postToAll(.close(order))
    guard order.unasked.wait(within: Self.endingTime) == 0, waitForLoops() else { return nil }
    return order.result
  }

  fileprivate func waitForLoops() -> Bool {
    let latch = CountDownLatch(count: mailboxes.count)
    postToAll(.pass(latch))
    return latch.wait(within: Self.endingTime) == 0
  }

  /// A session that is told to end with 1008 ends in that turn of its loop, whatever its player does. So the time is
  /// only ever over when a loop hangs.
  fileprivate static let endingTime: Duration = .seconds(6)
}

/// What each loop says, until all have said it.
private final class Gathering: Sendable {
  private struct State {
    var missing: Int
    var found: [SessionDescription] = []
  }

  private let state: Mutex<State>
  private let signal = Signal()

  init(loops: Int) {
    state = Mutex(State(missing: loops))
  }

  func add(_ sessions: [SessionDescription]) {
    let isLast = state.withLock { state in
      state.found += sessions
      state.missing -= 1
      return state.missing == 0
    }
    if isLast { signal.ring() }
  }

  func wait(until deadline: MonotonicTime) -> [SessionDescription]? {
    while !state.withLock({ $0.missing == 0 }) {
      if !signal.wait(until: deadline) { return state.withLock { $0.missing == 0 ? $0.found : nil } }
    }
    return state.withLock { $0.found }
  }
}
