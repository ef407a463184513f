import Bytes
import Identity
import Kit
import Synchronization
import System
import Testing
import Time

@testable import KeyStore

/// What a loop may rely on (docs/key-store.md, "Durability"), on a store whose threads' steps the test takes.
@Suite struct KeyStoreTests {
  @Test func registersOnceDurable() throws {
    let bench = Bench()
    let store = try bench.open()
    let results = Recorder<CommitResult>()
    #expect(store.register(newKey(1)) { results.append($0) } == .accepted(isNew: true))
    #expect(store.find(identifier(1))?.signCount == 0)
    #expect(results.all.isEmpty)
    store.commitAll()
    #expect(results.all == [.committed])
    #expect(store.find(identifier(2)) == nil)
    // At once, without a completion.
    for number in 1...2 {
      let verdict = store.find(identifier(number)) {
        Issue.record("the store is in memory")
        return { _ in }
      }
      #expect(verdict == .found(store.find(identifier(number)).map { .known($0) } ?? .unknown))
    }
  }

  @Test func relaxedDoesNotWait() throws {
    let store = try Bench().open(.init(durability: .relaxed))
    let results = Recorder<CommitResult>()
    _ = store.register(newKey(1)) { results.append($0) }
    #expect(store.advance(1, to: 1) { results.append($0) } == .accepted)
    _ = store.revoke(identifier(1), now: UnixTime(milliseconds: 5)) { results.append($0) }
    #expect(results.all == [.committed, .committed, .committed])
  }

  @Test func countersOnlyRise() throws {
    let store = try Bench().open()
    _ = store.register(newKey(1)) { _ in }
    #expect(store.advance(1, to: 0) == .replayed(stored: 0))
    #expect(store.advance(1, to: 1) == .accepted)
    #expect(store.advance(1, to: 1) == .replayed(stored: 1))
    #expect(store.advance(1, to: .max) == .accepted)
    #expect(store.advance(1, to: .max) == .replayed(stored: .max))
    #expect(store.advance(1, to: 7) == .replayed(stored: .max))
    #expect(store.advance(2, to: 1) == .unknownKey)
  }

  @Test func registeringAgainKeepsCounterAndFirstTime() throws {
    let bench = Bench()
    let store = try bench.open()
    _ = store.register(newKey(1)) { _ in }
    #expect(store.advance(1, to: 9) == .accepted)
    let later = UnixTime(milliseconds: 1_900_000_000_000)
    let again = NewKey(
      identifier: identifier(1), publicKey: point(1), appID: "TEAMID.com.example.other",
      environment: .development,
      registeredAt: later)
    #expect(store.register(again) { _ in } == .accepted(isNew: false))
    let record = try #require(store.find(identifier(1)))
    #expect(record.signCount == 9)
    #expect(record.registeredAt == newKey(1).registeredAt)
    #expect(record.lastUsedAt == later)
    #expect(record.appID == "TEAMID.com.example.other")
    #expect(record.validationCategory == nil)
    #expect(store.close())
    #expect(try bench.open().find(identifier(1)) == record)
  }

  /// As the same attestation may come again and again, whose challenge nothing spends.
  @Test func registeringTheSameAgainWritesNothing() throws {
    let bench = Bench()
    let store = try bench.open()
    let results = Recorder<CommitResult>()
    #expect(store.register(newKey(1)) { results.append($0) } == .accepted(isNew: true))
    // It is no more durable than the first time.
    let later = UnixTime(milliseconds: 1_900_000_000_000)
    #expect(store.register(newKey(1, at: later)) { results.append($0) } == .accepted(isNew: false))
    #expect(results.all.isEmpty)
    store.commitAll()
    #expect(results.all == [.committed, .committed])
    #expect(store.advance(1, to: 9) == .accepted)
    store.commitAll()
    let (record, bytes) = (store.find(identifier(1)), store.statistics.journalBytes)
    for _ in 0..<100 {
      #expect(store.register(newKey(1, at: later)) { results.append($0) } == .accepted(isNew: false))
      store.commitAll()
    }
    #expect(results.all.count == 102 && Set(results.all.map { "\($0)" }) == ["committed"])
    #expect(store.find(identifier(1)) == record && record?.signCount == 9)
    #expect(store.statistics.journalBytes == bytes && store.statistics.keys == 1)
    // By a challenge of its own it counts as use, as ever.
    let unspent = Unspent(nonce: bytes32(5), issuedAt: bench.clock.monotonic())
    #expect(store.register(newKey(1, at: later), spending: unspent) { _ in } == .accepted(isNew: false))
    #expect(store.find(identifier(1))?.lastUsedAt == later)
    _ = store.revoke(identifier(1), now: later) { _ in }
    #expect(store.register(newKey(1, at: later)) { _ in } == .revoked)
    #expect(store.close())
    #expect(try bench.open().find(identifier(1))?.signCount == 9)
  }

