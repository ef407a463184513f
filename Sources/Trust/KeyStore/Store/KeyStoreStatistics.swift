/// The store in numbers, for `portcullis stats` and `stats --keys`.
internal import Synchronization
package import System
package import Time

package struct KeyStoreStatistics: Equatable, Sendable {
  package enum Service: Equatable, Sendable {
    case accepting
    case stalled(SystemError)
    /// The disk has not answered for so long.
    case hanging(Duration)
    case closed
  }

  package var service: Service = .accepting
  package var keys: Int = 0
  package var revokedKeys: Int = 0
  package var journalBytes: Int64 = 0
  package var journalSegment: UInt64 = 0
  /// Facts made durable, and the syncs it took.
  package var commits: UInt64 = 0
  package var batches: UInt64 = 0
  /// How long those syncs took.
  package var commitTimes = DurationReading()
  /// Bytes of facts that wait for the journal.
  package var waitingBytes: Int = 0
  package var snapshots: UInt64 = 0
  package var snapshotBytes: Int64 = 0
  package var lastSnapshotAt: UnixTime?
  package var lastSnapshotDuration: Duration = .zero
  package var snapshotTimes = DurationReading()

  /// What a store has nothing to say of stays 0.
  package init() {}
}

extension KeyStore {
  package var statistics: KeyStoreStatistics {
    let now = clock.monotonic()
    return state.withLock { state in
      let service: KeyStoreStatistics.Service =
        switch state.service {
        case _ where state.isClosing: .closed
        case .accepting where state.isHanging: .hanging(now - (state.commitBegan ?? now))
        case .accepting: .accepting
        case .stalled(let error): .stalled(error)
        }
      var statistics = KeyStoreStatistics()
      statistics.service = service
      statistics.keys = state.table.count
      statistics.revokedKeys = state.table.revokedCount
      statistics.journalBytes = state.journalBytes
      statistics.journalSegment = state.segment.number
      statistics.commits = state.commits
      statistics.batches = state.batches
      statistics.commitTimes = state.commitTimes
      statistics.waitingBytes = state.pending.bytes
      statistics.snapshots = state.snapshots
      statistics.snapshotBytes = state.schedule.snapshotBytes
      statistics.lastSnapshotAt = state.lastSnapshotAt
      statistics.lastSnapshotDuration = state.schedule.lastDuration
      statistics.snapshotTimes = state.snapshotTimes
      return statistics
    }
  }
}
