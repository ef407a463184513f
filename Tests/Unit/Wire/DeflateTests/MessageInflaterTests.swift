import Kit
import Testing
import WebSocketWire

@testable import Deflate

/// RFC 7692 §7.2.2: what a compressed message becomes, and what is none.
@Suite struct MessageInflaterTests {
  static let hello = Array("Hello".utf8)

  /// The examples of RFC 7692 §7.2.3, and what senders do that read it otherwise.
  static let hellos: [(String, [UInt8])] = [
    ("7.2.3.1", [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]),
    ("7.2.3.3, stored", [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00]),
    ("7.2.3.4, last block", [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]),
    ("7.2.3.5, two blocks", [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00]),
    ("last block, nothing behind it", [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]),
    ("tail left in place", [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00, 0x00, 0xFF, 0xFF]),
    (
      "last block, then another",
      [0x01, 0x02, 0x00, 0xFD, 0xFF, 0x48, 0x65, 0x00, 0x03, 0x00, 0xFC, 0xFF, 0x6C, 0x6C, 0x6F, 0x00]
    ),
  ]

  @Test(arguments: hellos) func examples(name: String, bytes: [UInt8]) {
    let good = Inflating.Result(bytes: Self.hello)
    for type in [MessageType.text, .binary] {
      for outputBytes in [1, 2, 5, 6, 100] {
        let way = Inflating(type: type, outputBytes: outputBytes)
        #expect(way.inflate([bytes]) == good)
        #expect(way.inflate(bytes.map { [$0] }) == good)
        #expect(way.inflate([[]] + bytes.map { [$0] } + [[]]) == good)
      }
    }
  }

  /// RFC 7692 §7.2.3.6, and a payload of no bytes at all.
  @Test(arguments: [[0x00], []] as [[UInt8]]) func empty(bytes: [UInt8]) {
    #expect(Inflating(type: .text).inflate([bytes]) == Inflating.Result())
    #expect(Inflating(type: .text).inflate([bytes, []]) == Inflating.Result())
  }

  static let malformed: [(String, [UInt8])] = [
    ("block type 3", [0x07]), ("block type 3 behind a block", [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x07]),
    ("stored length", [0x00, 0x05, 0x00, 0xFA, 0xFE, 0x48]), ("cut within a block", [0xF2, 0x48, 0xCD]),
    ("cut within a stored block", [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65]),
    ("too far back", [0xF2, 0x00, 0x11, 0x00, 0x00]), ("cut in the first bits", [0x02]),
    ("a bit beyond", [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]),
    ("garbage", Array("no deflate data here, but a line of text".utf8)),
  ]

  @Test(arguments: malformed) func refused(name: String, bytes: [UInt8]) {
    for outputBytes in [1, 100] {
      let whole = Inflating(outputBytes: outputBytes).inflate([bytes])
      #expect(whole.violation == .invalidDeflate)
      #expect(!whole.holdsInflater)
      #expect(Inflating(outputBytes: outputBytes).inflate(bytes.map { [$0] }) == whole)
    }
  }

  /// RFC 7692 §7.2.3.2: the second message of the example reaches back into the first, which was agreed not
  /// to be.
  @Test func noContextFromTheMessageBefore() {
    let pool = ZlibPool()
    var inflater = MessageInflater(windowBits: 15, messageBytes: 100)
    let way = Inflating()
    #expect(way.inflate([Self.hellos[0].1], by: &inflater, from: pool).bytes == Self.hello)
    let second = way.inflate([[0xF2, 0x00, 0x11, 0x00, 0x00]], by: &inflater, from: pool)
    #expect(second == Inflating.Result(bytes: [0x48], violation: .invalidDeflate))
  }

  @Test func windowAsAgreed() throws {
    // The second half is the first again, 600 bytes back: within 10 bits, not within 9.
    var random = SplitMix(seed: 1)
    let half = random.bytes(600)
    let bytes = try #require(compress(half + half, windowBits: 10))
    #expect(Inflating(windowBits: 10).inflate([bytes]).bytes == half + half)
    #expect(Inflating(windowBits: 9).inflate([bytes]).violation == .invalidDeflate)
  }

  // MARK: Context

  /// The same example, from a peer that keeps its window: alone, with rests, and with another one's messages in between.
  @Test(arguments: [false, true]) func contextFromTheMessageBefore(rests: Bool) {
    let pool = ZlibPool()
    var inflater = context()
    var other = context()
    let way = Inflating()
    let good = Inflating.Result(bytes: Self.hello, holdsInflater: true)
    #expect(way.inflate([Self.hellos[0].1], by: &inflater, from: pool) == good)
    for _ in 0..<3 {
      if rests {
        inflater.rest(pool)
        #expect(!inflater.holdsInflater && pool.hasSpareInflater)
        _ = way.inflate([stored([UInt8](repeating: 0x58, count: 100))], by: &other, from: pool)
        other.rest(pool)
      }
      #expect(way.inflate([[0xF2, 0x00, 0x11, 0x00, 0x00]], by: &inflater, from: pool) == good)
      #expect(way.inflate([[0xF2, 0x00], [0x11], [0x00, 0x00]], by: &inflater, from: pool) == good)
    }
  }