  @Test func recordsWhatAnOlderFileLeftOpen() throws {
    let bench = Bench()
    bench.files.place(storePath, Array(SnapshotTests.olderFile.utf8))
    let store = try bench.open()
    let id = SnapshotTests.olderIdentifier
    #expect(bench.events.all.contains(.unknownEnvironment(keys: 1)))
    let verdict = store.advanceCounter(
      of: id, to: 13, recording: "T.app", environment: .production,
      now: UnixTime(milliseconds: 99),
      completion: { _ in })
    #expect(verdict == .accepted)
    // Only the first is recorded.
    _ = store.advanceCounter(
      of: id, to: 14, recording: "U.app", environment: .development,
      now: UnixTime(milliseconds: 100), completion: { _ in })
    store.commitAll()
    let record = try #require(store.find(id))
    #expect(record.appID == "T.app")
    #expect(record.environment == .production)
    #expect(store.close())
    #expect(try bench.open().find(id) == record)
  }

  @Test(arguments: [1, 3]) func fullIsRefusedNotEvicted(limit: Int) throws {
    let store = try Bench().open(.init(maximumKeys: limit))
    for key in 0..<limit { #expect(store.register(newKey(key)) { _ in } == .accepted(isNew: true)) }
    #expect(store.register(newKey(limit)) { _ in } == .full)
    #expect(store.register(newKey(0)) { _ in } == .accepted(isNew: false))
    #expect(store.statistics.keys == limit)
  }

  @Test func revocationSticks() throws {
    let bench = Bench()
    let store = try bench.open()
    _ = store.register(newKey(1)) { _ in }
    _ = store.advance(1, to: 1)
    _ = store.advance(1, to: 2)
    let first = UnixTime(milliseconds: 1_800_000_000_000)
    #expect(store.revoke(identifier(1), now: first) { _ in } == .revoked(since: first))
    #expect(store.isRevoked(identifier(1)))
    #expect(store.advance(1, to: 3) == .revoked)
    #expect(store.register(newKey(1)) { _ in } == .revoked)
    // Again: the first time stands.
    let second = UnixTime(milliseconds: 1_900_000_000_000)
    #expect(store.revoke(identifier(1), now: second) { _ in } == .revoked(since: first))
    #expect(store.revoke(identifier(2), now: first) { _ in } == .unknownKey)
    #expect(store.prune(unusedSince: second) { _ in } == 0)
    #expect(store.close())
    #expect(try bench.open().find(identifier(1))?.revokedAt == first)
  }

  /// Whether the journal is replayed or the snapshot read; the first reason stands, and one may come behind the revocation.
  @Test(arguments: [true, false]) func aReasonStaysWithTheRevocation(isClosed: Bool) throws {
    let bench = Bench()
    let store = try bench.open()
    let first = UnixTime(milliseconds: 1_800_000_000_000)
    let reasons = [RevocationReason("lost: \"on the train\" – <b>"), RevocationReason("another")]
    for key in 1...4 { _ = store.register(newKey(key)) { _ in } }
    _ = store.revoke(identifier(1), reason: reasons[0], now: first) { _ in }
    _ = store.revoke(identifier(1), reason: reasons[1], now: first) { _ in }
    _ = store.revoke(identifier(2), now: first) { _ in }
    _ = store.revoke(identifier(3), now: first) { _ in }
    let later = store.revoke(
      identifier(3), reason: reasons[1], now: UnixTime(milliseconds: 1_900_000_000_000)
    ) { _ in }
    #expect(later == .revoked(since: first))
    store.commitAll()
    if isClosed { #expect(store.close()) } else { bench.files.reboot() }
    let again = try bench.open()
    let told = (1...4).map { again.find(identifier($0))?.revokedReason }
    #expect(told == ["lost: \"on the train\" – <b>", nil, "another", nil])
    #expect((1...4).map { again.isRevoked(identifier($0)) } == [true, true, true, false])
    #expect(again.close())
    #expect(bench.snapshotText().contains(#""revokedReason":"lost: \"on the train\" – <b>"}"#))
  }

  /// Two million keys are 288 MB.
  @Test func aKeyTakes144Bytes() {
    #expect(MemoryLayout<KeyTable.Entry>.stride == 144)
  }

  @Test func theCommitterIsToldOfWhatWasGathered() throws {
    let store = try Bench().open()
    let past = MonotonicTime(nanoseconds: 0)
    let results = Recorder<CommitResult>()
    #expect(store.register(newKey(1)) { _ in } == .accepted(isNew: true))
    #expect(store.commitSignal.wait(until: past))
    store.commitAll()
    for count in 1...3 {
      let verdict = store.advanceCounter(
        of: identifier(1), to: UInt32(count), now: UnixTime(milliseconds: 1),
        isGathered: true
      ) { results.append($0) }
      #expect(verdict == .accepted)
    }
    #expect(!store.commitSignal.wait(until: past))
    #expect(results.all.isEmpty)
    store.commitGathered()
    #expect(store.commitSignal.wait(until: past))
    let before = store.statistics.batches
    store.commitAll()
    #expect(results.all == [.committed, .committed, .committed])
    #expect(store.statistics.batches == before + 1)
  }

  @Test func pruneTakesOnlyTheUnused() throws {
    let bench = Bench()
    let store = try bench.open()
    let cutoff = UnixTime(milliseconds: 10_000)
    for key in 0..<5 {
      _ = store.register(newKey(key, at: UnixTime(milliseconds: key == 0 ? 10_000 : 9_999))) { _ in }
    }
    _ = store.advanceCounter(
      of: identifier(1), to: 1, now: UnixTime(milliseconds: 10_000), completion: { _ in }
    )
    _ = store.advanceCounter(
      of: identifier(2), to: 1, now: UnixTime(milliseconds: 9_999), completion: { _ in })
    _ = store.revoke(identifier(3), now: cutoff) { _ in }
    let results = Recorder<CommitResult>()
    #expect(
      store.prune(unusedSince: cutoff, isInUse: { $0 == identifier(2) }, completion: { results.append($0) })
        == 1)
    #expect(results.all.isEmpty)
    store.commitAll()
    #expect(results.all == [.committed])
    #expect((0..<5).map { store.find(identifier($0)) != nil } == [true, true, true, true, false])
    #expect(
      store.prune(unusedSince: cutoff, isInUse: { $0 == identifier(2) }, completion: { results.append($0) })
        == 0)
    #expect(results.all == [.committed, .committed])
    #expect(store.close())
    #expect(try bench.open().statistics.keys == 4)
  }

