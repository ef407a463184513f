/// Journal segments (docs/key-store.md, "Journal"): what was durable comes back, what was torn is cut, and damage is
/// never silent.
///
/// An input is read as a segment as it is; and, because no random bytes have the right checksum, as facts for
/// which sound batches are made, which are then cut and changed.
internal import Bytes
@testable internal import KeyStore
internal import System

enum JournalHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let verdict = try checkSegment(bytes)
    let facts = soundFacts(bytes)
    if facts.count > 1 { try checkRecovery(of: facts, choice: bytes.reduce(1) { $0 &* 31 &+ Int($1) }) }
    return verdict == .accepted || !facts.isEmpty ? .accepted : .refused
  }

  // MARK: As it came

  private static func checkSegment(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let reading: SegmentReading
    var facts: [Fact] = []
    do throws(SegmentDamage) {
      reading = try SegmentReading(bytes.span) { facts.append($0) }
    } catch {
      try require((0...bytes.count).contains(error.offset), "damage at \(error.offset)")
      return .refused
    }
    try require(reading.validLength <= bytes.count, "more valid bytes than there are")
    try require(reading.facts == facts.count && reading.batches <= facts.count, "facts counted wrongly")
    try require(reading.isTorn || reading.validLength == bytes.count, "bytes left over, and not torn")
    // The valid part alone is the same, and whole.
    let valid = read(Array(bytes[..<reading.validLength]))
    try require(valid == .facts(facts, isTorn: false), "cut to its valid part it reads otherwise")
    return .accepted
  }

  private enum Outcome: Equatable {
    case facts([Fact], isTorn: Bool)
    case damaged(at: Int)
  }

  private static func read(_ bytes: [UInt8]) -> Outcome {
    var facts: [Fact] = []
    do throws(SegmentDamage) {
      let reading = try SegmentReading(bytes.span) { facts.append($0) }
      return .facts(facts, isTorn: reading.isTorn)
    } catch {
      return .damaged(at: error.offset)
    }
  }

  // MARK: As facts

  /// Those that a gate could have written: all but the first kind are about a key that is there.
  private static func soundFacts(_ bytes: [UInt8]) -> [Fact] {
    var facts: [Fact] = []
    var table = StoreContents.emptyTable()
    var position = 0
    while position < bytes.count, facts.count < 64 {
      guard let fact = Fact(reading: bytes.span, at: &position) else { break }
      switch fact {
      case .registered, .imported: break
      case .counted(let identifier, _, _, _, _), .revoked(let identifier, _, _), .removed(let identifier):
        guard table.position(of: identifier) != nil else { continue }
      }
      table.apply(fact)
      facts.append(fact)
    }
    return facts
  }

  private static func checkRecovery(of facts: [Fact], choice: Int) throws(BrokenProperty) {
    let first = facts.prefix(facts.count / 2)
    let header = JournalHeader(restarts: false, entropy: FixedEntropy())
    let firstBatch = JournalBatch.bytes(sequence: 1, facts: encode(first), salt: header.salt)
    let lastBatch = JournalBatch.bytes(
      sequence: 2, facts: encode(facts.dropFirst(first.count)), salt: header.salt)
    let durable = header.bytes + firstBatch
    let segment = durable + lastBatch
    guard case .facts(let read, isTorn: false) = read(segment) else {
      throw BrokenProperty("what was written cannot be read")
    }
    try require(read == facts, "what was written reads otherwise")
    try checkReplay(facts)

    // Power goes while the last batch is being written.
    let cut = durable.count + 1 + choice.magnitudeModulo(lastBatch.count - 1)
    try require(
      Self.read(Array(segment[..<cut])) == .facts(Array(first), isTorn: true), "cut at \(cut), it is not torn"
    )
    // One bit of the last batch changes: torn. One of the batch before it: damage, and never silent.
    var torn = segment
    torn[cut] ^= 1 << UInt8(choice.magnitudeModulo(8))
    try require(Self.read(torn) == .facts(Array(first), isTorn: true), "changed at \(cut), it is not torn")
    let place = header.bytes.count + choice.magnitudeModulo(firstBatch.count)
    var damaged = segment
    damaged[place] ^= 1 << UInt8(choice.magnitudeModulo(8))
    try require(
      Self.read(damaged) == .damaged(at: header.bytes.count), "changed at \(place), it is not damaged")
  }

  /// Replaying what the snapshot has already changes nothing; counters do not fall, and revocation sticks.
  private static func checkReplay(_ facts: [Fact]) throws(BrokenProperty) {
    var table = StoreContents.emptyTable()
    for fact in facts {
      let before = StoreContents(table).keys
      table.apply(fact)
      guard case .removed = fact else {
        for (identifier, key) in StoreContents(table).keys {
          guard let earlier = before[identifier]?.record else { continue }
          try require(key.record.signCount >= earlier.signCount, "a counter fell")
          try require(earlier.revokedAt == nil || key.record.revokedAt != nil, "a revocation went")
        }
        continue
      }
    }
    let once = StoreContents(table)
    for fact in facts { table.apply(fact) }
    try require(StoreContents(table) == once, "replayed twice, it differs")
    let text = StoreContents.text(table)
    guard case .success(let again) = StoreContents.parse(text, piece: text.count) else {
      throw BrokenProperty("a snapshot of it cannot be read")
    }
    try require(StoreContents(again).keys.count == once.keys.count, "a snapshot of it lacks keys")
  }

  private static func encode(_ facts: some Sequence<Fact>) -> [UInt8] {
    var bytes: [UInt8] = []
    for fact in facts { fact.append(to: &bytes) }
    return bytes
  }
}

extension Int {
  /// From 0 to `modulus - 1`.
  fileprivate func magnitudeModulo(_ modulus: Int) -> Int { Int(magnitude % UInt(modulus)) }
}
