/// How much CBOR is read at most.
package struct CBORLimits: Equatable, Sendable {
  package var bytes: Int
  /// Arrays and maps within each other; the outermost counts as 1. App Attest's objects have 3.
  package var depth: Int
  /// Data items in all, keys and containers included. App Attest's objects have 13.
  package var items: Int

  package init(bytes: Int, depth: Int = 5, items: Int = 64) {
    self.bytes = bytes
    self.depth = depth
    self.items = items
  }
}
