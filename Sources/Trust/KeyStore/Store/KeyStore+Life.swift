/// Opening a store, recovering what a stop without warning left, and closing it.
package import Bytes
internal import Synchronization
internal import System
package import Time

extension KeyStore {
  /// Takes the lock, loads the snapshot, replays the journal and starts the threads.
  package static func open(
    path: String, options: Options = Options(), files: any StoreFiles = LinuxFiles(),
    clock: any Clock = SystemClock(), entropy: any Entropy = KernelEntropy(),
    report: @escaping @Sendable (KeyStoreEvent) -> Void
  ) throws(KeyStoreError) -> KeyStore {
    let store = try recover(
      path: path, options: options, files: files, clock: clock, entropy: entropy, report: report)
    do throws(KeyStoreError) {
      try store.begin()
    } catch {
      store.close()
      throw error
    }
    return store
  }

  /// Starts the threads of a recovered store; to be called once.
  package func begin() throws(KeyStoreError) {
    do throws(SystemError) {
      try lifetime.withLock { lifetime throws(SystemError) in
        lifetime.committer = try Thread(name: "store-commit") { [self] in commitUntilClosed() }
        lifetime.writer = try SnapshotWriter()
        // Of the loops' priority, as it takes the store's lock; what takes time is the writer's.
        lifetime.snapshotter = try Thread(name: "store-snapshot") { [self] in snapshotUntilClosed() }
        try orders.begin { [weak self] in self?.noteHang() }
      }
    } catch {
      throw .failed(path: paths.snapshot, error)
    }
  }

  /// All of `open` but the threads: for a gate that is not yet what it will serve as, and for tests, which take the
  /// threads' steps themselves. It can be closed like an opened one.
  package static func recover(
    path: String, options: Options, files: any StoreFiles = LinuxFiles(), clock: any Clock = SystemClock(),
    entropy: any Entropy = KernelEntropy(), report: @escaping @Sendable (KeyStoreEvent) -> Void
  ) throws(KeyStoreError) -> KeyStore {
    let started = clock.monotonic()
    let paths = StorePaths(files.resolve(path))
    let hadLock = (try? files.identity(of: paths.lock)) ?? nil != nil
    let lock = try takeLock(paths, files)
    try checkReplaceable(paths, files)
    let marks = StoreMarks(files: files, paths: paths)
    try checkNotGone(marks, hadLock: hadLock, witness: options.witness)
    let loader = StoreLoader(files: files, paths: paths)
    var table = KeyTable(entropy: entropy)
    let snapshot = try loadSnapshot(loader, &table)
    let segments = try replaySegments(loader, &table)
    try loader.checkOrder(segments)
    try tidy(segments, paths, files, report)

    let kept = segments.filter { $0.reading.batches > 0 }
    let facts = kept.reduce(0) { $0 + $1.reading.facts }
    report(.loaded(keys: table.count, bytes: snapshot.bytes, duration: clock.monotonic() - started))
    if facts > 0 { report(.recovered(segments: kept.count, facts: facts)) }
    if snapshot.unknownEnvironments > 0 { report(.unknownEnvironment(keys: snapshot.unknownEnvironments)) }
    if let found = table.malformedAppIDs() { report(.malformedAppID(keys: found.keys, first: found.first)) }
    if let fingerprint = options.fingerprint { reportMismatches(table, fingerprint, report) }

    let next = (segments.last?.number ?? 0) + 1
    let segment = try naming(paths.segment(next)) { () throws(SystemError) in
      try JournalSegment(creating: next, restarts: facts > 0, paths, files, entropy)
    }
    let pseudonymKeyMadeAt = try naming(paths.pseudonymMade) { () throws(SystemError) in
      try marks.pseudonymKeyMadeAt(old: table.pseudonymKeyMadeAt)
    }
    let state = StoreState(
      table: table, pseudonymKeyMadeAt: pseudonymKeyMadeAt, segment: segment, keepsSegment: facts > 0,
      segmentBytes: kept.map { ($0.number, Int64($0.reading.validLength - JournalHeader.length)) } + [
        (next, 0)
      ],
      schedule: SnapshotSchedule(snapshotBytes: snapshot.bytes))
    let store = KeyStore(
      paths: paths, options: options, files: files, clock: clock, entropy: entropy, report: report,
      state: state,
      lock: lock)
    // The journal as it was just read may exist in the page cache alone: the sync that should have made it durable may
    // not have happened, or have failed, and a later sync would not report that. So it goes into a new snapshot before
    // anything relies on it. That also cuts off a torn tail.
    if facts > 0 {
      try naming(paths.snapshot) { () throws(SystemError) in try store.writeSnapshot(recovering: false) }
    }
    return store
  }