  /// A last block ends a block, and not the connection's window.
  @Test func contextBehindALastBlock() {
    let pool = ZlibPool()
    var inflater = context()
    for bytes in [
      Self.hellos[2].1, [0xF2, 0x00, 0x11, 0x00, 0x00], Self.hellos[4].1, [0xF2, 0x00, 0x11, 0x00, 0x00],
    ] {
      #expect(Inflating().inflate([bytes], by: &inflater, from: pool).bytes == Self.hello)
      inflater.rest(pool)
    }
  }

  /// As far as the window reaches and no further, before it is full and after.
  @Test(arguments: [9, 10, 15]) func contextReachesAsFarAsTheWindow(bits: Int) {
    var random = SplitMix(seed: 7)
    let pool = ZlibPool()
    for sent in [3, 100, 1 << bits, 1 << bits + 1, 3 << bits] {
      let past = random.bytes(sent)
      let reach = min(sent, 1 << bits)
      for (distance, isGood) in [(3, true), (reach, true), (reach + 1, false)] where distance <= 32_768 {
        var inflater = context(bits: bits)
        for start in stride(from: 0, to: sent, by: 200) {
          _ = Inflating().inflate(
            [stored(Array(past[start..<min(start + 200, sent)]))], by: &inflater, from: pool)
        }
        inflater.rest(pool)
        #expect(inflater.windowBytes == reach)
        let result = Inflating().inflate([copy(of: 3, from: distance)], by: &inflater, from: pool)
        let expected = isGood ? Array(past[(sent - distance)...].prefix(3)) : []
        #expect(result.bytes == expected, "\(sent) bytes, \(distance) back")
        #expect(result.violation == (isGood ? nil : .invalidDeflate))
      }
    }
  }

  @Test func aMessageUnderWayKeepsItsInflater() {
    let pool = ZlibPool()
    var inflater = context()
    _ = Inflating().inflate([Array(Self.hellos[0].1[..<3])], isWhole: false, by: &inflater, from: pool)
    inflater.rest(pool)
    #expect(inflater.holdsInflater && !pool.hasSpareInflater)
    let rest = Inflating().inflate([Array(Self.hellos[0].1[3...])], by: &inflater, from: pool)
    #expect(rest.bytes == Array("llo".utf8))
    inflater.rest(pool)
    #expect(!inflater.holdsInflater && inflater.windowBytes == 5)
  }

  private func context(bits: Int = 15) -> MessageInflater {
    MessageInflater(windowBits: bits, messageBytes: 65_536, keepsContext: true)
  }

  /// A block of fixed codes (RFC 1951 §3.2.6) with one match, and the head of the empty block whose tail is cut off.
  private func copy(of length: Int, from distance: Int) -> [UInt8] {
    var bits: [UInt8] = [0, 1, 0]
    func append(_ value: Int, _ count: Int, isCode: Bool) {
      for index in 0..<count { bits.append(UInt8(value >> (isCode ? count - 1 - index : index) & 1)) }
    }
    append(length - 2, 7, isCode: true)
    // RFC 1951 §3.2.5: four distances have codes of their own, then each power of two has two codes.
    var (code, extra) = (distance - 1, 0)
    if code >= 4 {
      let power = code.bitWidth - 1 - code.leadingZeroBitCount
      extra = power - 1
      code = 2 * power + (distance - 1) >> extra & 1
    }
    append(code, 5, isCode: true)
    append((distance - 1) & (1 << extra - 1), extra, isCode: false)
    append(0, 7, isCode: true)
    append(0, 3, isCode: false)
    while !bits.count.isMultiple(of: 8) { bits.append(0) }
    return stride(from: 0, to: bits.count, by: 8).map { start in
      (0..<8).reduce(0) { $0 | bits[start + $1] << UInt8($1) }
    }
  }

  // MARK: Limits

  @Test(arguments: [100, 999, 1000, 1001, 65_536]) func messageLimit(limit: Int) throws {
    let way = Inflating(messageBytes: limit)
    for count in [limit - 1, limit, limit + 1, 2 * limit] {
      let message = [UInt8](repeating: 7, count: count)
      let bytes = try #require(compress(message))
      let result = way.inflate([bytes])
      #expect(result.violation == (count > limit ? .messageTooLarge : nil))
      #expect(result.bytes.count == min(count, limit))
      let split = way.inflate(bytes.map { [$0] })
      #expect(split.violation == result.violation)
      #expect(split.bytes.count == result.bytes.count)
    }
  }

