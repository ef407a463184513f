/// zlib's decompressor for raw deflate data (RFC 1951).
internal import CZlib

/// About 7 KiB, and once something was inflated its window: 11 KiB together at 12 window bits, 39 KiB at 15.
@safe package struct Inflater: ~Copyable {
  /// What one call did.
  package struct Progress {
    /// Bytes of the input that were used up.
    package var taken = 0
    /// Bytes written to the output.
    package var made = 0
    /// What follows them is no deflate data.
    package var isMalformed = false
  }

  private let stream: UnsafeMutablePointer<z_stream>
  /// Whether the data so far could end here: no block is open, and no bit waits.
  package private(set) var isBetweenBlocks = true

  /// - Parameter windowBits: 8 to 15; the data reaches back at most two to its power.
  package init(windowBits: Int) {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    guard unsafe portcullis_inflate_begin(stream, Int32(windowBits)) == Z_OK else {
      fatalError("Inflater: no memory, or \(windowBits) window bits")
    }
    // zlib remembers where its stream lies: it stays there until deinit.
    unsafe self.stream = stream
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Forgets all that came.
  package mutating func begin(windowBits: Int) {
    isBetweenBlocks = true
    // Fails only for a wrong number of bits.
    guard unsafe inflateReset2(stream, -Int32(windowBits)) == Z_OK else {
      fatalError("Inflater: \(windowBits) window bits")
    }
  }

  // MARK: The window

  /// What comes may reach back into `window`, as if it had been inflated here. Between blocks only.
  package mutating func resume(_ window: [UInt8]) {
    if window.isEmpty { return }
    // zlib copies it; the array is borrowed meanwhile, with its own length.
    let status = unsafe window.withUnsafeBufferPointer { window in
      unsafe inflateSetDictionary(stream, window.baseAddress, UInt32(window.count))
    }
    guard status == Z_OK else { fatalError("Inflater: no memory for a window") }
  }

  /// The last bytes that were inflated, as many as what comes may reach back into.
  package func save(to window: inout [UInt8]) {
    var count: UInt32 = 0
    // Without a place to write to, zlib says only how many there are.
    unsafe inflateGetDictionary(stream, nil, &count)
    if window.count != Int(count) { window = [UInt8](repeating: 0, count: Int(count)) }
    // It writes as many as it has just said, and the array has as many.
    unsafe window.withUnsafeMutableBufferPointer { window in
      _ = unsafe inflateGetDictionary(stream, window.baseAddress, &count)
    }
  }

  // MARK: Data

  /// Inflates until all of `input` is used up, and what came of it written, or `output` is full.
  ///
  /// A block marked as the last one may be followed by others (RFC 7692 §7.2.3.4).
  package mutating func inflate(_ input: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> Progress {
    var progress = Progress()
    // zlib takes an output without room for a mistake.
    while progress.made < output.count {
      let rest = input.extracting(progress.taken..<input.count)
      var room = output._mutatingExtracting(progress.made..<output.count)
      let status = call(rest, &room)
      let taken = unsafe rest.count - Int(stream.pointee.avail_in)
      progress.taken += taken
      progress.made += unsafe room.count - Int(stream.pointee.avail_out)
      switch status {
      case Z_STREAM_END:
        // The window stays: it is the connection's, and not the block's (RFC 7692 §7.2.3.2).
        unsafe inflateResetKeep(stream)
        isBetweenBlocks = true
        if progress.taken == input.count { return progress }
      case Z_OK, Z_BUF_ERROR:
        // The low bits count the bits that wait, 128 stands for "at the end of a block", and a call without
        // input wipes that out.
        if taken > 0 || !isBetweenBlocks { isBetweenBlocks = unsafe stream.pointee.data_type & 0xFF == 128 }
        return progress
      case Z_MEM_ERROR: fatalError("Inflater: no memory for a window")
      default:
        progress.isMalformed = true
        return progress
      }
    }
    return progress
  }

  /// Both spans are borrowed while zlib works in them, with their own lengths; it is given them anew with
  /// each call.
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