  /// Sees to it that a store that is lost from now on is missed, and returns when that is durable. To be called before
  /// `begin`. The snapshot comes first: a mark without one would stop the next start.
  package func noteMade(now: UnixTime) throws(KeyStoreError) {
    let isThere = try naming(paths.snapshot) { () throws(SystemError) in
      try files.identity(of: paths.snapshot) != nil
    }
    if !isThere { try writeFirstSnapshot() }
    try naming(paths.made) { () throws(SystemError) in
      try StoreMarks(files: files, paths: paths).noteStore(now: now)
    }
  }

  /// Since when there is a key for devices' pseudonyms; nil while none was noted.
  package var pseudonymKeyMadeAt: UnixTime? { state.withLock { $0.pseudonymKeyMadeAt } }

  /// Notes that there is one, and returns when that is durable. To be called before `begin`, with the key's own file
  /// durable: whoever finds the note and no key knows that one was lost (docs/key-store.md, "The pseudonym key"). A note
  /// that an older version left among the keys moves to the file of its own.
  package func notePseudonymKey(now: UnixTime) throws(KeyStoreError) {
    let time = pseudonymKeyMadeAt ?? now
    try naming(paths.pseudonymMade) { () throws(SystemError) in
      try StoreMarks(files: files, paths: paths).notePseudonymKey(now: time)
    }
    let hasLine = state.withLock { state in
      state.pseudonymKeyMadeAt = time
      defer { state.table.pseudonymKeyMadeAt = KeyTable.Entry.never }
      return state.table.pseudonymKeyMadeAt != KeyTable.Entry.never
    }
    if hasLine { try writeFirstSnapshot() }
  }

  private func writeFirstSnapshot() throws(KeyStoreError) {
    // Nothing was written to it yet.
    state.withLock { $0.keepsSegment = true }
    try naming(paths.snapshot) { () throws(SystemError) in try writeSnapshot(recovering: false) }
  }

  /// Refuses changes from now on, commits what waits, writes a last snapshot, empties the journal and lets
  /// the lock go. Anything that fails was reported, and what was acknowledged is in the journal.
  /// - Returns: whether the snapshot holds everything and the journal is empty.
  @discardableResult
  package func close() -> Bool {
    orders.stop()
    let wasOpen = state.withLock { state in
      defer { state.isClosing = true }
      return !state.isClosing
    }
    guard wasOpen else { return false }
    commitSignal.ring()
    snapshotSignal.ring()
    lifetime.withLock { $0.committer.take() }?.join()
    lifetime.withLock { $0.snapshotter.take() }?.join()
    lifetime.withLock { $0.writer.take() }?.stop()
    while commitOnce() {}
    let (isStalled, isClean) = state.withLock { state in
      state.keepsSegment = true
      return (state.service != .accepting, state.schedule.isClean && state.journalBytes == 0)
    }
    let isWritten = isClean && !isStalled || attemptSnapshot(recovering: isStalled)
    let lost = unwrittenRevocations
    if !isWritten, !lost.isEmpty { report(.revocationsLost(lost)) }
    // Nothing writes any more, so the snapshot covers the last segment too.
    if isWritten { removeSegments(below: .max) }
    lifetime.withLock { $0.lock = nil }
    return isWritten && state.withLock { $0.segmentBytes.isEmpty }
  }

  /// Keys that are revoked in memory and not on the disk.
  package var unwrittenRevocations: [KeyIdentifier] {
    state.withLock { $0.unwrittenRevocations + $0.pending.revoked }
  }

  // MARK: Steps of recovery

  private static func checkNotGone(
    _ marks: StoreMarks, hadLock: Bool, witness: String?
  ) throws(KeyStoreError) {
    let snapshot = marks.paths.snapshot
    let evidence = try naming(snapshot) { () throws(SystemError) in
      try marks.files.identity(of: snapshot) == nil
        ? try marks.evidence(hadLock: hadLock, witness: witness) : nil
    }
    if let evidence { throw .gone(snapshot, evidence: evidence) }
  }

