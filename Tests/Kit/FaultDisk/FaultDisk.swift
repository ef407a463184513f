/// A disk in memory for SQLite that fails on request and loses power (CFaultDisk).
internal import CFaultDisk
package import SQL
internal import SQLite
internal import Synchronization

/// All that a test asks of it is safe from any thread. It has to outlive the connections to its files.
@safe package final class FaultDisk: Sendable {
  package enum Fault: CaseIterable, Sendable {
    /// Calls fail.
    case error
    /// What would make a file longer fails.
    case full
    /// `kill -9`: what was written is there afterwards.
    case kill
    /// What was not synced is there afterwards, or not, or in part.
    case powerLoss
  }

  /// What SQLite knows it by.
  package let name: String
  private nonisolated(unsafe) let disk: OpaquePointer
  private static let count = Atomic<Int>(0)

  package init(seed: UInt64) throws(SQLError) {
    // Registering one would make SQLite start with what it was told by then.
    try SQLiteLibrary.start()
    name = "fault-\(Self.count.add(1, ordering: .relaxed).newValue)"
    // The name is copied.
    unsafe disk = fault_disk_make(name, seed)
  }

  deinit { unsafe fault_disk_free(disk) }

  /// Since the last plan or restart.
  package var calls: Int { unsafe Int(fault_disk_calls(disk)) }
  /// Killed, or without power, until a restart.
  package var isDown: Bool { unsafe fault_disk_is_down(disk) != 0 }

  /// Counts calls from 0 again; `count` of them from the given one on fail.
  package func plan(_ fault: Fault, at call: Int, count: Int = 1) {
    let kind =
      switch fault {
      case .error: FAULT_IO
      case .full: FAULT_FULL
      case .kill: FAULT_KILL
      case .powerLoss: FAULT_POWER
      }
    unsafe fault_disk_plan(disk, kind, Int64(call), Int64(count))
  }

  package func countCalls() { unsafe fault_disk_plan(disk, FAULT_NONE, 0, 0) }

  /// The next process finds what is there. Connections of before must be closed.
  package func restart() { unsafe fault_disk_restart(disk) }

  /// No file grows when all together take so many bytes more than now; nil: as much as there is.
  package func setRoom(_ bytes: Int?) { unsafe fault_disk_set_room(disk, Int64(bytes ?? -1)) }
}
