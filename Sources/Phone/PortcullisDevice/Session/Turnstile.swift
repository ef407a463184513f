/// One at a time, in the order of asking: what waits for a person, or changes keys, is never done twice at once.

/// Used by one actor alone.
struct Turnstile {
  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// True: go on. Else wait by `enqueue`.
  mutating func enter() -> Bool {
    defer { isTaken = true }
    return !isTaken
  }

  mutating func enqueue(_ continuation: CheckedContinuation<Void, Never>) {
    waiting.append(continuation)
  }

  /// The next one goes on.
  mutating func leave() {
    if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
  }
}
