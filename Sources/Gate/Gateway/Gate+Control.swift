/// What the operator sees of the running gate and may do to it (docs/running.md, "Control socket"), from any thread
/// but a loop's.
internal import Admission
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

  /// As `Shared.currentStoreStatistics`.
  package var storeStatistics: KeyStoreStatistics { shared.currentStoreStatistics }

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

  package enum Revocation: Equatable, Sendable {
    /// `isDurable` is false when the store could not say so in time: it stands in memory, and the next
    /// snapshot that succeeds will hold it.
    case revoked(since: UnixTime, sessionsEnded: Int, sessionsLeft: Int, isDurable: Bool)
    case unknownKey
    /// The store is closing.
    case unavailable
  }

  /// Revokes the key, ends its sessions with 1008, and waits for both to have come true.
  package func revoke(
    _ keyID: KeyIdentifier, reason: RevocationReason? = nil, now: UnixTime
  ) -> Revocation {
    let commit = CommitWait()
    let verdict = shared.store.revoke(
      keyID, reason: reason, now: now, completion: { result in commit.complete(result) })
    switch verdict {
    case .unknownKey: return .unknownKey
    case .unavailable: return .unavailable
    case .revoked(let since):
      // After the mark in the store: see `SessionRegister`.
      let sessions = shared.register.sessions(of: keyID)
      let left = end(sessions, .keyRevoked).wait(within: Self.endingTime)
      // One that was on its way between two loops is met by the mark where it arrives: after the first of these it has been
      // posted, and after the second it has arrived.
      if waitForLoops() { _ = waitForLoops() }
      return .revoked(
        since: since, sessionsEnded: sessions.count - left, sessionsLeft: left,
        isDurable: commit.wait(within: CommitResult.deadline) == .committed)
    }
  }

  /// Removes keys without use since `cutoff`; nil when that could not be made durable.
  package func prune(unusedSince cutoff: UnixTime) -> Int? {
    let commit = CommitWait()
    let register = shared.register
    let removed = shared.store.prune(
      unusedSince: cutoff, isInUse: { register.hasSessions(of: $0) }, completion: { commit.complete($0) })
    return commit.wait(within: CommitResult.deadline) == .committed ? removed : nil
  }

  /// Takes keys of another gate, good until `imported` says; nil when that could not be made durable, which leaves open what
  /// of it stands. To be done again then: what is there stays as it is.
  package func adopt(_ keys: [ForeignKey], _ imported: KeyImport, appID: String?) -> ImportVerdict? {
    let commit = CommitWait()
    let verdict = shared.store.adopt(keys, imported, appID: appID) { commit.complete($0) }
    guard commit.wait(within: CommitResult.deadline) == .committed else { return nil }
    if verdict.taken > 0 { shared.log.keysImported(verdict.taken, imported) }
    return verdict
  }

  // MARK: Ending

  private func end(_ sessions: [SessionReference], _ reason: SessionEnd) -> CountDownLatch {
    let latch = CountDownLatch(count: sessions.count)
    for session in sessions { shared.post(.end(Token(rawValue: session.token), reason, latch), to: session) }
    return latch
  }

  /// Whether each loop has done what it was asked so far.
  func waitForLoops() -> Bool { shared.waitForLoops() }

  static var endingTime: Duration { Shared.endingTime }
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
