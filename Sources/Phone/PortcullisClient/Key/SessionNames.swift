/// The names of the sessions that a process has at one gate: each remembers its own, and so none is used twice at a time.
final class SessionNames: Sendable {
  fileprivate let taken = Locked(Set<String>())
}

/// One of them, from a session's beginning to its end.
final class SessionName: Sendable {
  let text: String
  private let names: SessionNames
  private let isTaken = Locked(false)

  init(_ text: String, among names: SessionNames) {
    self.text = text
    self.names = names
  }

  /// False where another session has it.
  func take() -> Bool {
    isTaken.withLock { isTaken in
      if !isTaken { isTaken = names.taken.withLock { $0.insert(text).inserted } }
      return isTaken
    }
  }

  func giveBack() {
    isTaken.withLock { isTaken in
      if isTaken { names.taken.withLock { _ = $0.remove(text) } }
      isTaken = false
    }
  }
}
