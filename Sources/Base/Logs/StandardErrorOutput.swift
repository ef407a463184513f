/// Standard error, written with blocking calls; its flags are never touched, since other processes share
/// them.
internal import Glibc

package struct StandardErrorOutput: LogOutput {
  private let descriptor: Int32

  package init() {
    descriptor = STDERR_FILENO
  }

  /// For tests: any open descriptor, which stays the caller's.
  init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  package func write(_ bytes: [UInt8]) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
      var offset = 0
      while offset < bytes.count {
        // Offset and count stay within the array, which lives for the closure.
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset...])
        let count = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count >= 0 {
          offset += count
        } else if errno == EAGAIN {
          // Somebody else made the shared terminal or pipe non-blocking: wait here until it takes more.
          var interest = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          _ = unsafe poll(&interest, 1, -1)
        } else if errno != EINTR {
          return false
        }
      }
      return true
    }
  }
}
