/// Reads a store beside the process that runs it, without its lock and without disturbing it (docs/key-store.md,
/// "One owner").
package import Bytes
internal import System
package import Time

package enum KeyStoreReader {
  /// A store as it was at one moment.
  package struct Contents {
    private let table: KeyTable
    /// Since when there is a key for devices' pseudonyms; nil while none was noted.
    package let pseudonymKeyMadeAt: UnixTime?
    package let snapshotBytes: Int64
    package let journalBytes: Int64
    /// Whether there was any file of it.
    package let isThere: Bool

    fileprivate init(
      _ table: KeyTable, pseudonymKeyMadeAt: UnixTime?, snapshotBytes: Int64, journalBytes: Int64,
      isThere: Bool
    ) {
      self.table = table
      self.pseudonymKeyMadeAt = pseudonymKeyMadeAt
      self.isThere = isThere
      self.snapshotBytes = snapshotBytes
      self.journalBytes = journalBytes
    }

    package var count: Int { table.count }

    /// Keys whose `appId` is no App ID, with which nobody is admitted; nil when there are none.
    package func malformedAppIDs() -> (keys: Int, first: KeyIdentifier)? { table.malformedAppIDs() }

    package func find(_ identifier: KeyIdentifier) -> KeyRecord? {
      table.position(of: identifier).map { table.record(at: $0) }
    }

    package func forEach<Failure: Error>(
      _ body: (KeyIdentifier, KeyRecord) throws(Failure) -> Void
    ) throws(Failure) {
      for position in 0..<table.positions where table[position].isPresent {
        try body(table[position].identifier, table.record(at: position))
      }
    }
  }

  /// Opens the journals first, then the snapshot: should the server replace the snapshot and remove a journal in
  /// between, the new snapshot holds what that journal held. Starts over if it sees that happen.
  /// - Parameter witness: as `KeyStore.Options` has it.
  package static func read(
    _ path: String, witness: String? = nil, files: any StoreFiles = LinuxFiles(),
    entropy: any Entropy = KernelEntropy()
  ) throws(KeyStoreError) -> Contents {
    let paths = StorePaths(files.resolve(path))
    let loader = StoreLoader(files: files, paths: paths)
    try checkNotGone(loader, witness)
    var damage: KeyStoreError?
    for _ in 0..<attempts {
      do throws(KeyStoreError) {
        if let contents = try attempt(loader, entropy) { return contents }
        damage = nil
      } catch {
        // A batch that was being written while it was read looks like damage, but not twice.
        guard case .damagedJournal = error, damage != error else { throw error }
        damage = error
      }
    }
    throw damage ?? .neverStill(path)
  }

  private static func checkNotGone(_ loader: StoreLoader, _ witness: String?) throws(KeyStoreError) {
    guard try identity(loader) == nil else { return }
    let (files, paths) = (loader.files, loader.paths)
    let evidence = try naming(paths.snapshot) { () throws(SystemError) in
      let hadLock = try files.identity(of: paths.lock) != nil
      return try StoreMarks(files: files, paths: paths).evidence(hadLock: hadLock, witness: witness)
    }
    // Not one whose first snapshot has just come.
    if let evidence, try identity(loader) == nil { throw .gone(paths.snapshot, evidence: evidence) }
  }

  /// Nil when the files changed underneath.
  private static func attempt(_ loader: StoreLoader, _ entropy: any Entropy) throws(KeyStoreError)
    -> Contents?
  {
    let paths = loader.paths
    let before = try identity(loader)
    var journals: [(number: UInt64, file: any StoreFile)] = []
    for number in try loader.segmentNumbers() {
      guard let file = try open(loader, paths.segment(number)) else { return nil }
      journals.append((number, file))
    }
    let snapshot = try open(loader, paths.snapshot)
    let opened = try naming(paths.snapshot) { () throws(SystemError) in try snapshot?.identity() }
    switch (before, opened) {
    case (nil, nil): break
    case (let before?, let opened?) where before.isSameFile(as: opened): break
    default: return nil
    }
    var table = KeyTable(entropy: entropy)
    let loaded = try snapshot.map { file throws(KeyStoreError) in try loader.loadSnapshot(file, into: &table)
    }
    var segments: [StoreLoader.Segment] = []
    for journal in journals {
      let bytes = try naming(paths.segment(journal.number)) { () throws(SystemError) in
        try journal.file.readAll()
      }
      segments.append(try loader.replay(journal.number, bytes, into: &table))
    }
    try loader.checkOrder(segments)
    let pseudonymKeyMadeAt = try naming(paths.pseudonymMade) { () throws(SystemError) in
      try StoreMarks(files: loader.files, paths: paths).pseudonymKeyMadeAt(old: table.pseudonymKeyMadeAt)
    }
    return Contents(
      table, pseudonymKeyMadeAt: pseudonymKeyMadeAt, snapshotBytes: loaded?.bytes ?? 0,
      journalBytes: segments.reduce(0) { $0 + Int64($1.bytes) },
      isThere: snapshot != nil || !journals.isEmpty)
  }

  private static func identity(_ loader: StoreLoader) throws(KeyStoreError) -> FileIdentity? {
    let (files, paths) = (loader.files, loader.paths)
    let directory = try naming(paths.directory) { () throws(SystemError) in
      try files.identity(of: paths.insideDirectory)
    }
    guard directory != nil else { throw .directoryMissing(paths.directory) }
    let snapshot = try naming(paths.snapshot) { () throws(SystemError) in
      try files.identity(of: paths.snapshot)
    }
    if snapshot?.isLink == true { throw .danglingLink(paths.snapshot) }
    return snapshot
  }

  /// Nil when it is not there, or no longer.
  private static func open(_ loader: StoreLoader, _ path: String) throws(KeyStoreError) -> (any StoreFile)? {
    do throws(SystemError) {
      return try loader.files.open(path, .read)
    } catch {
      if error.number == missing { return nil }
      throw KeyStoreError(path: path, error)
    }
  }

  private static let attempts = 20
  /// ENOENT.
  private static let missing: Int32 = 2
}
