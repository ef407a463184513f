/// When the next snapshot is due (docs/key-store.md, "Snapshot"): a pure decision from readings of the clock.
///
/// The first change starts the wait and later ones never prolong it, so that steady traffic cannot starve it. Of changes that
/// come while a snapshot is being written the wait starts when that is done: writing is a share of 1/21 at most.
internal import Time

struct SnapshotSchedule: Sendable {
  /// Where the wait counts from: the oldest change that no snapshot holds, or the end of the last one.
  private(set) var firstChange: MonotonicTime?
  private(set) var lastDuration: Duration = .zero
  /// Bytes of the last snapshot that was read or written.
  private(set) var snapshotBytes: Int64 = 0
  /// The `firstChange` of the snapshot that is being written; restored if that fails.
  private var changeInProgress: MonotonicTime?
  private var failures = 0
  private var retryAt: MonotonicTime?

  init(snapshotBytes: Int64) {
    self.snapshotBytes = snapshotBytes
  }

  var isClean: Bool { firstChange == nil && changeInProgress == nil }

  /// True when this change is the first since the last snapshot began, so that the snapshot's thread has to be woken.
  mutating func noteChange(at now: () -> MonotonicTime) -> Bool {
    guard firstChange == nil else { return false }
    firstChange = now()
    return true
  }

  /// Nil while nothing has changed.
  func due(journalBytes: Int64) -> MonotonicTime? {
    guard let firstChange else { return nil }
    var due = firstChange + max(Self.shortestWait, lastDuration * Self.restPerWork)
    if snapshotBytes > Self.largeSnapshot, journalBytes <= snapshotBytes / Self.journalShare {
      due = max(due, firstChange + Self.longestWait)
    }
    if let retryAt { due = max(due, retryAt) }
    return due
  }

  /// When recovery may try again; nil before its first attempt.
  var recoveryDue: MonotonicTime? { retryAt }

  mutating func began() {
    changeInProgress = changeInProgress ?? firstChange
    firstChange = nil
  }

  mutating func finished(at now: MonotonicTime, bytes: Int64, duration: Duration) {
    (snapshotBytes, lastDuration) = (bytes, duration)
    if let first = firstChange { firstChange = max(first, now) }
    (changeInProgress, retryAt, failures) = (nil, nil, 0)
  }

  /// - Returns: how long to wait before the next attempt.
  mutating func failed(at now: MonotonicTime) -> Duration {
    let wait = min(Self.longestBackoff, Self.shortestWait * (1 << min(failures, 10)))
    failures += 1
    retryAt = now + wait
    firstChange = changeInProgress ?? firstChange ?? now
    changeInProgress = nil
    return wait
  }

  static let shortestWait: Duration = .seconds(1)
  static let restPerWork = 20
  /// Up to here a snapshot is cheap enough to be written for one change.
  static let largeSnapshot: Int64 = 16 << 20
  static let journalShare: Int64 = 10
  static let longestWait: Duration = .seconds(600)
  static let longestBackoff: Duration = .seconds(30)
}