  /// Orders take the table a piece at a time: one that comes meanwhile does not wait for all of it.
  @Test func aRevocationOvertakesPruning() throws {
    let store = try Bench().open()
    for key in 0..<600 { _ = store.register(newKey(key)) { _ in } }
    store.commitAll()
    try store.orders.begin()
    let (said, isHeld) = (Recorder<String>(), Monitor(true))
    store.orders.give {
      isHeld.wait { isHeld -> Waited<Void> in isHeld ? .wait : .done(()) }
    }
    store.prune(
      unusedSince: UnixTime(milliseconds: .max), isInUse: { _ in false },
      removed: { said.append("removed \($0)") }, completion: { _ in })
    store.revoke(
      identifier(599), reason: nil, now: UnixTime(milliseconds: 1), verdict: { _ in said.append("revoked") },
      completion: { _ in })
    isHeld.withLock { isHeld, wake in
      isHeld = false
      wake.all()
    }
    while said.all.count < 2 { store.orders.ask {} }
    store.orders.stop()
    #expect(said.all == ["revoked", "removed 599"])
    #expect(store.find(identifier(599))?.revokedAt != nil && store.statistics.keys == 1)
  }

  // MARK: Outages

  @Test(arguments: [5, 28] as [Int32]) func outageRefusesThenRecovers(error: Int32) throws {
    let bench = Bench()
    let store = try bench.open()
    _ = store.register(newKey(1)) { _ in }
    store.commitAll()
    let results = Recorder<CommitResult>()
    #expect(store.advance(1, to: 1) { results.append($0) } == .accepted)
    bench.files.failAll(error)
    store.commitAll()
    #expect(results.all == [.failed])
    #expect(store.find(identifier(1))?.signCount == 1)
    #expect(store.advance(1, to: 2) == .unavailable)
    #expect(store.advance(1, to: 1) == .replayed(stored: 1))
    #expect(store.register(newKey(2)) { _ in } == .unavailable)
    // A revocation counts at once, and says that it is not on disk.
    _ = store.register(newKey(3)) { _ in }
    _ = store.revoke(identifier(1), now: UnixTime(milliseconds: 77)) { results.append($0) }
    #expect(results.all == [.failed, .failed])
    #expect(store.isRevoked(identifier(1)))
    // Tries at once, then ever more rarely.
    var waits: [Duration] = []
    for _ in 0..<8 {
      guard let next = store.snapshotStep() else { break }
      waits.append(next - bench.clock.monotonic())
      bench.clock.advance(waits.last ?? .zero)
    }
    #expect(waits == [1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
    bench.files.failAll(nil)
    _ = store.snapshotStep()
    #expect(bench.events.all.last == .serviceRecovered)
    #expect(store.statistics.service == .accepting)
    #expect(store.register(newKey(2)) { results.append($0) } == .accepted(isNew: true))
    store.commitAll()
    #expect(results.all.last == .committed)
    bench.files.reboot()
    let again = try bench.open()
    #expect(again.find(identifier(1))?.signCount == 1)
    #expect(again.isRevoked(identifier(1)))
    #expect(again.find(identifier(2)) != nil)
  }

