import Bytes
import Identity
import Kit
import System
import Testing
import Time

@testable import KeyStore

/// The journal's format, whole, cut at every byte, and damaged at every byte.
@Suite struct JournalTests {
  static let facts: [Fact] = [
    .registered(
      identifier(1),
      KeyRecord(
        publicKey: point(1), signCount: 3, registeredAt: UnixTime(milliseconds: -5),
        lastUsedAt: UnixTime(milliseconds: 9), appID: "T.é", environment: .development, validationCategory: 0,
        bundleVersion: "", revokedAt: UnixTime(milliseconds: .max))),
    .registered(identifier(2), KeyRecord(publicKey: point(2), registeredAt: UnixTime(milliseconds: 0))),
    .counted(
      identifier(1), signCount: .max, at: UnixTime(milliseconds: 1), appID: "A", environment: .production),
    .counted(identifier(1), signCount: 0, at: UnixTime(milliseconds: 1), appID: nil, environment: nil),
    .revoked(identifier(2), at: UnixTime(milliseconds: 2)),
    .revoked(identifier(1), at: UnixTime(milliseconds: 2), reason: "verloren – \u{1F5DD}"),
    .removed(identifier(2)),
  ]

  /// A segment with one fact a batch, and where each batch ends.
  private static func segment(restarts: Bool = false) -> (bytes: [UInt8], ends: [Int]) {
    let header = JournalHeader(restarts: restarts, entropy: TestEntropy(seed: 5))
    var bytes = header.bytes
    var ends = [bytes.count]
    for (index, fact) in facts.enumerated() {
      var payload: [UInt8] = []
      fact.append(to: &payload)
      bytes += JournalBatch.bytes(sequence: UInt64(index + 1), facts: payload, salt: header.salt)
      ends.append(bytes.count)
    }
    return (bytes, ends)
  }

  private func read(_ bytes: [UInt8]) throws(SegmentDamage) -> (SegmentReading, [Fact]) {
    var facts: [Fact] = []
    let reading = try SegmentReading(bytes.span) { facts.append($0) }
    return (reading, facts)
  }

  /// RFC 3720 §B.4.
  @Test(
    arguments: [
      ([UInt8](repeating: 0, count: 32), 0x8A91_36AA), ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
      ([UInt8](0..<32), 0x46DD_794E), ([UInt8]((0..<32).reversed()), 0x113F_DB5C),
      (Array("123456789".utf8), 0xE306_9283),
    ] as [([UInt8], UInt32)])
  func checksum(bytes: [UInt8], expected: UInt32) {
    for split in 0...bytes.count {
      var checksum = CRC32C()
      checksum.update(Array(bytes[..<split]).span)
      checksum.update(Array(bytes[split...]).span)
      #expect(checksum.value == expected)
    }
  }

