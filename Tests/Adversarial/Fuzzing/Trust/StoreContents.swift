/// A key table as something that can be compared, and written as the gate writes it.
internal import Bytes
@testable internal import KeyStore
internal import Time

struct StoreContents: Equatable {
  struct Key: Equatable {
    let record: KeyRecord
    let extra: [UInt8]?
  }

  let keys: [KeyIdentifier: Key]
  let pseudonymKeyMadeAt: Int64

  init(_ table: KeyTable) {
    var keys: [KeyIdentifier: Key] = [:]
    for entry in Self.entries(table) {
      keys[entry.identifier] = Key(record: table.record(of: entry), extra: table.extras[entry.identifier])
    }
    self.keys = keys
    pseudonymKeyMadeAt = table.pseudonymKeyMadeAt
  }

  static func emptyTable() -> KeyTable { KeyTable(entropy: FixedEntropy()) }

  static func entries(_ table: KeyTable) -> [KeyTable.Entry] {
    var entries: [KeyTable.Entry] = []
    var position = 0
    while position < table.positions { table.copy(from: &position, limit: 256, to: &entries) }
    return entries
  }

  static func text(_ table: KeyTable) -> [UInt8] {
    var text = SnapshotText()
    var bytes: [UInt8] = []
    text.begin(&bytes, pseudonymKeyMadeAt: table.pseudonymKeyMadeAt)
    let names = SnapshotText.Shared(
      appIDs: table.appIDs, bundleVersions: table.bundleVersions, revokedReasons: table.revokedReasons)
    for entry in entries(table) {
      text.append(entry, names, extra: table.extras[entry.identifier], to: &bytes)
    }
    text.end(&bytes)
    return bytes
  }

  /// As the gate reads a file: what one piece leaves over comes again with the next.
  static func parse(_ bytes: [UInt8], piece: Int) -> Result<KeyTable, SnapshotDamage> {
    var table = emptyTable()
    var parser = SnapshotParser()
    var start = 0
    var end = min(piece, bytes.count)
    do throws(SnapshotDamage) {
      while true {
        let isLast = end == bytes.count
        start += try parser.parse(bytes.span.extracting(start..<end), isLast: isLast, into: &table)
        if isLast { return .success(table) }
        end = min(end + piece, bytes.count)
      }
    } catch {
      return .failure(error)
    }
  }
}

/// The same keys lie in the same places at each run, so that findings can be repeated.
struct FixedEntropy: Entropy {
  func fill(_ bytes: inout MutableSpan<UInt8>) {
    for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index &* 37 &+ 11) }
  }
}
