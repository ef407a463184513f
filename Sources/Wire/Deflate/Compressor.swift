/// zlib's compressor for raw deflate data (RFC 1951), one message at a time (RFC 7692 §7.2.1).
internal import CZlib

/// 261 KiB at 15 window bits, 149 KiB at 12.
@safe package struct Compressor: ~Copyable {
  /// Its messages reach back at most two to this power.
  package let windowBits: Int
  private let stream: UnsafeMutablePointer<z_stream>

  /// - Parameter windowBits: 9 to 15; zlib knows no raw deflate with 8.
  package init(windowBits: Int) {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    let status = unsafe portcullis_deflate_begin(
      stream, Self.level, Int32(windowBits), Self.memoryLevel)
    guard status == Z_OK else { fatalError("Compressor: no memory, or \(windowBits) window bits") }
    // zlib remembers where its stream lies: it stays there until deinit.
    unsafe self.stream = stream
    self.windowBits = windowBits
  }

  deinit {
    // Says Z_DATA_ERROR of a stream that was not finished; all is freed nevertheless.
    _ = unsafe deflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Writes `message`, compressed on its own, to the front of `output`.
  ///
  /// - Parameter output: best four bytes longer than the message, for the tail that is cut off.
  /// - Returns: how many bytes it takes; nil when that would be no less than the message has, or does not
  ///   fit.
  package mutating func compress(_ message: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> Int? {
    let room = min(output.count, message.count + Self.tailBytes)
    guard message.count <= Int(UInt32.max) - Self.tailBytes else { return nil }
    // Both spans are borrowed while zlib works in them, with their own lengths, and it is given none between
    // calls.
    let status = unsafe message.withUnsafeBufferPointer { message in
      unsafe output.withUnsafeMutableBufferPointer { output in
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: message.baseAddress)
        unsafe stream.pointee.avail_in = UInt32(message.count)
        unsafe stream.pointee.next_out = output.baseAddress
        unsafe stream.pointee.avail_out = UInt32(room)
        return unsafe deflate(stream, Z_SYNC_FLUSH)
      }
    }
    // A flush that left no room over may not be complete.
    let left = unsafe Int(stream.pointee.avail_out)
    unsafe deflateReset(stream)
    guard status == Z_OK, left > 0 else { return nil }
    return room - left - Self.tailBytes
  }

  /// `00 00 FF FF`, which ends every flush and which the receiver puts back (RFC 7692 §7.2.1 and §7.2.2).
  private static let tailBytes = 4
  /// On what games write: a ninth more bytes than at zlib's 6, at half the time for long messages.
  private static let level: Int32 = 3
  private static let memoryLevel: Int32 = 8
}
