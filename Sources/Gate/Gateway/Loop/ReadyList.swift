/// Connections to come back to later in the turn or in the next one.

/// Whether there are any is asked each turn, and costs one load; the memory of both lists is kept.
///
/// A loop's elements are connections; a test's are what it likes.
final class ReadyList<Element> {
  private(set) var isEmpty = true
  private var waiting: [Element] = []
  private var taken: [Element] = []

  func append(_ element: Element) {
    isEmpty = false
    waiting.append(element)
  }

  func forget() {
    isEmpty = true
    waiting = []
  }

  /// Calls `body` with those that wait now, at least one of them, as long as `goesOn`; the rest stays in front of whoever
  /// is appended meanwhile.
  func takeEach(while goesOn: () -> Bool = { true }, _ body: (Element) -> Void) {
    if isEmpty { return }
    isEmpty = true
    swap(&waiting, &taken)
    var served = 0
    for element in taken {
      served += 1
      body(element)
      if !goesOn() { break }
    }
    if served < taken.count {
      waiting.insert(contentsOf: taken[served...], at: 0)
      isEmpty = false
    }
    taken.removeAll(keepingCapacity: true)
  }
}
