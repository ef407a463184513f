/// The snapshot: when it is due, how it is written beside running traffic, and how it ends an outage of the
/// journal.
internal import Synchronization
internal import System
internal import Time

extension KeyStore {
  /// The snapshot's thread. While nothing changes it sleeps without a deadline.
  func snapshotUntilClosed() {
    while !state.withLock({ $0.isClosing }) {
      let next = snapshotStep()
      state.withLock { $0.snapshotWake = next }
      // A change made since that step has rung the signal, so this wait returns at once.
      snapshotSignal.wait(until: next)
    }
  }

  /// Writes a snapshot if one is due, for its own sake or to end an outage.
  /// - Returns: when to come again; nil when rung.
  func snapshotStep() -> MonotonicTime? {
    while true {
      let now = clock.monotonic()
      let (due, isRecovering) = state.withLock { state -> (MonotonicTime?, Bool) in
        if state.service != .accepting { return (state.schedule.recoveryDue ?? now, true) }
        return (state.schedule.due(journalBytes: state.journalBytes), false)
      }
      guard let due, !state.withLock({ $0.isClosing }) else { return nil }
      if now < due { return due }
      _ = attemptSnapshot(recovering: isRecovering)
    }
  }

  /// - Returns: whether the snapshot is durable.
  func attemptSnapshot(recovering: Bool) -> Bool {
    do throws(SystemError) {
      try writeSnapshot(recovering: recovering)
      return true
    } catch {
      // On a full disk the half of a snapshot would take the journal's room.
      try? files.remove(paths.temporary)
      let now = clock.monotonic()
      let wait = state.withLock { state in
        state.keepsSegment = true
        return state.schedule.failed(at: now)
      }
      report(.snapshotFailed(error, retryAfter: wait))
      return false
    }
  }

  /// New segment, temporary file, fsync, rename, fsync of the directory; and only then the old segments go.
  func writeSnapshot(recovering: Bool) throws(SystemError) {
    let started = clock.monotonic()
    let first = try beginSegment(recovering: recovering)
    let (keys, bytes) = try writeTemporary()
    try files.rename(paths.temporary, to: paths.snapshot)
    try files.synchronizeDirectory(paths.directory)
    removeSegments(below: first)
    let ended = clock.monotonic()
    let duration = ended - started
    finish(recovering: recovering, at: ended, bytes: bytes, duration: duration)
    report(.snapshotWritten(keys: keys, bytes: bytes, duration: duration))
    if recovering { report(.serviceRecovered) }
  }

  /// Opens the segment for the facts that the snapshot may lack: those that come after this returns.
  /// - Returns: the first segment that the snapshot does not make superfluous.
  private func beginSegment(recovering: Bool) throws(SystemError) -> UInt64 {
    let kept = state.withLock { state -> UInt64? in
      if recovering {
        guard let segment = state.recoverySegment else { return nil }
        state.beginWalk(recovering: true)
        return segment.number
      }
      // After a failed snapshot its segment is used again: on a disk that is full for days, each attempt would leave a
      // file.
      guard state.keepsSegment, state.newestSegment.length < SnapshotSchedule.largeSnapshot else {
        return nil
      }
      state.beginWalk(recovering: false)
      return state.newestSegment.number
    }
    if let kept { return kept }
    let number = state.withLock { state in
      let number = (state.segmentBytes.last?.number ?? 0) + 1
      state.segmentBytes.append((number, 0))
      return number
    }
    let segment = try JournalSegment(creating: number, restarts: recovering, paths, files, entropy)
    state.withLock { state in
      if recovering {
        state.recoverySegment = segment
      } else if state.service == .accepting {
        state.nextSegment = segment
      }
      state.beginWalk(recovering: recovering)
    }
    commitSignal.ring()
    return number
  }

  /// Streams all keys to the temporary file, holding the lock for a few hundred at a time.
  private func writeTemporary() throws(SystemError) -> (keys: Int, bytes: Int64) {
    if try files.identity(of: paths.temporary) != nil { try files.remove(paths.temporary) }
    let file = SnapshotFile(
      try files.open(paths.temporary, .create),
      pseudonymKeyMadeAt: state.withLock { $0.table.pseudonymKeyMadeAt })
    let writer = lifetime.withLock { $0.writer }
    while true {
      state.withLock { file.copy(from: $0.table) }
      // Before the store's threads run, and after them, nobody is behind whom to write.
      if let writer { writer.write(file) } else { file.write() }
      if let result = try file.result() { return result }
    }
  }

  private func finish(recovering: Bool, at ended: MonotonicTime, bytes: Int64, duration: Duration) {
    let now = clock.wall()
    state.withLock { state in
      state.keepsSegment = false
      state.snapshots += 1
      state.snapshotTimes.record(duration)
      state.lastSnapshotAt = now
      state.schedule.finished(at: ended, bytes: bytes, duration: duration)
      if recovering, let segment = state.recoverySegment {
        (state.segment, state.recoverySegment) = (segment, nil)
        state.service = .accepting
        state.unwrittenRevocations = []
      }
    }
    if recovering { commitSignal.ring() }
  }

  /// Oldest first, each removed durably before the next. If an old segment outlived a newer one, replay would repeat
  /// the removal of a key without the registration that came after it. Stops at the first segment that cannot be
  /// removed.
  func removeSegments(below first: UInt64) {
    let numbers = state.withLock { state in state.segmentBytes.map(\.number).filter { $0 < first } }
    for number in numbers {
      let path = paths.segment(number)
      do throws(SystemError) {
        if try files.identity(of: path) != nil {
          try files.remove(path)
          try files.synchronizeDirectory(paths.directory)
        }
      } catch {
        report(.segmentNotRemoved(file: path, error))
        return
      }
      state.withLock { $0.segmentBytes.removeAll { $0.number == number } }
    }
  }
}

extension StoreState {
  /// From here on facts go to the new segment. In recovery the facts that wait (revocations) are dropped: they are in
  /// the table already, so this snapshot holds them.
  fileprivate mutating func beginWalk(recovering: Bool) {
    schedule.began()
    if recovering { unwrittenRevocations += pending.takeAll().flatMap(\.revoked) }
  }
}
