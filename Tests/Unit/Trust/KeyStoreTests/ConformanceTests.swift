import Bytes
import Identity
import Kit
import Testing
import Time

@testable import KeyStore

/// What the gate relies on, of every store of keys (`AttestedKeyStore`): the file, one in memory, one that asks a database, and
/// those that fail at random.
@Suite struct ConformanceTests {
  /// A store that may fail is looked at with several seeds.
  private func stores(_ kind: StoreUnderTest.Kind) throws -> [StoreUnderTest] {
    try (1...(kind.fails ? 20 : 1)).map { try StoreUnderTest(kind, seed: UInt64($0)) }
  }

  @Test(arguments: StoreUnderTest.Kind.allCases) func aKeyIsKnownOnceItIsRegistered(kind: StoreUnderTest.Kind)
    throws
  {
    for store in try stores(kind) {
      #expect(store.record(1) == nil)
      #expect(store.again { store.register(1) } == .done)
      let record = try #require(store.record(1))
      #expect(record.publicKey == point(1) && record.signCount == 0 && record.revokedAt == nil)
      #expect(store.record(2) == nil)
    }
  }

  /// Of two assertions with one counter one is taken, and a lower one never; registering again does not lower it.
  @Test(arguments: StoreUnderTest.Kind.allCases) func aCounterOnlyGrows(kind: StoreUnderTest.Kind) throws {
    for store in try stores(kind) {
      #expect(store.again { store.register(1) } == .done)
      var (count, taken): (UInt32, Set<UInt32>) = (0, [])
      for _ in 0..<30 {
        count += 1
        if store.count(1, to: count) == .done { taken.insert(count) }
        // What failed may have been made: either way it is not taken twice.
        let again = store.count(1, to: count)
        #expect(!taken.contains(count) || again != .done)
        if again == .done { taken.insert(count) }
        if count > 1 { #expect(store.count(1, to: count - 1) != .done || !taken.contains(count)) }
      }
      #expect(!taken.isEmpty && (kind.fails || taken.count == 30))
      let highest = try #require(taken.max())
      #expect(store.again { store.register(1, at: 5) } == .done)
      #expect(try #require(store.record(1)).signCount >= highest)
      #expect(store.count(1, to: highest) != .done)
    }
  }

  @Test(arguments: StoreUnderTest.Kind.allCases) func aKeyThatIsNotThereHasNoCounter(
    kind: StoreUnderTest.Kind
  ) throws {
    for store in try stores(kind) {
      #expect(store.again { store.count(1, to: 1) } == .lost(.unknownKey))
      let (verdict, isRefused, result) = store.revoke(1)
      #expect(verdict == .unknownKey && !isRefused && result == .lost(.unknownKey))
    }
  }

  /// It holds as soon as the verdict says so, whatever becomes of it on the disk; the first time and reason stay.
  @Test(arguments: StoreUnderTest.Kind.allCases) func aRevocationHoldsAtOnceAndForGood(
    kind: StoreUnderTest.Kind
  ) throws {
    for store in try stores(kind) {
      #expect(store.again { store.register(1) } == .done)
      #expect(store.again { store.register(2) } == .done)
      let (verdict, isRefused, result) = store.revoke(1, reason: "lost", at: 7)
      let since = UnixTime(milliseconds: store.start.milliseconds + 7)
      #expect(verdict == .revoked(since: since) && isRefused)
      #expect(result == .done || kind.fails && result == .failed)
      for count in 1...5 as ClosedRange<UInt32> {
        #expect(store.again { store.count(1, to: count) } == .lost(.revoked))
      }
      #expect(store.again { store.register(1) } == .lost(.revoked))
      #expect(store.revoke(1, reason: "other", at: 9).0 == .revoked(since: since))
      let record = try #require(store.record(1))
      #expect(record.revokedAt == since && record.revokedReason == "lost")
      #expect(!store.store.isRevoked(identifier(2)))
      #expect(store.again { store.count(2, to: 100) } != .lost(.revoked))
    }
  }

  /// Neither what is revoked nor what is in use goes, and whoever waits hears of it in any case.
  @Test(arguments: StoreUnderTest.Kind.allCases) func whatPruningLeaves(kind: StoreUnderTest.Kind) throws {
    for store in try stores(kind) {
      for number in 1...3 { #expect(store.again { store.register(number) } == .done) }
      _ = store.revoke(2)
      let removed = Recorder<Int>()
      let cutoff = UnixTime(milliseconds: store.start.milliseconds + 1)
      let result = store.again {
        store.result { completion in
          store.store.prune(
            unusedSince: cutoff, isInUse: { $0 == identifier(3) }, removed: { removed.append($0) },
            completion: completion)
          return nil
        }
      }
      #expect(result == .done && removed.all.reduce(0, +) == 1)
      #expect(store.record(1) == nil && store.record(2) != nil && store.record(3) != nil)
    }
  }

  /// One that is there stays as it is; an imported one is over when its time is, unless it was revoked.
  @Test(arguments: StoreUnderTest.Kind.allCases) func keysOfAnotherGate(kind: StoreUnderTest.Kind) throws {
    for store in try stores(kind) {
      #expect(store.again { store.register(1) } == .done)
      let end = UnixTime(milliseconds: store.start.milliseconds + 60_000)
      let imported = KeyImport(from: .goldfinch, until: end)
      let keys = (1...3).map { number in
        ForeignKey(
          identifier: identifier(number), publicKey: point(number), signCount: 5, registeredAt: store.start)
      }
      let verdicts = Recorder<ImportVerdict>()
      let result = store.again {
        store.result { completion in
          store.store.adopt(
            keys, imported, appID: nil, verdict: { verdicts.append($0) }, completion: completion)
          return nil
        }
      }
      #expect(result == .done && verdicts.all.last.map { $0.taken + $0.known } == 3)
      #expect(try #require(store.record(1)).imported == nil)
      #expect(try #require(store.record(2)).imported?.goodUntil == end)
      _ = store.revoke(3)
      let removing = store.again {
        store.result { completion in
          store.store.removeImports(
            overSince: end, isInUse: { _ in false }, removed: { _ in }, completion: completion)
          return nil
        }
      }
      #expect(removing == .done)
      #expect(store.record(1) != nil && store.record(2) == nil && store.record(3) != nil)
    }
  }

  /// Orders of others than loops come true in their order.
  @Test(arguments: StoreUnderTest.Kind.allCases) func ordersAreCarriedOut(kind: StoreUnderTest.Kind) throws {
    let store = try StoreUnderTest(kind)
    #expect(store.again { store.register(1) } == .done)
    let done = Recorder<Int>()
    for number in 0..<3 { store.store.orders.give { done.append(number) } }
    let keys = store.store.orders.ask { [store = store.store] in store.statistics.keys }
    #expect(keys == 1 && done.all == [0, 1, 2])
  }

  /// A store that others share takes a challenge once, whoever brings it.
  @Test func aChallengeIsSpentOnce() throws {
    let store = try StoreUnderTest(.late)
    #expect(store.register(1) == .done)
    let challenge = Unspent(nonce: bytes32(9), issuedAt: MonotonicTime(nanoseconds: 1))
    #expect(store.count(1, to: 1, by: challenge) == .done)
    #expect(store.count(1, to: 2, by: challenge) == .lost(.spent))
    #expect(store.register(2, by: challenge) == .lost(.spent))
    #expect(store.record(2) == nil && store.record(1)?.signCount == 1)
  }
}
