/// A bridge from callbacks, which a platform may make once, twice or never, to a caller that waits for one answer.

/// What one caller at a time waits for. Whoever waits gets an answer, and one: the first that names its turn, or the end.
final class Awaited<Value: Sendable>: Sendable {
  private struct State {
    var waiting: CheckedContinuation<Value, any Error>?
    var turn = 0
    var end: (any Error)?
  }

  private let state = Locked(State())

  /// A caller that still waits is told that it is not needed any more.
  /// - Parameter begin: what will lead to an answer; it gets the number of this turn.
  func value(_ begin: (Int) -> Void) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let (before, turn, end) = state.withLock { state in
        defer { state.waiting = state.end == nil ? continuation : nil }
        state.turn += 1
        return (state.waiting, state.turn, state.end)
      }
      before?.resume(throwing: CancellationError())
      if let end { continuation.resume(throwing: end) } else { begin(turn) }
    }
  }

  /// - Parameter turn: whose answer it is; nil: of whoever waits.
  func resume(_ answer: Result<Value, any Error>, turn: Int? = nil) {
    let waiting = state.withLock { state -> CheckedContinuation<Value, any Error>? in
      guard turn == nil || turn == state.turn else { return nil }
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume(with: answer)
  }

  /// Nobody will get another answer, now or later.
  func end(_ error: any Error) {
    state.withLock { state in state.end = state.end ?? error }
    resume(.failure(error))
  }
}
