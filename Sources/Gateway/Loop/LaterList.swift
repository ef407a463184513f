/// Connections to come back to later in the turn or in the next one.

/// Whether there are any is asked each turn, and costs one load; the memory of both lists is kept.
final class LaterList {
  private(set) var isEmpty = true
  private var waiting: [Connection] = []
  private var taken: [Connection] = []

  func append(_ connection: Connection) {
    isEmpty = false
    waiting.append(connection)
  }

  /// Calls `body` with each of those that wait now; whoever is appended meanwhile waits for the next time.
  func takeEach(_ body: (Connection) -> Void) {
    if isEmpty { return }
    isEmpty = true
    swap(&waiting, &taken)
    for connection in taken { body(connection) }
    taken.removeAll(keepingCapacity: true)
  }
}
