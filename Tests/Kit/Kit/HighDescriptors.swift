/// Numbers of descriptors at the end of what the process may have, where the kernel puts none by itself: a test that gives
/// one a number of its own must not take another test's.
internal import Glibc

package enum HighDescriptors {
  /// - Parameter offset: 0 to 511; each test has its own.
  package static func number(_ offset: Int32) -> Int32 {
    // More than these make the kernel's table of them large.
    Int32(min(sysconf(Int32(_SC_OPEN_MAX)), 60_000)) - 512 + offset
  }
}
