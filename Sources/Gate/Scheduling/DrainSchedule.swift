/// Which sessions are told 1001 when, so that not all players come back in the same moment (docs/running.md,
/// "Stopping").
package import Time

package struct DrainSchedule {
  private var tokens: [Token] = []
  private var told = 0
  private var start = MonotonicTime(nanoseconds: 0)
  private var spread: Duration = .zero

  package init() {}

  package mutating func begin(sessions: [Token], spread: Duration, now: MonotonicTime) {
    tokens = sessions
    told = 0
    start = now
    self.spread = spread
  }

  /// Those whose time has come.
  package mutating func due(now: MonotonicTime) -> ArraySlice<Token> {
    guard told < tokens.count else { return [] }
    let first = told
    while told < tokens.count, time(of: told) <= now { told += 1 }
    return tokens[first..<told]
  }

  /// When the next one is to be told, if any is left.
  package var next: MonotonicTime? { told < tokens.count ? time(of: told) : nil }

  private func time(of index: Int) -> MonotonicTime {
    start + spread * index / max(1, tokens.count)
  }
}
