/// A loop's buffer for one read, shared by its connections; nothing stays in it between turns.
internal import Glibc

/// Memory that is asked for once and becomes resident where it is used.
@safe package final class Scratch {
  package static let size = 64 * 1024

  private let memory: UnsafeMutableBufferPointer<UInt8>
  private var isLent = false

  package init() {
    // Zeros, as safe code may read what it has not written; the kernel's fresh pages are zero untouched.
    guard let bytes = unsafe calloc(Self.size, 1) else { fatalError("Scratch: no memory") }
    unsafe memory = UnsafeMutableBufferPointer(
      start: bytes.bindMemory(to: UInt8.self, capacity: Self.size), count: Self.size)
  }

  deinit {
    unsafe free(memory.baseAddress)
  }

  /// Lends the bytes to `body`, and to one at a time.
  package func withBytes<Result, Failure: Error>(
    _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if isLent { fatalError("Scratch: lent already") }
    isLent = true
    defer { isLent = false }
    // The memory lives as long as this object, which the caller holds; `isLent` keeps the span the only one.
    var span = unsafe MutableSpan(_unsafeElements: memory)
    return try body(&span)
  }
}
