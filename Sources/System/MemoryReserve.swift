/// Memory that is kept for those who are in: while it cannot be had, nothing new begins.
///
/// A Swift program ends when an allocation of its own fails. So newcomers are turned away while there is still some left,
/// and what those who are in need for a record or a queue can be had.
internal import CLinux

package struct MemoryReserve {
  /// Several times what the newcomers of one asking take in all loops.
  private static let bytes = 4 << 20
  /// How many steps of newcomers one asking is good for, and for how long.
  private static let steps = 16
  private static let period: Duration = .milliseconds(2)

  private var stepsLeft = 0
  private var expiry = MonotonicTime.never

  package init() {}

  /// Nil when there is enough for one newcomer's next step. Asks the kernel now and then, which counts limits of the process
  /// (`RLIMIT_AS`, `RLIMIT_DATA`) and, where it does not overcommit, its own memory: some microseconds each time.
  package mutating func shortage(now: MonotonicTime) -> SystemError? {
    if stepsLeft == 0 || now >= expiry {
      guard portcullis_has_memory(Self.bytes) == 1 else {
        stepsLeft = 0
        return SystemError("mmap")
      }
      stepsLeft = Self.steps
      expiry = now + Self.period
    }
    stepsLeft -= 1
    return nil
  }
}