  private static func takeLock(_ paths: StorePaths, _ files: any StoreFiles) throws(KeyStoreError)
    -> any StoreLock
  {
    let directory = try naming(paths.directory) { () throws(SystemError) in
      try files.identity(of: paths.insideDirectory)
    }
    guard directory != nil else { throw .directoryMissing(paths.directory) }
    do throws(StoreLockError) {
      return try files.lock(paths.lock)
    } catch {
      switch error {
      case .held(let owner): throw .locked(path: paths.snapshot, owner: owner)
      case .failed(let error): throw KeyStoreError(path: paths.lock, error)
      }
    }
  }

  /// A file that is a mount of its own cannot be replaced (`rename`: EBUSY). Making a hard link to it shows that
  /// without changing it: a link across mounts fails even within one file system. On a file system without hard links
  /// the first snapshot fails instead.
  private static func checkReplaceable(_ paths: StorePaths, _ files: any StoreFiles) throws(KeyStoreError) {
    let identity = try naming(paths.snapshot) { () throws(SystemError) in
      // Left behind by a process that was killed.
      for leftover in [paths.probe, paths.temporary] where try files.identity(of: leftover) != nil {
        try files.remove(leftover)
      }
      return try files.identity(of: paths.snapshot)
    }
    guard let identity else { return }
    if identity.isLink { throw .danglingLink(paths.snapshot) }
    guard identity.isRegular else { throw .notAFile(paths.snapshot) }
    do throws(SystemError) {
      try files.link(paths.snapshot, to: paths.probe)
      try files.remove(paths.probe)
    } catch {
      if error.number == Self.crossesMounts { throw .notReplaceable(paths.snapshot) }
    }
  }

  private static func loadSnapshot(
    _ loader: StoreLoader, _ table: inout KeyTable
  ) throws(KeyStoreError) -> StoreLoader.Snapshot {
    let path = loader.paths.snapshot
    let file = try naming(path) { () throws(SystemError) in
      try loader.files.identity(of: path) == nil ? nil : try loader.files.open(path, .read)
    }
    guard let file else { return StoreLoader.Snapshot(bytes: 0, unknownEnvironments: 0) }
    return try loader.loadSnapshot(file, into: &table)
  }

  private static func replaySegments(
    _ loader: StoreLoader, _ table: inout KeyTable
  ) throws(KeyStoreError) -> [StoreLoader.Segment] {
    var segments: [StoreLoader.Segment] = []
    for number in try loader.segmentNumbers() {
      let path = loader.paths.segment(number)
      let bytes = try naming(path) { () throws(SystemError) in try loader.files.open(path, .read).readAll() }
      segments.append(try loader.replay(number, bytes, into: &table))
    }
    return segments
  }

  /// Reports torn tails, and removes segments that hold nothing; the directory is synced with the next new
  /// name.
  private static func tidy(
    _ segments: [StoreLoader.Segment], _ paths: StorePaths, _ files: any StoreFiles,
    _ report: (KeyStoreEvent) -> Void
  ) throws(KeyStoreError) {
    for segment in segments {
      let path = paths.segment(segment.number)
      if segment.reading.isTorn {
        let valid = segment.reading.validLength
        report(.tornTail(file: path, offset: Int64(valid), bytes: Int64(segment.bytes - valid)))
      }
      guard segment.reading.batches == 0 else { continue }
      try naming(path) { () throws(SystemError) in try files.remove(path) }
    }
  }

  private static func reportMismatches(
    _ table: KeyTable, _ fingerprint: (P256Point) -> Bytes32, _ report: (KeyStoreEvent) -> Void
  ) {
    var count = 0
    var first: KeyIdentifier?
    for position in 0..<table.positions {
      let entry = table[position]
      guard entry.isPresent, fingerprint(entry.publicKey) != entry.identifier.digest else { continue }
      count += 1
      first = first ?? entry.identifier
    }
    if let first { report(.identifierMismatch(keys: count, first: first)) }
  }

  /// EXDEV.
  private static let crossesMounts: Int32 = 18
}
