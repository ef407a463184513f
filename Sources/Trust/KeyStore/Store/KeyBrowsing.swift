/// What pages ask of all keys, whatever keeps them: from threads that may wait, so never a loop's.
package import Bytes
internal import System

package protocol KeyBrowsing: AnyObject, Sendable {
  /// A piece of all keys, in an order of the store's own in which each key keeps its place for as long as it lives.
  /// - Parameters:
  ///   - cursor: where the piece begins; nil for the beginning.
  ///   - count: places that are looked at, some of which may be empty.
  /// - Returns: where the next piece begins; nil after the last.
  func browse(after cursor: KeyCursor?, count: Int) -> (found: [FoundKey], next: KeyCursor?)

  /// Of those that are registered.
  func records(of keys: Set<KeyIdentifier>) -> [KeyIdentifier: KeyRecord]

  /// Apps that keys belong to, or have belonged to since the start; sorted.
  func apps() -> [String]
}

/// A place among the keys, as a page's address has it. What it says is the store's own, and anybody may have written it.
package struct KeyCursor: Equatable, Sendable {
  package let text: String

  package init(_ text: String) {
    self.text = text
  }
}

package struct FoundKey: Sendable {
  /// A search that goes on after it begins here.
  package let cursor: KeyCursor
  package let identifier: KeyIdentifier
  package let record: KeyRecord

  package init(cursor: KeyCursor, identifier: KeyIdentifier, record: KeyRecord) {
    self.cursor = cursor
    self.identifier = identifier
    self.record = record
  }
}

extension KeyStore: KeyBrowsing {
  package func browse(after cursor: KeyCursor?, count: Int) -> (found: [FoundKey], next: KeyCursor?) {
    let position = cursor.map { Self.position($0) } ?? 0
    let (found, next) = orders.ask { [self] in browse(from: position, count: count) }
    return (
      found.map { FoundKey(cursor: Self.cursor($0.position), identifier: $0.identifier, record: $0.record) },
      next.map { Self.cursor($0 - 1) }
    )
  }

  package func records(of keys: Set<KeyIdentifier>) -> [KeyIdentifier: KeyRecord] {
    if keys.isEmpty { return [:] }
    return orders.ask { [self] in
      Dictionary(uniqueKeysWithValues: keys.compactMap { key in find(key).map { (key, $0) } })
    }
  }

  package func apps() -> [String] { orders.ask { [self] in appIDs }.sorted() }

  /// Of the key that a piece begins after.
  private static func cursor(_ position: Int) -> KeyCursor { KeyCursor("\(position)") }

  /// What is no place is the beginning; nothing lies behind the last.
  private static func position(_ cursor: KeyCursor) -> Int {
    guard let position = Int(cursor.text), position >= 0 else { return 0 }
    return position == .max ? position : position + 1
  }
}
