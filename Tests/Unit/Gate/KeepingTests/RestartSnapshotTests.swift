/// A restart in good order: what goes over, and that the session goes on as one that never stopped.
import Bytes
import Kit
import SessionWire
import Time
import TelnetWire
import Testing

@testable import Keeping

@Suite struct RestartSnapshotTests {
  /// Two sessions hear and say the same; one of them goes over in the middle. From then on nobody can tell them apart.
  @Test(arguments: 0..<16) func goesOn(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    for round in 0..<25 {
      var stays = Play(client: random.flip() ? nil : Play.Act.client(using: &random))
      for _ in 0..<Int.random(in: 0...80, using: &random) { stays.play(.random(using: &random)) }
      stays.detach()
      let taken = stays.snapshot()
      let snapshot = try #require(taken)
      let coded = snapshot.coded()
      #expect(try RestartSnapshot(coded: coded) == snapshot)
      var goes = try present(Play(snapshot, address: stays.address, now: stays.now))
      let over = goes.snapshot()
      let stayed = stays.snapshot()
      try #require(over == stayed, "seed \(seed), round \(round)")
      stays.seen = []
      for step in 0..<80 {
        let act = Play.Act.random(using: &random)
        stays.play(act)
        goes.play(act)
        let (left, right) = (stays.seen, goes.seen)
        try #require(left == right, "seed \(seed), round \(round), step \(step): \(act)")
        let (one, other) = (stays.snapshot(), goes.snapshot())
        try #require(one == other, "seed \(seed), round \(round), step \(step): \(act)")
      }
    }
  }

  // MARK: Records of unknown origin

  private func usual() throws -> RestartSnapshot {
    var random = SplitMix(seed: 77)
    var play = Play(client: Play.Act.client(using: &random))
    for _ in 0..<200 { play.play(.random(using: &random)) }
    play.detach()
    let taken = play.snapshot()
    let snapshot = try #require(taken)
    try #require(!snapshot.outgoing.records.isEmpty && !snapshot.incoming.ends.isEmpty)
    return snapshot
  }

  /// Each byte changed, each length cut: an error, or snapshot that a session can be made of.
  @Test func eachByte() throws {
    let bytes = try usual().coded()
    for index in bytes.indices {
      #expect(throws: KeptError.self) { try RestartSnapshot(coded: Array(bytes[..<index])) }
      for change in [0x01, 0xFF] as [UInt8] {
        var broken = bytes
        broken[index] ^= change
        guard let snapshot = try? RestartSnapshot(coded: broken) else { continue }
        var play = try present(Play(snapshot, address: "", now: MonotonicTime(nanoseconds: 1)))
        for act in [
          Play.Act.attach(missing: 3), .send(messages: 30), .gameTakes(500), .hear([255, 240, 0x61]),
        ] {
          play.play(act)
        }
      }
    }
    #expect(throws: KeptError.trailingBytes) { try RestartSnapshot(coded: bytes + [0]) }
    #expect(throws: KeptError.unknownLayout(2)) { try RestartSnapshot(coded: [2] + bytes.dropFirst()) }
  }

  @Test(
    arguments: [
      [0x81], [0x82, 126, 0], [0x82, 126, 0, 125], [0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], [0x01, 0],
      [0x82, 0x80], [0x89, 0], [0x0F, 0, 0, 0, 0, 0, 0, 0, 1], [0x0F, 0xFF, 0, 0, 0, 0, 0, 0, 1], [0x0F, 0],
      [0x82, 5, 1], [0x82, 127, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [],
    ] as [[UInt8]])
  func brokenRecords(records: [UInt8]) {
    let snapshot = OutgoingSnapshot(
      checking: records, firstKept: 1, last: 1, acknowledged: 0, highestSent: 0, loss: nil)
    #expect(snapshot == nil)
  }

  @Test(
    arguments: [
      (1, 1, 0, 1, nil, true), (0, 1, 0, 1, nil, false), (2, 1, 0, 1, nil, false), (1, 1, 1, 0, nil, false),
      (1, 1, 0, 2, nil, false), (1, 1, -1, 0, nil, false), (1, 2, 0, 0, nil, false), (1, 1, 0, 0, 2, true),
      (1, 1, 0, 0, 3, false), (1, 1, 0, 0, 0, false), (1 << 53, 1 << 53, 0, 0, nil, false),
    ] as [(Int, Int, Int, Int, Int?, Bool)])
  func numbers(first: Int, last: Int, acknowledged: Int, sent: Int, loss: Int?, isFit: Bool) {
    let snapshot = OutgoingSnapshot(
      checking: [0x82, 0], firstKept: first, last: last, acknowledged: acknowledged, highestSent: sent,
      loss: loss.map { Loss(isUnknown: true, next: $0) })
    #expect((snapshot != nil) == isFit)
  }

  @Test func queues() {
    #expect(IncomingSnapshot(checking: 0, waiting: 5, ends: [1, 1, 5], isTorn: false) != nil)
    #expect(IncomingSnapshot(checking: 0, waiting: 5, ends: [0], isTorn: false) == nil)
    #expect(IncomingSnapshot(checking: 0, waiting: 5, ends: [2, 1], isTorn: false) == nil)
    #expect(IncomingSnapshot(checking: 0, waiting: 5, ends: [6], isTorn: false) == nil)
    #expect(IncomingSnapshot(checking: -1, waiting: 5, ends: [], isTorn: false) == nil)
    #expect(IncomingSnapshot(checking: 0, waiting: 0, ends: [], isTorn: true) == nil)
    #expect(IncomingSnapshot(checking: 0, waiting: -1, ends: [], isTorn: false) == nil)
  }

  /// A buffer that is smaller than it was, and packages that are not chosen any more.
  @Test func otherSettings() throws {
    let snapshot = try usual()
    var again = AgainCache(.usual, bufferBytes: 0)
    again.restore(snapshot.again)
    #expect(again.bytes == 0)
    let ledger = OutgoingLedger(limit: 100, again: again, restoring: snapshot.outgoing)
    let (bytes, last) = (ledger.bufferedBytes, ledger.last)
    #expect(bytes <= 100 && last == snapshot.outgoing.last)
  }

  @Test(
    arguments: [
      (.gmcp, "Char.Vitals", "{}", true), (.gmcp, "", "{}", false), (.gmcp, "a b", nil, false),
      (.gmcp, "a", "{", false),
      (.msdp, "A\\u0041", "1", true), (.msdp, "A\"", "1", false), (.msdp, "A", nil, false),
      (.mssp, "", "{}", true),
      (.mssp, "x", "{}", false), (.mssp, "", "{},", false),
    ] as [(AgainSnapshot.Kind, String, String?, Bool)])
  func valuesAgain(kind: AgainSnapshot.Kind, name: String, data: String?, isFit: Bool) {
    let value = AgainSnapshot.Value(
      checking: kind, name: Array(name.utf8), data: data.map { Array($0.utf8) })
    #expect((value != nil) == isFit)
  }
}