  @Test(arguments: [false, true]) func wholeSegment(restarts: Bool) throws {
    let (bytes, _) = Self.segment(restarts: restarts)
    #expect(bytes.starts(with: Array("portcullis-journal 1 ".utf8)))
    #expect(bytes[JournalHeader.length - 1] == 0x0A)
    let (reading, facts) = try read(bytes)
    #expect(facts == Self.facts)
    #expect(
      reading
        == SegmentReading(restarts: restarts, batches: 7, facts: 7, validLength: bytes.count, isTorn: false))
  }

  @Test func cutAnywhereKeepsTheWholeBatches() throws {
    let (bytes, ends) = Self.segment()
    for length in 0...bytes.count {
      let (reading, facts) = try read(Array(bytes[..<length]))
      let whole = ends.count { $0 <= length }
      #expect(facts.count == max(0, whole - 1))
      #expect(reading.validLength == (ends.last { $0 <= length } ?? 0))
      #expect(reading.isTorn == (length > 0 && !ends.contains(length)))
    }
  }

  /// A wrong byte in the last batch is a torn batch; anywhere before, it is damage, found at its batch.
  @Test func wrongByteAnywhere() throws {
    let (bytes, ends) = Self.segment()
    for index in bytes.indices {
      var wrong = bytes
      wrong[index] ^= 0x41
      if index >= ends[ends.count - 2] {
        let (reading, facts) = try read(wrong)
        #expect(reading.isTorn && facts.count == 6)
      } else {
        let place = ends.last { $0 <= index } ?? 0
        do {
          _ = try read(wrong)
          Issue.record("byte \(index) went unnoticed")
        } catch {
          #expect(error.offset == place)
        }
      }
    }
  }

  /// Blocks of a deleted segment behind a torn tail are no batches of this one.
  @Test func anotherSegmentsBatchesDoNotCount() throws {
    let other = JournalHeader(restarts: false, entropy: TestEntropy(seed: 6))
    var payload: [UInt8] = []
    Self.facts[0].append(to: &payload)
    let (bytes, _) = Self.segment()
    let stale = bytes + [1, 2, 3] + JournalBatch.bytes(sequence: 9, facts: payload, salt: other.salt)
    let (reading, facts) = try read(stale)
    #expect(reading.isTorn && facts.count == 7)
  }

  @Test func otherVersionIsSaidToBeOne() {
    let bytes = Array("portcullis-journal 2 something else entirely, and longer than a header\n".utf8)
    #expect(throws: SegmentDamage(offset: 0, reason: "format version 2", version: "2")) { try read(bytes) }
  }

  /// Facts that a snapshot already holds change nothing when they are replayed, from wherever they begin.
  @Test func replayingIsIdempotent() {
    var random = SplitMix(seed: 11)
    var facts: [Fact] = []
    var table = KeyTable(entropy: TestEntropy(seed: 1))
    for step in 0..<400 {
      let key = Int(random.next() % 6)
      let count = UInt32(step)
      let time = UnixTime(milliseconds: Int64(step))
      let fact: Fact =
        switch random.next() % 8 {
        case 0, 1:
          .registered(identifier(key), KeyRecord(publicKey: point(key), signCount: count, registeredAt: time))
        case 2 where key < 2:
          .revoked(identifier(key), at: time, reason: random.next() % 2 == 0 ? nil : "\(random.next() % 3)")
        case 3 where key > 1: .removed(identifier(key))
        default: .counted(identifier(key), signCount: count, at: time, appID: "A", environment: .production)
        }
      facts.append(fact)
      table.apply(fact)
    }
    func records() -> [KeyRecord?] {
      (0..<6).map { key in table.position(of: identifier(key)).map { table.record(of: table[$0]) } }
    }
    let expected = records()
    for start in [0, 1, 57, 200, 399] {
      for fact in facts[start...] { table.apply(fact) }
      #expect(records() == expected)
    }
    // Even alone, an old counter does not lower a newer one, and a lost revocation is none.
    table.apply(
      .registered(
        identifier(9), KeyRecord(publicKey: point(9), signCount: 7, registeredAt: .init(milliseconds: 1))))
    table.apply(.revoked(identifier(9), at: .init(milliseconds: 2)))
    table.apply(
      .counted(identifier(9), signCount: 6, at: .init(milliseconds: 3), appID: nil, environment: nil))
    table.apply(
      .registered(identifier(9), KeyRecord(publicKey: point(9), registeredAt: .init(milliseconds: 1))))
    let record = table.position(of: identifier(9)).map { table.record(of: table[$0]) }
    #expect(record?.signCount == 7)
    #expect(record?.revokedAt == .init(milliseconds: 2))
  }

  // MARK: Among files

  private func path(_ number: Int) -> String { "\(storePath).journal.\(number)" }

  @Test func tornTailIsReportedAndGone() throws {
    let bench = Bench()
    let (bytes, ends) = Self.segment()
    bench.files.place(path(4), bytes.dropLast())
    let store = try bench.open()
    #expect(
      bench.events.all.contains(
        .tornTail(file: path(4), offset: Int64(ends[6]), bytes: Int64(bytes.count - 1 - ends[6]))))
    #expect(bench.events.all.contains(.recovered(segments: 1, facts: 6)))
    #expect(store.find(identifier(1))?.signCount == .max)
    #expect(store.isRevoked(identifier(2)))
    #expect(bench.files.names == [storePath, path(5)])
  }

  @Test func damageIsRefusedAndLeftAlone() throws {
    let bench = Bench()
    var (bytes, ends) = Self.segment()
    bytes[ends[1] + 20] ^= 1
    bench.files.place(path(1), bytes)
    do {
      _ = try bench.open()
      Issue.record("opened")
    } catch {
      guard case .damagedJournal(path(1), Int64(ends[1]), _) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(error.description.contains("move it away"))
    }
    #expect(bench.files.contents(of: path(1)) == bytes)
  }

  /// Torn with a batch in the next segment is damage, unless the next says that it restarts.
  @Test(arguments: [false, true]) func tornBeforeAnother(restarts: Bool) throws {
    let bench = Bench()
    bench.files.place(path(9), Self.segment().bytes.dropLast(3))
    bench.files.place(path(10), Self.segment(restarts: restarts).bytes)
    if restarts {
      _ = try bench.open()
    } else {
      #expect(throws: KeyStoreError.self) { try bench.open() }
    }
  }

  @Test(arguments: [0, 1, 20, 48, 49]) func headerAloneCountsForNothing(length: Int) throws {
    let bench = Bench()
    bench.files.place(path(3), Array(Self.segment().bytes.prefix(length)))
    let store = try bench.open()
    #expect(store.statistics.journalSegment == 4)
    #expect(bench.files.names == [path(4)])
  }
}
