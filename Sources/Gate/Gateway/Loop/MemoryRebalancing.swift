/// Who gives way when all sessions together keep more than they may: the fullest of those without a connection, over all
/// loops (docs/sessions.md, "Bounds").
///
/// Nothing is written down while there is room. The loop that finds too little begins a round: each loop says what its
/// sessions have, the last one to say so makes a plan, and each loop carries out its part of it in its next turn.
internal import Admission
internal import Scheduling
internal import Synchronization
internal import Time

/// There is one round at a time.
final class MemoryRebalancing: Sendable {
  private let isUnderWay = Atomic(false)
  /// In nanoseconds of the monotonic clock.
  private let pausedUntil = Atomic<UInt64>(0)

  /// What a session keeps.
  struct Entry: Equatable, Sendable {
    let session: SessionReference
    let bytes: Int
  }

  /// What of it may stay.
  struct Cut: Equatable, Sendable {
    let session: Token
    let bytes: Int
  }

  /// Nil while one is under way, and for a while after one that has found too little: what there is too much of belongs to
  /// those who play, and is not looked for with each message.
  func begin(_ mailboxes: [Mailbox], limit: Int, now: MonotonicTime) -> RebalancingRound? {
    if isPaused(at: now) || isUnderWay.exchange(true, ordering: .acquiring) { return nil }
    return RebalancingRound(self, mailboxes, limit: limit, begunAt: now)
  }

  /// The last round has found too little.
  func isPaused(at now: MonotonicTime) -> Bool { now.nanoseconds < pausedUntil.load(ordering: .relaxed) }

  fileprivate func end(hasFoundEnough: Bool, begunAt begin: MonotonicTime) {
    if !hasFoundEnough { pausedUntil.store((begin + Self.pause).nanoseconds, ordering: .relaxed) }
    isUnderWay.store(false, ordering: .releasing)
  }

  /// From where on sessions give way.
  static func mark(of limit: Int) -> Int { limit - limit / 100 }

  /// By how much the sum may be above its limit before a session that nobody listens to gives back by itself what it took:
  /// a round takes a turn of each loop.
  static func slack(of limit: Int) -> Int { max(limit / 100, 64 * 1024) }

  /// Takes `excess` off the fullest.
  /// - Returns: the cuts, and whether they are enough.
  static func plan(_ entries: [Entry], excess: Int) -> (cuts: [(loop: Int, cut: Cut)], isEnough: Bool) {
    let fullest = entries.sorted { $0.bytes > $1.bytes }
    var cuts: [(loop: Int, cut: Cut)] = []
    var excess = excess
    for (index, entry) in fullest.enumerated() where excess > 0 && entry.bytes > 0 {
      // Half as far down as the next one stands: so few are cut at a time, and nobody has to give again and again.
      let next = index + 1 < fullest.count ? fullest[index + 1].bytes : 0
      let left = max(next / 2, entry.bytes - excess)
      excess -= entry.bytes - left
      cuts.append((Int(entry.session.loop), Cut(session: Token(rawValue: entry.session.token), bytes: left)))
    }
    return (cuts, excess <= 0)
  }

  private static let pause: Duration = .milliseconds(100)
}

final class RebalancingRound: Sendable {
  private struct State {
    var entries: [MemoryRebalancing.Entry] = []
    var missing: Int
  }

  private let rebalancing: MemoryRebalancing
  private let mailboxes: [Mailbox]
  /// `SESSION_BUFFERS_TOTAL`.
  private let limit: Int
  private let begunAt: MonotonicTime
  private let state: Mutex<State>

  fileprivate init(
    _ rebalancing: MemoryRebalancing, _ mailboxes: [Mailbox], limit: Int, begunAt: MonotonicTime
  ) {
    self.rebalancing = rebalancing
    self.mailboxes = mailboxes
    self.limit = limit
    self.begunAt = begunAt
    state = Mutex(State(missing: mailboxes.count))
  }

  /// Each loop calls this once; with the last one the cuts are on their way to their loops.
  /// - Parameter sum: what all sessions keep now.
  func add(_ entries: [MemoryRebalancing.Entry], sum: Int) {
    let all: [MemoryRebalancing.Entry]? = state.withLock { state in
      state.entries += entries
      state.missing -= 1
      if state.missing > 0 { return nil }
      defer { state.entries = [] }
      return state.entries
    }
    guard let all else { return }
    // A hundredth more, so that this is not asked for with each message.
    let mark = MemoryRebalancing.mark(of: limit)
    let (cuts, isEnough) = MemoryRebalancing.plan(all, excess: sum > mark ? sum - mark + limit / 100 : 0)
    for loop in mailboxes.indices {
      let own = cuts.filter { $0.loop == loop }.map(\.cut)
      if !own.isEmpty { mailboxes[loop].post(.cut(own)) }
    }
    rebalancing.end(hasFoundEnough: isEnough, begunAt: begunAt)
  }
}