  /// A process that ends without having written them says which they are; with the snapshot that ends an outage there are
  /// none left.
  @Test(arguments: [false, true]) func revocationsThatAreLostAreNamed(ends: Bool) throws {
    let bench = Bench()
    let store = try bench.open()
    for key in 1...3 { _ = store.register(newKey(key)) { _ in } }
    store.commitAll()
    _ = store.revoke(identifier(3), now: UnixTime(milliseconds: 7)) { _ in }
    store.commitAll()
    #expect(store.unwrittenRevocations == [])
    bench.files.failAll(5)
    // In the batch that fails, and after it.
    _ = store.revoke(identifier(1), now: UnixTime(milliseconds: 7)) { _ in }
    store.commitAll()
    _ = store.revoke(identifier(2), now: UnixTime(milliseconds: 7)) { _ in }
    #expect(store.unwrittenRevocations == [identifier(1), identifier(2)])
    // A try that fails changes nothing of that.
    _ = store.snapshotStep()
    #expect(Set(store.unwrittenRevocations) == [identifier(1), identifier(2)])
    if ends {
      bench.files.failAll(nil)
      bench.clock.advance(.seconds(60))
      _ = store.snapshotStep()
      #expect(store.unwrittenRevocations == [])
    }
    store.close()
    let isSaid = bench.events.all.contains { event in
      if case .revocationsLost(let keys) = event {
        Set(keys) == [identifier(1), identifier(2)]
      } else {
        false
      }
    }
    #expect(isSaid == !ends)
  }

