import Bytes
import Identity
import System
import Testing
import Time

@testable import KeyStore

/// Keys of another gate: good for a while, changed by nothing but a registration, durable like all others.
@Suite struct ImportTests {
  private static let start = UnixTime(milliseconds: 1_771_286_400_000)
  private static let until = KeyImport(
    from: .goldfinch, until: UnixTime(milliseconds: start.milliseconds + 86_400_000))

  private func foreign(_ number: Int, signCount: UInt32 = 7) -> ForeignKey {
    ForeignKey(
      identifier: identifier(number), publicKey: point(number), signCount: signCount,
      registeredAt: Self.start,
      lastUsedAt: number % 2 == 0 ? UnixTime(milliseconds: Self.start.milliseconds + 5) : nil)
  }

  private func adopt(_ numbers: ClosedRange<Int>, in store: KeyStore, appID: String? = nil)
    -> (ImportVerdict, Recorder<CommitResult>)
  {
    let results = Recorder<CommitResult>()
    let verdict = store.adopt(numbers.map { foreign($0) }, Self.until, appID: appID) { results.append($0) }
    return (verdict, results)
  }

  private func use(_ number: Int, counter: UInt32, at time: UnixTime, in store: KeyStore) -> CounterVerdict {
    store.advanceCounter(of: identifier(number), to: counter, now: time) { _ in }
  }

  @Test func aKeyIsGoodUntilItsTimeAndUnknownFromThenOn() throws {
    let store = try Bench().open()
    #expect(adopt(1...2, in: store, appID: "TEAM123456.a.b").0 == ImportVerdict(taken: 2))
    let last = UnixTime(milliseconds: Self.until.goodUntil.milliseconds - 1)
    #expect(use(1, counter: 7, at: last, in: store) == .replayed(stored: 7))
    #expect(use(1, counter: 8, at: last, in: store) == .accepted)
    #expect(use(1, counter: 9, at: Self.until.goodUntil, in: store) == .unknownKey)
    let record = try #require(store.find(identifier(1)))
    #expect(record.imported == Self.until && record.appID == "TEAM123456.a.b" && record.signCount == 8)
    #expect(!record.isOver(at: last) && record.isOver(at: Self.until.goodUntil))
  }

  /// Nobody comes in by them, and they take the places of those who do.
  @Test func keysThatAreOverGo() throws {
    let bench = Bench()
    let store = try bench.open()
    #expect(adopt(1...4, in: store).0.taken == 4)
    for key in [4, 5] { _ = store.register(newKey(key)) { _ in } }
    _ = store.revoke(identifier(2), now: Self.start) { _ in }
    let results = Recorder<CommitResult>()
    func tidy(_ time: UnixTime) -> Int {
      let removed = Recorder<Int>()
      store.removeImports(
        overSince: time, isInUse: { $0 == identifier(3) }, removed: { removed.append($0) },
        completion: { results.append($0) })
      store.commitAll()
      return removed.all.count == 1 ? removed.all[0] : -1
    }
    let last = UnixTime(milliseconds: Self.until.goodUntil.milliseconds - 1)
    #expect(tidy(last) == 0)
    // Not who was registered since or at all, is revoked, or still plays.
    #expect(tidy(Self.until.goodUntil) == 1)
    #expect(tidy(Self.until.goodUntil) == 0)
    #expect(results.all == [.committed, .committed, .committed])
    #expect((1...5).map { store.find(identifier($0)) != nil } == [false, true, true, true, true])
    bench.files.reboot()
    let again = try bench.open()
    #expect((1...5).map { again.find(identifier($0)) != nil } == [false, true, true, true, true])
    #expect(again.isRevoked(identifier(2)))
  }

  @Test func doingItAgainChangesNothing() throws {
    let store = try Bench().open()
    #expect(store.register(newKey(1)) { _ in } == .accepted(isNew: true))
    #expect(store.register(newKey(2)) { _ in } == .accepted(isNew: true))
    #expect(store.revoke(identifier(2), now: Self.start) { _ in } == .revoked(since: Self.start))
    #expect(adopt(1...4, in: store).0 == ImportVerdict(taken: 2, known: 2))
    let before = (1...4).map { store.find(identifier($0)) }
    let later = KeyImport(from: .goldfinch, until: UnixTime(milliseconds: .max))
    let results = Recorder<CommitResult>()
    let verdict = store.adopt(
      (1...4).map { foreign($0, signCount: 100) }, later, appID: "TEAM123456.c.d"
    ) { results.append($0) }
    #expect(verdict == ImportVerdict(known: 4) && results.all == [.committed])
    #expect((1...4).map { store.find(identifier($0)) } == before)
    #expect(before[0]?.imported == nil && before[2]?.imported == Self.until)
  }

