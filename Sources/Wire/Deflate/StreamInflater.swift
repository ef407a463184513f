/// zlib's decompressor for a stream in zlib's own format (RFC 1950), read as it comes: what MCCP sends.
internal import CZlib

/// About 7 KiB, and its window of 32 KiB once something was inflated.
@safe package struct StreamInflater: ~Copyable {
  package enum Outcome: Equatable {
    /// All input was used up, and what came of it is written.
    case taken
    /// Call again with what is left of the input, even if nothing is, and more room.
    case outputFull
    /// The stream has ended, and its checksum is right. What follows in the input is not part of it.
    case ended
    /// What follows is no such stream; what was written before is good.
    case damaged
  }

  private let stream: UnsafeMutablePointer<z_stream>

  package init() {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    guard unsafe portcullis_inflate_begin_zlib(stream) == Z_OK else {
      fatalError("StreamInflater: no memory")
    }
    // zlib remembers where its stream lies: it stays there until deinit.
    unsafe self.stream = stream
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Inflates `input[position...]` into `output[end...]`, which has room, and moves both behind what was done.
  package mutating func inflate(
    _ input: Span<UInt8>, _ position: inout Int, into output: inout MutableSpan<UInt8>, _ end: inout Int
  ) -> Outcome {
    let rest = input.extracting(position..<input.count)
    var room = output._mutatingExtracting(end..<output.count)
    guard !room.isEmpty else { return .outputFull }
    let status = call(rest, &room)
    position += unsafe rest.count - Int(stream.pointee.avail_in)
    end += unsafe room.count - Int(stream.pointee.avail_out)
    switch status {
    case Z_OK, Z_BUF_ERROR: return end == output.count ? .outputFull : .taken
    case Z_STREAM_END: return .ended
    case Z_MEM_ERROR: fatalError("StreamInflater: no memory for a window")
    default: return .damaged
    }
  }

  /// Both spans are borrowed while zlib works in them, with their own lengths; it is given them anew with each call.
  private mutating func call(_ input: Span<UInt8>, _ output: inout MutableSpan<UInt8>) -> Int32 {
    unsafe input.withUnsafeBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { output in
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        unsafe stream.pointee.avail_in = UInt32(input.count)
        unsafe stream.pointee.next_out = output.baseAddress
        unsafe stream.pointee.avail_out = UInt32(output.count)
        return unsafe CZlib.inflate(stream, Z_SYNC_FLUSH)
      }
    }
  }
}
