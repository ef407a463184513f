/// Memory that is kept for those who are in: while it cannot be had, nothing new begins.
///
/// A Swift program ends when an allocation of its own fails. So newcomers are turned away while there is still some left,
/// and what those who are in need for a record or a queue can be had.
internal import CLinux
internal import Synchronization

package struct MemoryReserve {
  /// Several times what one turn of all loops takes for newcomers.
  private static let bytes = 4 << 20

  /// One thread of the process asks at a time: to another, the four megabytes of its question would be memory that is gone.
  private static let asking = Mutex(())

  /// The turn in which there was enough.
  private var sufficed: MonotonicTime?

  package init() {}

  /// Nil when there is enough for the newcomers of the turn that began at `turn`. Asks the kernel once, which counts limits
  /// of the process (`RLIMIT_AS`, `RLIMIT_DATA`) and, where it does not overcommit, its own memory; about five
  /// microseconds.
  package mutating func shortage(in turn: MonotonicTime) -> SystemError? {
    if sufficed == turn { return nil }
    let shortage = Self.asking.withLock { _ in
      portcullis_has_memory(Self.bytes) == 1 ? nil : SystemError("mmap")
    }
    if shortage == nil { sufficed = turn }
    return shortage
  }
}
