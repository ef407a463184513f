/// Reads and writes at a place of a file, whatever its position is.
internal import Glibc

extension OwnedDescriptor {
  /// How long the file is; its position is then its end.
  package func length() throws(SystemError) -> Int {
    let end = lseek(number, 0, SEEK_END)
    guard end >= 0 else { throw SystemError("lseek") }
    return end
  }

  /// At most `count` bytes from `place` on: fewer only where the file ends.
  package func read(_ count: Int, at place: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      // The slice is within the array, which outlives the call.
      let got = unsafe bytes.withUnsafeMutableBytes { bytes in
        unsafe pread(number, bytes.baseAddress.map { unsafe $0 + done }, count - done, place + done)
      }
      if got == 0 { break }
      if got > 0 { done += got } else if errno != EINTR { throw SystemError("pread") }
    }
    bytes.removeLast(count - done)
    return bytes
  }

  package func write(_ bytes: [UInt8], at place: Int) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      // As above.
      let count = unsafe bytes.withUnsafeBytes { bytes in
        unsafe pwrite(number, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done, place + done)
      }
      if count > 0 { done += count } else if errno != EINTR { throw SystemError("pwrite") }
    }
  }
}