  /// The key that registers is judged here, and keeps its counter.
  @Test func aRegistrationEndsIt() throws {
    let bench = Bench()
    let store = try bench.open()
    _ = adopt(1...1, in: store)
    #expect(store.register(newKey(1)) { _ in } == .accepted(isNew: false))
    store.commitAll()
    #expect(store.find(identifier(1))?.imported == nil && store.find(identifier(1))?.signCount == 7)
    #expect(use(1, counter: 8, at: UnixTime(milliseconds: .max / 2), in: store) == .accepted)
    store.commitAll()
    bench.files.reboot()
    let again = try bench.open()
    #expect(again.find(identifier(1))?.imported == nil && again.find(identifier(1))?.signCount == 8)
  }

  @Test(arguments: [true, false]) func theyAreThereAfterAStart(isClosed: Bool) throws {
    let bench = Bench()
    let store = try bench.open()
    let (verdict, results) = adopt(1...300, in: store, appID: "TEAM123456.a.b")
    #expect(verdict == ImportVerdict(taken: 300) && results.all.isEmpty)
    store.commitAll()
    #expect(results.all == [.committed])
    #expect(use(3, counter: 12, at: Self.start, in: store) == .accepted)
    #expect(store.revoke(identifier(4), now: Self.start) { _ in } == .revoked(since: Self.start))
    store.commitAll()
    let expected = (1...300).map { store.find(identifier($0)) }
    if isClosed { #expect(store.close()) } else { bench.files.reboot() }
    let again = try bench.open()
    #expect((1...300).map { again.find(identifier($0)) } == expected)
    #expect(again.close())
    #expect(
      bench.snapshotText().contains(
        #""importedFrom":"goldfinch","goodUntil":"2026-02-18T00:00:00.000Z"}"#))
  }

  @Test func aFullStoreSaysSo() throws {
    let store = try Bench().open(KeyStore.Options(maximumKeys: 100))
    #expect(adopt(1...150, in: store).0 == ImportVerdict(taken: 100, isFull: true))
    #expect(adopt(1...150, in: store).0 == ImportVerdict(known: 100, isFull: true))
  }

  @Test func whatCannotBeWrittenIsNotSaidToBe() throws {
    let bench = Bench()
    let store = try bench.open()
    bench.files.failAll(5)
    let (verdict, results) = adopt(1...3, in: store)
    store.commitAll()
    #expect(verdict == ImportVerdict(taken: 3) && results.all == [.failed])
    let (second, more) = adopt(4...5, in: store)
    #expect(second == ImportVerdict() && more.all == [.failed])
    #expect(store.find(identifier(4)) == nil)
  }

  @Test(arguments: [
    (#""importedFrom":"goldfinch""#, "importedFrom and goodUntil come together"),
    (#""goodUntil":"2026-02-18T00:00:00Z""#, "importedFrom and goodUntil come together"),
    (
      #""importedFrom":"goldfinch","goodUntil":"2026-02-18T00:00:00Z","validationCategory":4"#,
      "importedFrom and validationCategory exclude each other"
    ),
    (
      #""importedFrom":"eagle","goodUntil":"2026-02-18T00:00:00Z""#,
      "importedFrom names no gate that keys are taken from"
    ),
    (#""importedFrom":"goldfinch","goodUntil":1771286400"#, "a byte that cannot stand here"),
  ])
  func halfOfItIsDamage(members: String, reason: String) {
    let pem = point(1).pem.replacing("\n", with: "\\n")
    let text =
      #"{"\#(identifier(1).base64)":{"publicKey":"\#(pem)","signCount":1,"#
      + #""registeredAt":"2026-02-17T00:00:00Z",\#(members)}}"#
    let bytes = Array(text.utf8)
    var parser = SnapshotParser()
    var table = KeyTable(entropy: TestEntropy(seed: 1))
    do {
      _ = try parser.parse(bytes.span, isLast: true, into: &table)
      Issue.record("it was read")
    } catch {
      #expect(error.reason == reason)
    }
  }

  /// A second is what the journal keeps of it.
  @Test(arguments: [
    (0, 0), (999, 0), (1000, 1), (-5, 0), (4_294_967_295_999, 4_294_967_295), (.max, 4_294_967_295),
  ])
  func times(milliseconds: Int64, second: Int64) {
    let imported = KeyImport(from: .goldfinch, until: UnixTime(milliseconds: milliseconds))
    #expect(imported.goodUntil.milliseconds == second * 1000)
  }
}