  @Test func revokedKeysAreListed() throws {
    let store = try Bench().open()
    #expect(store.revokedKeys == [])
    for key in 1...200 { _ = store.register(newKey(key)) { _ in } }
    for key in [200, 7] { _ = store.revoke(identifier(key), now: UnixTime(milliseconds: 7)) { _ in } }
    #expect(Set(store.revokedKeys) == [identifier(7), identifier(200)])
    store.close()
  }

  /// A batch whose sync failed can still be read after `kill -9`, from the page cache alone, and no later
  /// sync would say that it is not on disk. What is built on it must not fall with it.
  @Test func whatIsReadBackIsMadeDurableFirst() throws {
    for seed in 0..<40 {
      let bench = Bench(files: PowerLossFiles(seed: UInt64(seed)))
      var store = try bench.open()
      let results = Recorder<CommitResult>()
      _ = store.register(newKey(1)) { results.append($0) }
      // The write goes well, the sync does not.
      bench.files.plan([1: .inputOutput])
      store.commitAll()
      #expect(results.all == [.failed])
      bench.files.restart()
      store = try bench.open()
      #expect(store.advance(1, to: 5) { results.append($0) } == .accepted)
      store.commitAll()
      #expect(results.all == [.failed, .committed])
      bench.files.reboot()
      #expect(try bench.open().find(identifier(1))?.signCount == 5)
    }
  }

  /// The segment that could not be written cannot be removed either; its torn tail is no damage all the same.
  @Test func failedSegmentThatStays() throws {
    for seed in 0..<40 {
      let bench = Bench(files: PowerLossFiles(seed: UInt64(seed)))
      let store = try bench.open()
      let results = Recorder<CommitResult>()
      _ = store.register(newKey(1)) { results.append($0) }
      store.commitAll()
      _ = store.advance(1, to: 5) { results.append($0) }
      bench.files.plan([1: .inputOutput])
      store.commitAll()
      // New segment: open, write, two syncs. Snapshot: stat, open, write, sync, rename, sync. Then stat and
      // unlink.
      bench.files.plan([11: .inputOutput])
      _ = store.snapshotStep()
      #expect(
        bench.events.all.contains(
          .segmentNotRemoved(file: storePath + ".journal.1", SystemError("unlink", 5))))
      #expect(store.advance(1, to: 6) { results.append($0) } == .accepted)
      store.commitAll()
      #expect(results.all == [.committed, .failed, .committed])
      #expect(store.statistics.journalSegment == 2)
      bench.files.reboot()
      #expect(try bench.open().find(identifier(1))?.signCount == 6)
    }
  }

  @Test func aDiskThatHangsDoesNotFillMemory() throws {
    let store = try Bench().open()
    var accepted = 0
    while store.register(newKey(accepted), completion: { _ in }) != .unavailable { accepted += 1 }
    let perFact = 8 << 20 / accepted
    #expect(perFact > 100 && perFact < 300)
    store.commitAll()
    #expect(store.register(newKey(accepted)) { _ in } == .accepted(isNew: true))
  }

  @Test func closedRefuses() throws {
    let store = try Bench().open()
    _ = store.register(newKey(1)) { _ in }
    #expect(store.close())
    #expect(!store.close())
    #expect(store.register(newKey(2)) { _ in } == .unavailable)
    #expect(store.advance(1, to: 1) == .unavailable)
    #expect(store.revoke(identifier(1), now: UnixTime(milliseconds: 1)) { _ in } == .unavailable)
    #expect(store.statistics.service == .closed)
  }

  // MARK: Opening

  @Test func oneOwner() throws {
    let bench = Bench()
    let store = try bench.open()
    #expect(throws: KeyStoreError.locked(path: storePath, owner: StoreOwner(process: 4711))) {
      try bench.open()
    }
    #expect(store.close())
    _ = try bench.open()
  }

  @Test func missingDirectoryAndMount() throws {
    let files = PowerLossFiles(seed: 1)
    #expect(throws: KeyStoreError.directoryMissing("/elsewhere")) {
      try KeyStore.recover(
        path: "/elsewhere/keys.json", options: .init(), files: files, clock: ManualClock(),
        entropy: TestEntropy(seed: 1),
        report: { _ in })
    }
    files.place(storePath, Array("{}".utf8))
    // the lock's identity, directory, leftovers, identity; then the link across mounts.
    files.plan([5: .error(18)])
    #expect(throws: KeyStoreError.notReplaceable(storePath)) { try Bench(files: files).open() }
  }

  /// The text of an `appId` that names no app outlives a rewrite, and is told of.
  @Test(arguments: ["", "TEAMID.com.example.app", "*", "ABCDEF12K4."])
  func malformedAppIDsAreKept(text: String) throws {
    let bench = Bench()
    let store = try bench.open()
    for key in 0..<2 { _ = store.register(newKey(key)) { _ in } }
    #expect(store.close())
    var lines = bench.snapshotText().split(separator: "\n").map(String.init)
    lines[2] = lines[2].replacing("ABCDEF12K4.com.example.app", with: text)
    bench.files.place(storePath, Array(lines.joined(separator: "\n").utf8))
    let again = try bench.open()
    #expect(bench.events.all.contains(.malformedAppID(keys: 1, first: identifier(1))))
    #expect(again.find(identifier(1))?.appID == text)
    #expect(again.advance(0, to: 1) == .accepted)
    #expect(again.close())
    #expect(bench.snapshotText().contains("\"appId\":\"\(text)\""))
  }

  @Test func mismatchesAreReportedAndKept() throws {
    let bench = Bench()
    let store = try bench.open()
    for key in 0..<3 { _ = store.register(newKey(key)) { _ in } }
    #expect(store.close())
    let fingerprint: @Sendable (P256Point) -> Bytes32 = { candidate in
      (0..<2).first { point($0) == candidate }.map { identifier($0).digest } ?? Bytes32()
    }
    let again = try bench.open(.init(fingerprint: fingerprint))
    #expect(bench.events.all.contains(.identifierMismatch(keys: 1, first: identifier(2))))
    #expect(again.find(identifier(2)) != nil)
  }
}

