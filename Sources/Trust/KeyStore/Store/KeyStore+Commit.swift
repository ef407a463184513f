/// Group commit: every fact that waits goes out as one batch and one sync, and the next batch waits for it.
internal import Synchronization
internal import System
internal import Time

extension KeyStore {
  /// The committer's thread.
  func commitUntilClosed() {
    while true {
      if commitOnce() { continue }
      if state.withLock({ $0.isClosing }) { return }
      commitSignal.wait()
    }
  }

  /// Writes the oldest batch that waits, or takes up a new segment. False when there was nothing to do.
  func commitOnce() -> Bool {
    let work = state.withLock { state -> (JournalSegment, PendingFacts.Batch)? in
      guard state.service == .accepting else { return nil }
      // Batches taken before this went to the old segment. The snapshot that the new segment was opened for began to
      // walk the table after that, so it holds their changes.
      state.takeUpNextSegment()
      guard let batch = state.pending.takeFirst() else { return nil }
      state.commitBegan = clock.monotonic()
      return (state.segment, batch)
    }
    guard case (var segment, let batch)? = work else { return false }
    do throws(SystemError) {
      // A batch may hold completions alone (`append(barrier:)`); then there is nothing to write.
      if batch.count > 0 { try segment.append(batch.facts) }
    } catch {
      stall(error, batch)
      return true
    }
    let (hung, time) = noteAnswer()
    let isSnapshotDueSooner = state.withLock { state in
      state.segment = segment
      state.commits += UInt64(batch.count)
      if batch.count > 0 {
        state.batches += 1
        state.commitTimes.record(time)
      }
      if let index = state.segmentBytes.lastIndex(where: { $0.number == segment.number }) {
        state.segmentBytes[index].bytes = segment.length - Int64(JournalHeader.length)
      }
      guard let wake = state.snapshotWake, let due = state.schedule.due(journalBytes: state.journalBytes)
      else {
        return false
      }
      return due < wake
    }
    for completion in batch.completions { completion(.committed) }
    if let hung { report(.journalAnswered(after: hung)) }
    if isSnapshotDueSooner { snapshotSignal.ring() }
    return true
  }

  /// Gives the segment up for good and fails every change that waits. Memory is not rolled back: otherwise an
  /// assertion whose commit failed could be used a second time.
  private func stall(_ error: SystemError, _ batch: PendingFacts.Batch) {
    _ = noteAnswer()
    let waiting = state.withLock { state in
      state.service = .stalled(error)
      state.nextSegment = nil
      let waiting = [batch] + state.pending.takeAll()
      state.unwrittenRevocations += waiting.flatMap(\.revoked)
      return waiting
    }
    report(.journalFailed(error))
    for batch in waiting {
      for completion in batch.completions { completion(.failed) }
    }
    snapshotSignal.ring()
  }

  // MARK: A disk that does not answer

  /// To be called from time to time by a thread that waits for no disk: a call that hangs in the kernel cannot say so.
  func noteHang() {
    let now = clock.monotonic()
    let time = state.withLock { state -> Duration? in
      guard let began = state.commitBegan, !state.isHanging, now - began >= CommitResult.deadline else {
        return nil
      }
      state.isHanging = true
      return now - began
    }
    if let time { report(.journalHangs(time)) }
  }

  /// The disk has answered, one way or the other.
  /// - Returns: how long it took; `hung` where that was noticed.
  private func noteAnswer() -> (hung: Duration?, time: Duration) {
    let now = clock.monotonic()
    return state.withLock { state in
      defer { (state.commitBegan, state.isHanging) = (nil, false) }
      let time = now - (state.commitBegan ?? now)
      return (state.isHanging ? time : nil, time)
    }
  }
}
