/// Memory that is kept for those who are in: while it cannot be had, nothing new begins.
///
/// A Swift program ends when an allocation of its own fails. So newcomers are turned away while there is still some left,
/// and what those who are in need for a record or a queue can be had.
internal import CLinux
internal import Synchronization
package import Time

package struct MemoryReserve {
  /// Several times what all loops take for newcomers while an answer is good.
  private static let bytes = 4 << 20

  /// One thread of the process asks at a time: to another, the four megabytes of its question would be memory that is gone.
  private static let asking = Mutex(())

  /// How long there is enough where there was: some turns, or one that newcomers fill.
  private static let goodFor: Duration = .milliseconds(1)

  /// When there was enough.
  private var sufficed: MonotonicTime?

  package init() {}

  /// Nil when there is enough for newcomers. Asks the kernel at most once in a millisecond, which counts limits of the
  /// process (`RLIMIT_AS`, `RLIMIT_DATA`) and, where it does not overcommit, its own memory; about ten microseconds.
  package mutating func shortage(at now: MonotonicTime) -> SystemError? {
    if let sufficed, now - sufficed < Self.goodFor { return nil }
    let shortage = Self.asking.withLock { _ in
      portcullis_has_memory(Self.bytes) == 1 ? nil : SystemError("mmap")
    }
    if shortage == nil { sufficed = now }
    return shortage
  }
}