/// Against a slow, obvious model: what the store answers and holds, over random changes, crashes and
/// reopenings.
@Suite struct KeyStoreModelTests {
  @Test(arguments: 0..<8) func behavesLikeADictionary(seed: Int) throws {
    struct Model { var count: UInt32 = 0, isRevoked = false, isInUse = false }
    let bench = Bench(files: PowerLossFiles(seed: UInt64(seed)))
    var store = try bench.open()
    var model: [Int: Model] = [:]
    var random = SplitMix(seed: UInt64(seed) + 99)
    for _ in 0..<1500 {
      let key = Int(random.next() % 400)
      switch random.next() % 100 {
      case 0..<30:
        let verdict = store.register(newKey(key)) { _ in }
        if model[key]?.isRevoked == true {
          #expect(verdict == .revoked)
        } else {
          #expect(verdict == .accepted(isNew: model[key] == nil))
          model[key] = model[key] ?? Model()
        }
      case 30..<80:
        let count = UInt32(random.next() % 40)
        let verdict = store.advance(key, to: count)
        switch model[key] {
        case nil: #expect(verdict == .unknownKey)
        case let known? where known.isRevoked: #expect(verdict == .revoked)
        case let known? where count <= known.count: #expect(verdict == .replayed(stored: known.count))
        default:
          #expect(verdict == .accepted)
          model[key]?.count = count
          model[key]?.isInUse = true
        }
      case 80..<90:
        model[key]?.isInUse = false
      case 90..<92:
        let verdict = store.revoke(identifier(key), now: UnixTime(milliseconds: 1)) { _ in }
        if model[key] != nil {
          #expect(verdict == .revoked(since: UnixTime(milliseconds: 1)))
          model[key]?.isRevoked = true
        } else {
          #expect(verdict == .unknownKey)
        }
      case 92..<93:
        // Everything is long unused; revoked keys and keys in use stay.
        let expected = model.filter { !$0.value.isRevoked && !$0.value.isInUse }
        let used = Set(model.filter(\.value.isInUse).keys.map(identifier))
        let removed = store.prune(
          unusedSince: UnixTime(milliseconds: .max), isInUse: used.contains, completion: { _ in })
        #expect(removed == expected.count)
        for key in expected.keys { model[key] = nil }
      case 93..<97:
        bench.clock.advance(.seconds(2))
        _ = store.snapshotStep()
      default:
        store.commitAll()
        if random.next() % 2 == 0 { #expect(store.close()) }
        bench.files.reboot()
        store = try bench.open()
        for key in model.keys { model[key]?.isInUse = false }
      }
      let found = store.find(identifier(key))
      #expect(found?.signCount == model[key]?.count)
      #expect((found?.revokedAt != nil) == (model[key]?.isRevoked ?? false))
    }
    #expect(store.statistics.keys == model.count)
    #expect(store.statistics.revokedKeys == model.values.count { $0.isRevoked })
  }
}

/// Looking through all keys: docs/console.md, "Console".
@Suite struct KeyBrowsingTests {
  /// A page's address holds a cursor, which anybody may write.
  @Test func cursorsGoThroughAllAndTakeAnything() throws {
    let store = try Bench().open()
    for key in 0..<10 { _ = store.register(newKey(key)) { _ in } }
    var seen: [KeyIdentifier] = []
    var cursor: KeyCursor?
    repeat {
      let (found, next) = store.browse(after: cursor, count: 3)
      seen += found.map(\.identifier)
      cursor = next.map { KeyCursor($0.text) }
    } while cursor != nil
    #expect(seen == (0..<10).map(identifier))
    let all = store.browse(after: nil, count: 100)
    #expect(
      all.next == nil && store.browse(after: all.found[3].cursor, count: 1).found[0].identifier == seen[4])
    for text in ["", "x", "-1", "99999999999999999999"] {
      #expect(store.browse(after: KeyCursor(text), count: 1).found.map(\.identifier) == [seen[0]])
    }
    #expect(store.browse(after: KeyCursor("\(Int.max)"), count: 1).found.isEmpty)
    #expect(store.records(of: [identifier(1), identifier(77)]).keys.map(\.self) == [identifier(1)])
  }

