/// Memory that is kept for those who are in: while it cannot be had, nothing new begins.
///
/// A Swift program ends when an allocation of its own fails. So newcomers are turned away while there is still some left,
/// and what those who are in need for a record or a queue can be had.
internal import CLinux

package enum MemoryReserve {
  /// Several times what one turn of all loops takes for newcomers.
  static let bytes = 4 << 20

  /// Nil when there is enough. Asks the kernel, which counts limits of the process (`RLIMIT_AS`, `RLIMIT_DATA`) and, where
  /// it does not overcommit, its own memory; about a microsecond.
  package static func shortage() -> SystemError? {
    portcullis_has_memory(bytes) == 1 ? nil : SystemError("mmap")
  }
}
