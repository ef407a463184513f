/// Memory that is kept for those who are in: while it cannot be had, nothing new begins.
///
/// A Swift program ends when an allocation of its own fails. So newcomers are turned away while there is still some left,
/// and what those who are in need for a record or a queue can be had.
internal import CLinux

package struct MemoryReserve {
  /// Several times what one turn of all loops takes for newcomers.
  private static let bytes = 4 << 20

  /// The turn in which there was enough.
  private var sufficed: MonotonicTime?

  package init() {}

  /// Nil when there is enough for the newcomers of the turn that began at `turn`. Asks the kernel once, which counts limits
  /// of the process (`RLIMIT_AS`, `RLIMIT_DATA`) and, where it does not overcommit, its own memory; about five
  /// microseconds.
  package mutating func shortage(in turn: MonotonicTime) -> SystemError? {
    if sufficed == turn { return nil }
    guard portcullis_has_memory(Self.bytes) == 1 else { return SystemError("mmap") }
    sufficed = turn
    return nil
  }
}
