/// zlib's decompressor for raw deflate data (RFC 1951), one message at a time.
internal import CZlib

/// What keeps data from being deflate data.
package struct MalformedDeflate: Error, Equatable {}

/// About 7 KiB, and once something was inflated its window: 11 KiB together at 12 window bits, 39 KiB at 15.
@safe package struct Inflater: ~Copyable {
  /// What one call did.
  package struct Progress {
    /// Bytes of the input that were used up.
    package let taken: Int
    /// Bytes written to the output.
    package let made: Int
  }

  private let stream: UnsafeMutablePointer<z_stream>
  private var windowBits: Int

  /// - Parameter windowBits: 8 to 15; the data reaches back at most two to its power.
  package init(windowBits: Int) {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    guard unsafe portcullis_inflate_begin(stream, Int32(windowBits)) == Z_OK else {
      fatalError("Inflater: no memory, or \(windowBits) window bits")
    }
    // zlib remembers where its stream lies: it stays there until deinit.
    unsafe self.stream = stream
    self.windowBits = windowBits
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Whether the data so far could end here: no block is open, and no bit waits.
  package var isBetweenBlocks: Bool {
    // Of data_type, the low bits count the bits that wait, and 128 stands for "at the end of a block".
    unsafe stream.pointee.total_in == 0 || stream.pointee.data_type & 0xFF == 128
  }

  /// Forgets all that came.
  package mutating func begin(windowBits: Int) {
    self.windowBits = windowBits
    // Fails only for a wrong number of bits.
    guard unsafe inflateReset2(stream, -Int32(windowBits)) == Z_OK else {
      fatalError("Inflater: \(windowBits) window bits")
    }
  }

  /// Inflates until all of `input` is used up, and what came of it written, or `output` is full.
  ///
  /// A block marked as the last one may be followed by others (RFC 7692 §7.2.3.4).
  package mutating func inflate(
    _ input: Span<UInt8>, into output: inout MutableSpan<UInt8>
  ) throws(MalformedDeflate) -> Progress {
    var taken = 0
    var made = 0
    while true {
      // zlib takes an output without room for a mistake.
      if made == output.count { return Progress(taken: taken, made: made) }
      let rest = input.extracting(taken..<input.count)
      var room = output._mutatingExtracting(made..<output.count)
      let step = call(rest, &room)
      taken += step.progress.taken
      made += step.progress.made
      switch step.status {
      case Z_STREAM_END:
        begin(windowBits: windowBits)
        if taken == input.count { return Progress(taken: taken, made: made) }
      case Z_OK, Z_BUF_ERROR: return Progress(taken: taken, made: made)
      case Z_MEM_ERROR: fatalError("Inflater: no memory for a window")
      default: throw MalformedDeflate()
      }
    }
  }

  private mutating func call(
    _ input: Span<UInt8>, _ output: inout MutableSpan<UInt8>
  ) -> (status: Int32, progress: Progress) {
    // Both spans are borrowed while zlib works in them, with their own lengths, and it is given none between calls.
    let (inputCount, outputCount) = (input.count, output.count)
    let status = unsafe input.withUnsafeBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { output in
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        unsafe stream.pointee.avail_in = UInt32(input.count)
        unsafe stream.pointee.next_out = output.baseAddress
        unsafe stream.pointee.avail_out = UInt32(output.count)
        return unsafe CZlib.inflate(stream, Z_SYNC_FLUSH)
      }
    }
    let progress = unsafe Progress(
      taken: inputCount - Int(stream.pointee.avail_in), made: outputCount - Int(stream.pointee.avail_out))
    return (status, progress)
  }
}
