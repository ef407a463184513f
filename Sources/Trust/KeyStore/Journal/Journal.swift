/// A journal segment's format, pure: a header line, then batches of facts.
///
///     portcullis-journal 1 <salt, 16 hex digits> <f|r> <CRC-32C of what is before it, 8 hex digits>\n
///     batch: length (4 bytes), sequence (8), CRC-32C (4) of salt, length, sequence and facts; then the facts
///
/// Numbers stand low byte first. The salt is drawn for each segment: blocks that once belonged to another
/// segment cannot pass for batches of this one. `f` follows the segment before it; `r` restarts after one
/// that could not be written or was found at start, and its batches come only once a snapshot holds all that
/// earlier segments hold.
internal import Bytes
internal import System
internal import Time

struct JournalHeader: Equatable, Sendable {
  let salt: [UInt8]
  let restarts: Bool

  static let version = "1"
  static let length = 49
  private static let magic = "portcullis-journal "

  init(restarts: Bool, entropy: some Entropy) {
    self.restarts = restarts
    salt = entropy.bytes(8)
  }

  var bytes: [UInt8] {
    let text = Array("\(Self.magic)\(Self.version) \(Hex.encode(salt.span)) \(restarts ? "r" : "f") ".utf8)
    return text + Array("\(Self.checksum(text.span))\n".utf8)
  }

  /// What the start of a segment says.
  enum Reading: Equatable {
    case header(JournalHeader)
    /// Written by another version of this program.
    case otherVersion(String)
    case invalid
  }

  static func read(_ bytes: Span<UInt8>) -> Reading {
    var line: [UInt8] = []
    while line.count < min(bytes.count, length) { line.append(bytes[line.count]) }
    let text = String(decoding: line, as: UTF8.self)
    guard text.hasPrefix(magic) else { return .invalid }
    let words = text.dropLast(text.hasSuffix("\n") ? 1 : 0).split(
      separator: " ", omittingEmptySubsequences: false)
    if words[1] != version, !words[1].isEmpty, words[1].allSatisfy(\.isNumber) {
      return .otherVersion(String(words[1]))
    }
    let head = Array(line.prefix(length - 9))
    guard words.count == 5, line.count == length, line.last == UInt8(ascii: "\n"),
      let salt = Hex.decode(Array(words[2].utf8).span), salt.count == 8, words[3] == "f" || words[3] == "r",
      words[4] == checksum(head.span)
    else { return .invalid }
    return .header(JournalHeader(salt: salt, restarts: words[3] == "r"))
  }

  private init(salt: [UInt8], restarts: Bool) {
    self.salt = salt
    self.restarts = restarts
  }

  private static func checksum(_ bytes: Span<UInt8>) -> String {
    var checksum = CRC32C()
    checksum.update(bytes)
    var value: [UInt8] = []
    for shift in [24, 16, 8, 0] as [UInt32] {
      value.append(UInt8(truncatingIfNeeded: checksum.value >> shift))
    }
    return Hex.encode(value.span)
  }
}

enum JournalBatch {
  static let headLength = 16
  /// The writer stays far below; a longer length is not one.
  static let maximumLength = 4 << 20

  static func bytes(sequence: UInt64, facts: [UInt8], salt: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(headLength + facts.count)
    bytes.append(number: UInt64(facts.count), width: 4)
    bytes.append(number: sequence, width: 8)
    bytes.append(number: UInt64(checksum(salt, bytes.span, facts.span)), width: 4)
    return bytes + facts
  }

  /// The length of the facts of a valid batch at `start`.
  static func length(in bytes: Span<UInt8>, at start: Int, sequence: ClosedRange<UInt64>, salt: [UInt8])
    -> Int?
  {
    guard bytes.count - start >= headLength else { return nil }
    let length = Int(bytes.number(at: start, width: 4))
    guard length > 0, length <= maximumLength, length <= bytes.count - start - headLength,
      sequence.contains(bytes.number(at: start + 4, width: 8))
    else { return nil }
    let facts = start + headLength
    let expected = checksum(
      salt, bytes.extracting(start..<start + 12), bytes.extracting(facts..<facts + length))
    return UInt64(expected) == bytes.number(at: start + 12, width: 4) ? length : nil
  }

  private static func checksum(_ salt: [UInt8], _ head: Span<UInt8>, _ facts: Span<UInt8>) -> UInt32 {
    var checksum = CRC32C()
    checksum.update(salt.span)
    checksum.update(head)
    checksum.update(facts)
    return checksum.value
  }
}

/// What reading one segment gave, besides its facts.
struct SegmentReading: Equatable, Sendable {
  var restarts = false
  var batches = 0
  var facts = 0
  /// Where the valid part ends; what lies beyond was never acknowledged.
  var validLength = 0
  var isTorn = false
}

struct SegmentDamage: Error, Equatable {
  let offset: Int
  let reason: String
  var version: String?
}

extension SegmentReading {
  /// Walks a whole segment. An invalid batch with nothing valid behind it is torn; one with a valid batch
  /// behind it is damage, because a batch is written only once the one before it is durable.
  init(_ bytes: Span<UInt8>, _ apply: (Fact) -> Void) throws(SegmentDamage) {
    let salt: [UInt8]
    switch JournalHeader.read(bytes) {
    case .header(let header):
      (salt, restarts) = (header.salt, header.restarts)
    case .otherVersion(let version):
      throw SegmentDamage(offset: 0, reason: "format version \(version)", version: version)
    case .invalid:
      // The header is durable before the first batch is written, so a torn one stands alone.
      guard bytes.count <= JournalHeader.length else {
        throw SegmentDamage(offset: 0, reason: "not a journal header")
      }
      isTorn = bytes.count > 0
      return
    }
    var position = JournalHeader.length
    while position < bytes.count {
      let sequence = UInt64(batches + 1)
      guard
        let length = JournalBatch.length(in: bytes, at: position, sequence: sequence...sequence, salt: salt)
      else {
        try Self.refuseValidBatch(after: position, in: bytes, sequence: sequence, salt: salt)
        isTorn = true
        break
      }
      let end = position + JournalBatch.headLength + length
      position += JournalBatch.headLength
      while position < end {
        guard let fact = Fact(reading: bytes.extracting(first: end), at: &position) else {
          throw SegmentDamage(offset: position, reason: "a batch holds what is no fact of this format")
        }
        apply(fact)
        facts += 1
      }
      batches += 1
    }
    validLength = position
  }

  /// Looks at every byte, since the length of an invalid batch cannot be believed.
  private static func refuseValidBatch(
    after start: Int, in bytes: Span<UInt8>, sequence: UInt64, salt: [UInt8]
  ) throws(SegmentDamage) {
    let later = sequence...sequence + UInt64(bytes.count)
    var position = start + 1
    while position + JournalBatch.headLength < bytes.count {
      if JournalBatch.length(in: bytes, at: position, sequence: later, salt: salt) != nil {
        throw SegmentDamage(
          offset: start, reason: "an invalid batch, although a valid one follows at byte \(position)")
      }
      position += 1
    }
  }
}
