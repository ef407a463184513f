/// A file descriptor that closes itself, with reads and writes that survive interruption by signals.
internal import CLinux
internal import Glibc

package struct OwnedDescriptor: ~Copyable {
  package let number: Int32

  package init(owning number: Int32) {
    self.number = number
  }

  deinit { _ = close(number) }

  /// The number alone, whose closing is the caller's from then on.
  package consuming func release() -> Int32 {
    let number = number
    discard self
    return number
  }

  /// One more descriptor for what the process was given, such as 0, 1 or 2; its number is `lowest` at least.
  package static func duplicate(
    _ number: Int32, from lowest: Int32 = 3
  ) throws(SystemError) -> OwnedDescriptor {
    let copy = fcntl(number, F_DUPFD_CLOEXEC, lowest)
    guard copy >= 0 else { throw SystemError("dup \(number)") }
    return OwnedDescriptor(owning: copy)
  }

  /// A former holder of one of them must not use it any more.
  package static func closeAll(from lowest: Int32) { portcullis_close_from(lowest) }

  package static func open(reading path: String) throws(SystemError) -> OwnedDescriptor {
    try open(path, O_RDONLY, 0)
  }

  /// An existing file, whose bytes are replaced from the first on.
  package static func open(writing path: String) throws(SystemError) -> OwnedDescriptor {
    try open(path, O_WRONLY, 0)
  }

  /// With close-on-exec; `mode` counts when the flags create the file.
  package static func open(_ path: String, _ flags: Int32, _ mode: UInt32) throws(SystemError)
    -> OwnedDescriptor
  {
    while true {
      // The kernel reads the path during the call alone.
      let number = unsafe path.withCString { path in unsafe portcullis_open(path, flags, mode) }
      if number >= 0 { return OwnedDescriptor(owning: number) }
      guard errno == EINTR else { throw SystemError("open \(path)") }
    }
  }

  /// At most `buffer.count` bytes; 0 at the end of the file.
  package func read(into buffer: inout [UInt8]) throws(SystemError) -> Int {
    while true {
      // The call writes at most as many bytes as the array has.
      let count = unsafe Glibc.read(number, &buffer, buffer.count)
      if count >= 0 { return count }
      guard errno == EINTR else { throw SystemError("read") }
    }
  }

  package func writeAll(_ bytes: [UInt8]) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      // The slice is within the array, which outlives the call.
      let count = unsafe bytes.withUnsafeBytes { bytes in
        unsafe Glibc.write(number, bytes.baseAddress.map { unsafe $0 + written }, bytes.count - written)
      }
      if count > 0 { written += count } else if errno != EINTR { throw SystemError("write") }
    }
  }
}
