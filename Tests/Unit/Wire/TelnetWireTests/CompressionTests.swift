import CZlib
import Deflate
import System
import Testing
import Time

@testable import TelnetWire

/// MCCP 2: `IAC SB 86 IAC SE`, and from there on a stream of zlib's.
@Suite struct CompressionTests {
  private static let on = settings(compression: true)
  private static let start = wire("IAC SB 86 IAC SE")
  private static let agreed = wire("IAC WILL 86")

  @Test func howeverItIsCut() {
    let said = wire("'Hello' CR NUL IAC WILL 201 IAC IAC IAC GA IAC SB 201 'Char {}' IAC SE")
    let stream = zlibStream(said)
    let talk = Conversation.everyWay(
      wire("'a'") + Self.start + stream + wire("'plain' IAC GA"), Self.on, after: Self.agreed)
    #expect(
      talk.happenings == [
        .text("a"), .event(.compressionStarted), .text(wire("'Hello' CR")), .event(.gmcpAgreed), .text([255]),
        .event(.prompt), .gmcp("Char", "{}"), .event(.compressionEnded), .text("plain"), .event(.prompt),
      ])
    #expect(talk.output.starts(with: wire("IAC DO 201")))
    #expect(!talk.state.isCompressed)
  }

  @Test func itMayBeginAgain() {
    let bytes =
      Self.start + zlibStream(wire("'x' IAC")) + wire("IAC") + Self.start
      + zlibStream(wire("'y'"), ends: false)
    let talk = Conversation.everyWay(bytes, Self.on, after: Self.agreed)
    #expect(
      talk.happenings == [
        .event(.compressionStarted), .text("x"), .event(.compressionEnded), .text([255]),
        .event(.compressionStarted), .text("y"),
      ])
  }

  @Test func onlyWhereItWasAgreedTo() {
    for (settings, before) in [(Self.on, []), (settings(), Self.agreed)] {
      let talk = Conversation.everyWay(Self.start + wire("'plain'"), settings, after: before)
      #expect(talk.happenings == [.text("plain")])
    }
    let odd = Conversation.everyWay(wire("IAC SB 86 1 IAC SE 'plain'"), Self.on, after: Self.agreed)
    #expect(odd.happenings == [.text("plain")])
  }

  /// Within the stream the start means nothing.
  @Test func itDoesNotBeginTwice() {
    let talk = Conversation.everyWay(
      Self.start + zlibStream(wire("'x'") + Self.start + wire("'y'")), Self.on, after: Self.agreed)
    #expect(
      talk.happenings == [.event(.compressionStarted), .text("xy"), .event(.compressionEnded)])
  }

  @Test func damageEndsIt() {
    var stream = zlibStream(wire("'some text that goes on'"))
    stream[stream.count - 1] ^= 1
    for pieces in [[stream], stream.map { [$0] }] {
      let talker = Talker(Self.on)
      talker.receive(Self.agreed + Self.start)
      for piece in pieces { talker.receive(piece) }
      #expect(
        talker.happenings == [
          .event(.compressionStarted), .text("some text that goes on"), .event(.compressionFailed),
        ])
      talker.receive("'more'")
      #expect(talker.happenings.last == .event(.compressionFailed))
      #expect(talker.happenings.count == 4)
    }
    let plain = Conversation([Self.start + wire("'plain text'")], Self.on, after: Self.agreed)
    #expect(plain.happenings == [.event(.compressionStarted), .event(.compressionFailed)])
  }

  /// A stream that was under way elsewhere cannot be read: that is damage.
  @Test func aStreamIsNotTakenUp() {
    let first = Talker(Self.on)
    let stream = zlibStream(wire("'some text, some text, some text'"))
    first.receive(Self.agreed + Self.start + stream[..<9])
    let second = Talker(Self.on, state: first.engine.state)
    second.receive(Array(stream[9...]))
    #expect(second.happenings == [.event(.compressionFailed)])
  }

  /// Very many commands from few bytes: one piece a call, and the caller has a word in between.
  @Test func aBombIsReadInPieces() {
    let talker = Talker(Self.on)
    talker.receive(Self.agreed + Self.start)
    let nops = [UInt8](repeatElement(wire("IAC NOP"), count: 300_000).joined())
    talker.receive(zlibStream(nops) + wire("'x'"))
    #expect(talker.agains >= 600_000 / 16_384)
    #expect(
      talker.happenings == [.event(.compressionStarted), .event(.compressionEnded), .text("x")])
    let text = Talker(Self.on)
    text.receive(Self.agreed + Self.start)
    let spaces = [UInt8](repeating: 0x20, count: 200_000)
    text.receive(zlibStream(spaces))
    #expect(text.happenings == [.event(.compressionStarted), .text(spaces), .event(.compressionEnded)])
  }

  /// Between two turns a compressed stream has no piece of its own.
  @Test func whatIsReadHoldsNothing() {
    let talker = Talker(Self.on)
    talker.receive(Self.agreed + Self.start)
    let stream = zlibStream(wire("'some text' IAC GA"), ends: false)
    for byte in stream {
      talker.receive([byte])
      #expect(talker.engine.heldBytes == 0)
    }
    #expect(talker.happenings.suffix(2) == [.text("some text"), .event(.prompt)])
    // What waits in it does.
    var position = 0
    let spaces = zlibStream([UInt8](repeating: 0x20, count: 200_000), ends: false)
    let other = Talker(Self.on)
    other.receive(Self.agreed + Self.start)
    var output: [UInt8] = []
    _ = other.engine.next(spaces.span, position: &position, now: other.clock, into: &output)
    #expect(other.engine.heldBytes >= 16_384)
    other.engine.forgetHeld()
    #expect(other.engine.heldBytes == 0)
  }

  /// What has come is told of, also where it is more than a piece and no input is left.
  @Test func nothingIsHeldBack() {
    let stream = zlibStream([UInt8](repeating: 0x20, count: 200_000))
    var room = [UInt8](repeating: 0, count: 200_001)
    for cut in 1..<stream.count {
      let talker = Talker(Self.on)
      talker.receive(Self.agreed + Self.start + stream[..<cut])
      var text = 0
      if case .text(let bytes) = talker.happenings.last { text = bytes.count }
      var reference = StreamInflater()
      var position = 0
      var made = 0
      var output = room.mutableSpan
      let outcome = reference.inflate(stream.span.extracting(0..<cut), &position, into: &output, &made)
      #expect(outcome == .taken && text == made, "cut at \(cut)")
    }
  }

  /// What waits in a piece waits there, and comes later.
  @Test func waitingWithinAPiece() {
    let talker = Talker(Self.on)
    talker.receive(Self.agreed)
    talker.pass(.seconds(2))
    let flood = [UInt8](repeatElement(wire("IAC DO 6"), count: 200).joined())
    let bytes = Self.start + zlibStream(flood + wire("'x'"))
    var output: [UInt8] = []
    var position = 0
    #expect(
      talker.engine.next(bytes.span, position: &position, now: talker.clock, into: &output)
        == .compressionStarted)
    let end = talker.clock + .seconds(1)
    for _ in 0..<3 {
      #expect(
        talker.engine.next(bytes.span, position: &position, now: talker.clock, into: &output)
          == .waits(until: end))
      #expect(output.count == 64 * 3)
    }
    #expect(talker.holdsInput)
    talker.clock = end
    talker.receive(Array(bytes[position...]))
    #expect(talker.happenings == [.text("x"), .event(.compressionEnded)] && !talker.holdsInput)
    #expect(talker.output.count == 137 * 3)
  }
}

/// `bytes` as one stream of zlib's.
func zlibStream(_ bytes: [UInt8], ends: Bool = true) -> [UInt8] {
  var stream = unsafe z_stream()
  let began = unsafe deflateInit_(&stream, 6, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
  guard began == Z_OK else { fatalError("no deflate") }
  defer { _ = unsafe deflateEnd(&stream) }
  var input = bytes
  var room = [UInt8](repeating: 0, count: bytes.count + bytes.count / 100 + 64)
  let capacity = room.count
  // Both buffers live through the call, which is given their lengths.
  unsafe input.withUnsafeMutableBufferPointer { input in
    unsafe room.withUnsafeMutableBufferPointer { room in
      unsafe stream.next_in = input.baseAddress
      unsafe stream.avail_in = UInt32(input.count)
      unsafe stream.next_out = room.baseAddress
      unsafe stream.avail_out = UInt32(capacity)
      _ = unsafe deflate(&stream, ends ? Z_FINISH : Z_SYNC_FLUSH)
    }
  }
  return Array(room[..<(capacity - Int(unsafe stream.avail_out))])
}
