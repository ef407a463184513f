/// A snapshot on its way to the disk: entries are copied in under the store's lock, encoded and written without it.
///
/// `copy` is the snapshot thread's, which has the loops' priority as they wait for that lock. `write` is what takes the
/// time, and is done behind the loops (`SnapshotWriter`). One follows the other, so neither waits for this file's lock.
internal import Bytes
internal import Synchronization
internal import System

final class SnapshotFile: Sendable {
  private let content: Mutex<Content>

  init(_ file: any StoreFile, pseudonymKeyMadeAt: Int64) {
    content = Mutex(Content(file: file, pseudonymKeyMadeAt: pseudonymKeyMadeAt))
  }

  /// Copies the entries of the next positions. To be called under the store's lock.
  func copy(from table: borrowing KeyTable) {
    content.withLock { $0.copy(from: table) }
  }

  /// Encodes what was copied last, and writes as much as is worth a call.
  func write() {
    content.withLock { content in
      do throws(SystemError) {
        try content.write()
      } catch {
        content.failure = error
      }
    }
  }

  /// What has been written; nil while there are positions left.
  func result() throws(SystemError) -> (keys: Int, bytes: Int64)? {
    try content.withLock { content throws(SystemError) in
      if let failure = content.failure { throw failure }
      return content.isDone ? (content.keys, content.length) : nil
    }
  }

  private struct Content {
    let file: any StoreFile
    var failure: SystemError?
    var keys = 0
    var length: Int64 = 0
    /// The last position has been copied.
    var isDone = false
    private var position = 0
    private var entries: [KeyTable.Entry] = []
    private var names = SnapshotText.Shared(
      appIDs: Names(), bundleVersions: Names(), revokedReasons: Names())
    private var extras: [KeyIdentifier: [UInt8]] = [:]
    private var text = SnapshotText()
    private var buffer: [UInt8] = []
    private var synced: Int64 = 0

    init(file: any StoreFile, pseudonymKeyMadeAt: Int64) {
      self.file = file
      text.begin(&buffer, pseudonymKeyMadeAt: pseudonymKeyMadeAt)
    }

    mutating func copy(from table: borrowing KeyTable) {
      entries.removeAll(keepingCapacity: true)
      table.copy(from: &position, limit: SnapshotFile.walkStride, to: &entries)
      isDone = position >= table.positions
      names = SnapshotText.Shared(
        appIDs: table.appIDs, bundleVersions: table.bundleVersions, revokedReasons: table.revokedReasons)
      extras = table.extras(of: entries)
    }

    mutating func write() throws(SystemError) {
      for entry in entries { text.append(entry, names, extra: extras[entry.identifier], to: &buffer) }
      keys += entries.count
      if isDone { text.end(&buffer) }
      guard isDone || buffer.count >= SnapshotFile.writeLength else { return }
      try file.writeAll(buffer.span, at: length)
      length += Int64(buffer.count)
      buffer.removeAll(keepingCapacity: true)
      // In small steps: one sync of the whole file at the end would delay the journal's syncs for seconds.
      if isDone || length - synced >= SnapshotFile.syncLength {
        try file.synchronize()
        synced = length
      }
    }
  }

  /// Positions copied under one hold of the store's lock: some tens of microseconds.
  private static let walkStride = 256
  private static let writeLength = 256 << 10
  private static let syncLength: Int64 = 16 << 20
}

extension KeyTable {
  fileprivate func extras(of entries: [Entry]) -> [KeyIdentifier: [UInt8]] {
    if extras.isEmpty { return [:] }
    var found: [KeyIdentifier: [UInt8]] = [:]
    for entry in entries { found[entry.identifier] = extras[entry.identifier] }
    return found
  }
}
