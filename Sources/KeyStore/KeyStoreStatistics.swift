/// The store in numbers, for `portcullis stats` and `keys stats`.
internal import Synchronization
package import System

package struct KeyStoreStatistics: Equatable, Sendable {
  package enum Service: Equatable, Sendable {
    case accepting
    case stalled(SystemError)
    /// The disk has not answered for so long.
    case hanging(Duration)
    case closed
  }

  package let service: Service
  package let keys: Int
  package let revokedKeys: Int
  package let keysWithSessions: Int
  package let journalBytes: Int64
  package let journalSegment: UInt64
  /// Facts made durable, and the syncs it took.
  package let commits: UInt64
  package let batches: UInt64
  /// Bytes of facts that wait for the journal.
  package let waitingBytes: Int
  package let snapshots: UInt64
  package let snapshotBytes: Int64
  package let lastSnapshotAt: UnixTime?
  package let lastSnapshotDuration: Duration
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
      return KeyStoreStatistics(
        service: service, keys: state.table.count, revokedKeys: state.table.revokedCount,
        keysWithSessions: state.sessions.count, journalBytes: state.journalBytes,
        journalSegment: state.segment.number, commits: state.commits, batches: state.batches,
        waitingBytes: state.pending.bytes,
        snapshots: state.snapshots, snapshotBytes: state.schedule.snapshotBytes,
        lastSnapshotAt: state.lastSnapshotAt, lastSnapshotDuration: state.schedule.lastDuration)
    }
  }
}
