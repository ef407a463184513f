import CZlib
import Kit
import Testing

@testable import Deflate

/// Streams in zlib's own format (RFC 1950).
@Suite struct StreamInflaterTests {
  /// All of `stream`, in pieces of `pieceBytes`, with room for `outputBytes` at a time.
  private func inflate(
    _ stream: [UInt8], pieceBytes: Int, outputBytes: Int
  ) -> (bytes: [UInt8], last: StreamInflater.Outcome, taken: Int) {
    var inflater = StreamInflater()
    var bytes: [UInt8] = []
    var taken = 0
    var last = StreamInflater.Outcome.taken
    while taken < stream.count || last == .outputFull {
      var output = [UInt8](repeating: 0xEE, count: outputBytes)
      let piece = Array(stream[taken..<min(taken + pieceBytes, stream.count)])
      var position = 0
      var end = 0
      var room = output.mutableSpan
      last = inflater.inflate(piece.span, &position, into: &room, &end)
      bytes += output[..<end]
      taken += position
      if last == .ended || last == .damaged { break }
      #expect(last == .outputFull ? end == outputBytes : position == piece.count)
    }
    return (bytes, last, taken)
  }

  @Test(arguments: [1, 2, 7, 4096], [1, 3, 4096])
  func howeverItComes(pieceBytes: Int, outputBytes: Int) {
    var random = SplitMix(seed: 1950)
    for message in [[], random.bytes(1), random.prose(3000), random.bytes(2000)] as [[UInt8]] {
      let stream = deflated([message])
      let result = inflate(stream + [1, 2, 3], pieceBytes: pieceBytes, outputBytes: outputBytes)
      #expect(result.bytes == message)
      #expect(result.last == .ended)
      #expect(result.taken == stream.count)
    }
  }

  @Test func whatWasFlushedIsThereAtOnce() {
    let (first, second) = (Array("Welcome!\r\n".utf8), Array("> ".utf8))
    let stream = deflated([first, second], ends: false)
    for cut in 0...stream.count {
      let result = inflate(Array(stream[..<cut]), pieceBytes: 100, outputBytes: 100)
      #expect((first + second).starts(with: result.bytes) && result.last == .taken)
      if cut == stream.count { #expect(result.bytes == first + second) }
    }
  }

  @Test func damage() {
    let stream = deflated([Array("some text, some text".utf8)])
    // The head, its check, the kind of the first block, the checksum.
    for index in [0, 1, 2, stream.count - 1] {
      var damaged = stream
      damaged[index] ^= 0xFF
      #expect(inflate(damaged, pieceBytes: 100, outputBytes: 100).last == .damaged, "\(index)")
    }
    // A stream that asks for a dictionary, and raw deflate data.
    #expect(inflate([0x78, 0xBB, 0, 0, 0, 1], pieceBytes: 9, outputBytes: 9).last == .damaged)
    #expect(
      inflate(compress([UInt8](repeating: 65, count: 99)) ?? [], pieceBytes: 9, outputBytes: 9).last
        == .damaged)
  }

  @Test func aBombComesInBoundedPieces() {
    let stream = deflated([[UInt8](repeating: 0, count: 10_000_000)])
    #expect(stream.count < 20_000)
    var inflater = StreamInflater()
    var position = 0
    var calls = 0
    var made = 0
    while true {
      var output = [UInt8](repeating: 1, count: 16_384)
      var end = 0
      var room = output.mutableSpan
      let outcome = inflater.inflate(stream.span, &position, into: &room, &end)
      calls += 1
      made += end
      if outcome == .ended { break }
      guard outcome == .outputFull else { return #expect(Bool(false), "\(outcome)") }
    }
    #expect(made == 10_000_000 && calls >= 10_000_000 / 16_384)
  }
}

/// Messages as one stream, each flushed.
private func deflated(_ messages: [[UInt8]], ends: Bool = true) -> [UInt8] {
  var stream = unsafe z_stream()
  let began = unsafe deflateInit_(&stream, 6, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
  guard began == Z_OK else { fatalError("no deflate") }
  defer { _ = unsafe deflateEnd(&stream) }
  var output: [UInt8] = []
  for (index, message) in messages.enumerated() {
    var room = [UInt8](repeating: 0, count: message.count + message.count / 100 + 64)
    var copy = message
    let capacity = room.count
    // Both buffers live through the call, which is given their lengths.
    unsafe copy.withUnsafeMutableBufferPointer { input in
      unsafe room.withUnsafeMutableBufferPointer { room in
        unsafe stream.next_in = input.baseAddress
        unsafe stream.avail_in = UInt32(input.count)
        unsafe stream.next_out = room.baseAddress
        unsafe stream.avail_out = UInt32(capacity)
        _ = unsafe deflate(&stream, ends && index == messages.count - 1 ? Z_FINISH : Z_SYNC_FLUSH)
      }
    }
    output += room[..<(capacity - Int(unsafe stream.avail_out))]
  }
  return output
}
