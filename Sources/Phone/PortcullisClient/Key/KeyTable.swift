/// The keys that a process has, one for each gate, for as long as somebody holds them.
final class KeyTable: Sendable {
  private struct Entry: Sendable {
    weak var key: AppKey?
  }

  private let entries = Locked([String: Entry]())

  func key(of gate: String, orMake make: () -> AppKey) -> AppKey {
    entries.withLock { entries in
      if let key = entries[gate]?.key { return key }
      let key = make()
      entries[gate] = Entry(key: key)
      return key
    }
  }
}
