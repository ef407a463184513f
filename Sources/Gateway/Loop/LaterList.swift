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

  /// Calls `body` with those that wait now, at least one of them, as long as `goesOn`; the rest stays in front of whoever
  /// is appended meanwhile.
  func takeEach(while goesOn: () -> Bool = { true }, _ body: (Connection) -> Void) {
    if isEmpty { return }
    isEmpty = true
    swap(&waiting, &taken)
    var served = 0
    for connection in taken {
      served += 1
      body(connection)
      if !goesOn() { break }
    }
    if served < taken.count {
      waiting.insert(contentsOf: taken[served...], at: 0)
      isEmpty = false
    }
    taken.removeAll(keepingCapacity: true)
  }
}