  /// 16 MiB of zeros in 16 KiB.
  @Test func bomb() throws {
    let bomb = try #require(compress([UInt8](repeating: 0, count: 16 << 20)))
    #expect(bomb.count < 80_000)
    let result = Inflating(outputBytes: 65_536).inflate([bomb])
    #expect(result.violation == .messageTooLarge)
    #expect(result.bytes.count == 65_536)
    #expect(!result.holdsInflater)
  }

  @Test func limitCountsEachMessageAnew() throws {
    let pool = ZlibPool()
    let message = [UInt8](repeating: 1, count: 1000)
    let bytes = try #require(compress(message))
    var inflater = MessageInflater(windowBits: 15, messageBytes: 1000)
    for _ in 0..<3 {
      #expect(Inflating().inflate([bytes], by: &inflater, from: pool) == Inflating.Result(bytes: message))
    }
  }

  // MARK: Text

  @Test(
    arguments: [
      ("bad byte", [0x61, 0x62, 0xFF, 0x63], 2, .invalidText),
      ("cut character", [0x61, 0xE2, 0x82], 3, .unfinishedText),
      ("surrogate", [0xED, 0xA0, 0x80], 1, .invalidText),
    ] as [(String, [UInt8], Int, WebSocketViolation)])
  func text(name: String, text: [UInt8], good: Int, violation: WebSocketViolation) {
    let expected = Inflating.Result(bytes: Array(text[..<good]), violation: violation)
    for bytes in [[stored(text)], stored(text).map { [$0] }] {
      #expect(Inflating(type: .text).inflate(bytes) == expected)
      #expect(Inflating(type: .binary).inflate(bytes) == Inflating.Result(bytes: text))
    }
  }

  /// The first bad byte is answered when it comes, not when the message ends.
  @Test func badTextFailsFast() {
    let bytes = Array(stored([0x61, 0xFF] + [UInt8](repeating: 0x62, count: 50)).prefix(8))
    let result = Inflating(type: .text).inflate([bytes], isWhole: false)
    #expect(result == Inflating.Result(bytes: [0x61], violation: .invalidText))
  }

  @Test func badTextBeforeTheLimitAndBehindIt() {
    let way = Inflating(type: .text, messageBytes: 4)
    #expect(way.inflate([stored([0x61, 0x62, 0x63, 0xFF, 0x64])]).violation == .invalidText)
    #expect(way.inflate([stored([0x61, 0x62, 0x63, 0x64, 0xFF])]).violation == .messageTooLarge)
  }

  /// One uncompressed block.
  private func stored(_ bytes: [UInt8]) -> [UInt8] {
    let count = UInt8(bytes.count)
    return [0x00, count, 0x00, ~count, 0xFF] + bytes + [0x00]
  }

  // MARK: Zlib state

  /// docs/architecture.md, "The byte itself": one inflater per loop. A session has it only within a message.
  @Test func stateIsHeldWithinMessagesOnly() {
    let pool = ZlibPool()
    #expect(!pool.hasSpareInflater)
    let bytes = Self.hellos[0].1
    var sessions = (0..<10).map { _ in Box() }
    for session in sessions {
      #expect(session.inflate([bytes], pool).holdsInflater == false)
      #expect(pool.hasSpareInflater)
    }
    // Two messages at once: the second has an inflater of its own until one of them is over.
    #expect(sessions[0].inflate([Array(bytes[..<3])], isWhole: false, pool).holdsInflater)
    #expect(!pool.hasSpareInflater)
    #expect(sessions[1].inflate([Array(bytes[..<3])], isWhole: false, pool).holdsInflater)
    #expect(sessions[0].inflate([Array(bytes[3...])], pool) == Inflating.Result(bytes: Array("llo".utf8)))
    #expect(pool.hasSpareInflater)
    #expect(sessions[1].inflate([Array(bytes[3...])], pool) == Inflating.Result(bytes: Array("llo".utf8)))
    // A session that ends within a message takes its inflater along.
    #expect(sessions[2].inflate([Array(bytes[..<3])], isWhole: false, pool).holdsInflater)
    sessions = []
    #expect(!pool.hasSpareInflater)
  }

  private final class Box {
    var inflater = MessageInflater(windowBits: 12, messageBytes: 1000)

    func inflate(_ pieces: [[UInt8]], isWhole: Bool = true, _ pool: ZlibPool) -> Inflating.Result {
      Inflating().inflate(pieces, isWhole: isWhole, by: &inflater, from: pool)
    }
  }
}