  @Test(arguments: [1, 7, 255, 256, 257, 1000, 10_000]) func piecesHaveEachKeyOnce(count: Int) throws {
    let store = try Bench().open()
    for key in 0..<1000 { _ = store.register(newKey(key)) { _ in } }
    var found: [KeyIdentifier] = []
    var place: Int? = 0
    while let start = place {
      let (keys, next) = store.browse(from: start, count: count)
      #expect(keys.count <= count && keys.allSatisfy { $0.position >= start })
      found += keys.map(\.identifier)
      place = next
    }
    #expect(found == (0..<1000).map(identifier))
    #expect(store.browse(from: 5, count: 1).found.first?.record == store.find(identifier(5)))
  }

  /// Whatever an address says: nothing is there, and nothing traps.
  @Test(arguments: [-1, Int.min, 1000, Int.max, Int.max - 10]) func placesThatThereAreNot(place: Int) throws {
    let store = try Bench().open()
    for key in 0..<3 { _ = store.register(newKey(key)) { _ in } }
    let (found, next) = store.browse(from: place, count: 100)
    #expect(found.count == (place < 0 ? 3 : 0) && next == nil)
    #expect(try Bench().open().browse(from: 0, count: 5).found.isEmpty)
  }

  /// What is removed and registered meanwhile moves nobody: each key that stays is met once.
  @Test func aWalkBesideChanges() throws {
    let store = try Bench().open()
    for key in 0..<600 { _ = store.register(newKey(key)) { _ in } }
    let (first, next) = store.browse(from: 0, count: 300)
    _ = store.prune(unusedSince: UnixTime(milliseconds: .max), isInUse: { $0 != identifier(100) }) { _ in }
    _ = store.register(newKey(1000)) { _ in }
    let (second, end) = store.browse(from: try #require(next), count: 300)
    #expect((first + second).map(\.identifier) == (0..<600).map(identifier) && end == nil)
    #expect(store.appIDs == ["ABCDEF12K4.com.example.app"])
  }
}
