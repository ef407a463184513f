/// Looks through all keys a piece at a time, for searches (docs/console.md, "Console").
package import Bytes
internal import System

extension KeyStore {
  package struct Found: Sendable {
    /// Where it lies in the table: it stays there for as long as it lives.
    package let position: Int
    package let identifier: KeyIdentifier
    package let record: KeyRecord

    package init(position: Int, identifier: KeyIdentifier, record: KeyRecord) {
      self.position = position
      self.identifier = identifier
      self.record = record
    }
  }

  /// The keys at so many positions. The lock is held for 256 of them at a time, as for a snapshot's walk.
  /// - Returns: where to go on; nil after the last.
  package func browse(from position: Int, count: Int) -> (found: [Found], next: Int?) {
    var found: [Found] = []
    // An address may name any place; nothing lies after the last.
    var place = min(max(0, position), Int.max - count - Self.browseStride)
    let end = place + count
    while true {
      let isOver = state.withLock { state in
        let stop = min(place + Self.browseStride, end, state.table.positions)
        while place < stop {
          let entry = state.table[place]
          if entry.isPresent {
            found.append(
              Found(position: place, identifier: entry.identifier, record: state.table.record(of: entry)))
          }
          place += 1
        }
        return place >= state.table.positions
      }
      if isOver { return (found, nil) }
      if place >= end { return (found, place) }
    }
  }

  /// All that are revoked. The lock is held as for `browse`.
  package var revokedKeys: [KeyIdentifier] {
    var found: [KeyIdentifier] = []
    var (place, isOver) = (0, false)
    while !isOver {
      isOver = state.withLock { state in
        let stop = min(place + Self.browseStride, state.table.positions)
        while place < stop {
          let entry = state.table[place]
          if entry.isPresent, entry.isRevoked { found.append(entry.identifier) }
          place += 1
        }
        return place >= state.table.positions || found.count >= state.table.revokedCount
      }
    }
    return found
  }

  /// Apps that keys belong to, or have belonged to since the start.
  package var appIDs: [String] { state.withLock { $0.table.appIDs.strings } }

  private static let browseStride = 256
}
