/// A revocation under way: all threads report to it, and the thread that ordered it waits for it.
package import Bytes
internal import KeyStore
internal import System
internal import Time

package final class RevocationOrder: Sendable {
  /// What a loop does when it has done what it was told before.
  package struct Question: Sendable {
    private let order: RevocationOrder
    private let round: Revocation.Round
    private let loop: Int

    fileprivate init(_ order: RevocationOrder, _ round: Revocation.Round, loop: Int) {
      self.order = order
      self.round = round
      self.loop = loop
    }

    package func answer() {
      order.advance { $0.heard(round, by: loop) }
    }
  }

  private let revocation: Monitor<Revocation>
  private let loops: Int
  private let ask: @Sendable (Question, _ loop: Int) -> Void

  /// - Parameter ask: puts a question to a loop, behind all that the loop was told.
  package init(loops: Int, ask: @escaping @Sendable (Question, _ loop: Int) -> Void) {
    revocation = Monitor(Revocation(loops: loops))
    self.loops = loops
    self.ask = ask
  }

  /// A key goes: from now on it is waited for.
  /// - Returns: by which its mark and its writing are told; nil when the order is settled.
  package func end(_ key: KeyIdentifier) -> Revocation.Mark? {
    let action = revocation.withLock { revocation, _ in revocation.end(key) }
    if case .mark(let mark) = action { return mark }
    return nil
  }

  package func marked(_ mark: Revocation.Mark, ending sessions: [SessionReference] = []) {
    advance { $0.marked(mark, ending: sessions) }
  }

  package func wrote(_ mark: Revocation.Mark, _ written: Revocation.Written) {
    advance { $0.wrote(mark, written) }
  }

  package func ending(_ sessions: [SessionReference]) { advance { $0.ending(sessions) } }

  package func ended(_ session: SessionReference) { advance { $0.ended(session) } }

  package func complete() { advance { $0.complete() } }

  /// Nil until it is settled.
  package var outcome: Revocation.Outcome? {
    revocation.withLock { revocation, _ in revocation.state == .settled ? revocation.outcome : nil }
  }

  /// Waits until it is settled, each step within its time; to be called once it is complete.
  package func settled() -> Revocation.Outcome {
    while true {
      if let outcome { return outcome }
      let state = revocation.withLock { revocation, _ in revocation.state }
      let deadline = SystemClock().monotonic() + Self.time(of: state)
      let isOn: Bool? = revocation.wait(until: deadline) { revocation in
        revocation.state != state ? .done(true) : .wait
      }
      if isOn == nil { advance { $0.state == state ? $0.expired() : .nothing } }
    }
  }

  /// A session that is told to end with 1008 ends in that turn of its loop, whatever its player does. So the time is only
  /// ever over when a loop hangs.
  private static func time(of state: Revocation.State) -> Duration {
    switch state {
    case .ordered, .telling, .arriving: .seconds(6)
    case .writing: CommitResult.deadline
    case .settled: .zero
    }
  }

  private func advance(_ event: (inout Revocation) -> Revocation.Action) {
    let action = revocation.withLock { revocation, wake in
      let before = revocation.state
      let action = event(&revocation)
      if revocation.state != before { wake.all() }
      return action
    }
    if case .tell(let round) = action {
      for loop in 0..<loops { ask(Question(self, round, loop: loop), loop) }
    }
  }
}
