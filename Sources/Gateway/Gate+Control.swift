/// What the operator sees of the running gate and may do to it (SPEC §8), from any thread but a loop's.
package import Bytes
package import HTTPWire
package import KeyStore
internal import Synchronization
package import System

/// Numbers of one moment, over all loops.
package struct GateActivity: Sendable {
  package let loops: Int
  /// Of all kinds, from `accept` to the last byte.
  package let connections: Int
  /// Not admitted yet.
  package let pending: Int
  package let sessions: Int
  package let lingering: Int
  /// Handshakes and requests that wait for their turn.
  package let newcomersWaiting: Int
  /// Attestations that wait for a thread.
  package let registrationsWaiting: Int
  /// By loop.
  package let turns: [TurnReading]
  /// In the order of `Counters`.
  package let counters: [(name: String, count: Int)]
  /// Those that occurred, in the order of `RefusalCode`.
  package let refusals: [(code: RefusalCode, count: Int)]
}

extension Gate {
  package var activity: GateActivity {
    let all = shared.counters
    func sum(_ counter: (Counters) -> Counter) -> Int { all.reduce(0) { $0 + counter($1).value } }
    var refusals: [RefusalCode: Int] = [:]
    for counters in all {
      for (code, count) in counters.refusalsByCode { refusals[code, default: 0] += count }
    }
    return GateActivity(
      loops: all.count, connections: shared.occupancy.value, pending: shared.pending.value,
      sessions: shared.sessions.value, lingering: shared.lingering.value,
      newcomersWaiting: sum(\.newcomersWaiting), registrationsWaiting: shared.pool.waitingCount,
      turns: all.map(\.turns.reading),
      counters: [
        ("accepted", sum(\.accepted)), ("closedAtDoor", sum(\.closedAtDoor)), ("gaveWay", sum(\.gaveWay)),
        ("handshakes", sum(\.handshakes)), ("handshakesResumed", sum(\.handshakesResumed)),
        ("handshakesFailed", sum(\.handshakesFailed)), ("challenges", sum(\.challenges)),
        ("registrations", sum(\.registrations)), ("admitted", sum(\.admitted)),
        ("sessionsEnded", sum(\.sessionsEnded)), ("tlsRefused", sum(\.tlsRefused)),
        ("bytesFromPlayers", sum(\.bytesFromPlayers)), ("bytesFromGame", sum(\.bytesFromGame)),
      ],
      refusals: RefusalCode.allCases.compactMap { code in refusals[code].map { (code, $0) } })
  }

  package var storeStatistics: KeyStoreStatistics { shared.store.statistics }
  package var keysWithSessions: Int { shared.register.keyCount }

  // MARK: Sessions

  /// Sessions whose `101` is out, of all loops; nil when a loop does not answer within `time`.
  package func sessions(within time: Duration = .seconds(5)) -> [SessionDescription]? {
    let gathering = Gathering(loops: shared.mailboxes.count)
    shared.postToAll(.listSessions { found in gathering.add(found) })
    return gathering.wait(until: SystemClock().monotonic() + time)
  }

  /// Ends the sessions that `isMeant` picks with 1008, and waits until they are gone.
  /// - Returns: how many have ended, and how many were still there when the time was over; nil as for
  ///   `sessions`.
  package func closeSessions(
    where isMeant: (SessionDescription) -> Bool
  ) -> (ended: Int, left: Int)? {
    guard let found = sessions() else { return nil }
    let meant = found.filter(isMeant).map(\.reference)
    let left = end(meant, .closedByOperator).wait(within: Self.endingTime)
    return (meant.count - left, left)
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
  package func revoke(_ keyID: KeyIdentifier, now: UnixTime) -> Revocation {
    let commit = CommitWait()
    switch shared.store.revoke(keyID, now: now, completion: { result in commit.complete(result) }) {
    case .unknownKey: return .unknownKey
    case .unavailable: return .unavailable
    case .revoked(let since):
      // Behind the mark in the store: see `SessionRegister`.
      let sessions = shared.register.sessions(of: keyID)
      let left = end(sessions, .keyRevoked).wait(within: Self.endingTime)
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

  // MARK: Ending

  private func end(_ sessions: [SessionReference], _ reason: SessionEnd) -> CountDownLatch {
    let latch = CountDownLatch(count: sessions.count)
    for session in sessions { shared.post(.end(Token(rawValue: session.token), reason, latch), to: session) }
    return latch
  }

  /// A session that is told to go with 1008 goes in that turn of its loop, whatever its player does: this is for a loop
  /// that does not turn.
  private static let endingTime: Duration = .seconds(6)
}

/// The answer of the store to one change.
package final class CommitWait: Sendable {
  private let result = Mutex<CommitResult?>(nil)
  private let signal = Signal()

  package init() {}

  package func complete(_ result: CommitResult) {
    self.result.withLock { $0 = result }
    signal.ring()
  }

  /// Nil when the time is over.
  package func wait(within time: Duration) -> CommitResult? {
    let deadline = SystemClock().monotonic() + time
    while true {
      if let result = result.withLock({ $0 }) { return result }
      if !signal.wait(until: deadline) { return result.withLock { $0 } }
    }
  }
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
