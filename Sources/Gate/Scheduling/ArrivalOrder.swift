/// Connections in the order in which they came, to find the one to evict: the one that has waited longest.

/// Those that no longer wait are dropped when they come to the front, and all of them when the list has grown.
package struct ArrivalOrder {
  /// So many are held before the list is looked through for the first time.
  static let compactedAt = 4096

  private var tokens: [Token] = []
  private var first = 0
  private var limit = compactedAt

  package init() {}

  package var heldCount: Int { tokens.count }

  package mutating func append(_ token: Token, isWaiting: (Token) -> Bool) {
    if tokens.count >= limit {
      // A peer that stays unadmitted in front, asking for challenges for hours, would else keep the entries of all who
      // came after it.
      tokens = tokens[first...].filter(isWaiting)
      first = 0
      // Twice what is left, so that looking through costs each arrival the same however many wait.
      limit = max(Self.compactedAt, tokens.count * 2)
    }
    tokens.append(token)
  }

  package mutating func oldest(isWaiting: (Token) -> Bool) -> Token? {
    while first < tokens.count {
      if isWaiting(tokens[first]) { return tokens[first] }
      first += 1
    }
    tokens.removeAll(keepingCapacity: tokens.capacity <= Self.compactedAt)
    first = 0
    return nil
  }
}
