/// A storage that does not say yet what it has, never will, or takes nothing.
import Testing
import PortcullisTesting

@testable import PortcullisClient

@Suite struct LockedStorageTests {
  /// Locked at first: neither key nor session is made anew, and nothing is written over what cannot be read yet.
  @Test func whatCannotBeReadYetIsWaitedFor() async throws {
    let gate = ScriptedGate()
    let attestor = ScriptedAppAttest()
    let old = RememberedSession(id: "AAAAAAAAAAAAAAAAAAAAAA", received: 7, handled: 0)
    let storage = LockedStorage(Player.storage(keyID: ScriptedAppAttest.key(99), session: old))
    let player = Player(try Player.session(gate, attestor: attestor, storage: storage))
    try await eventually("it is asked again and again") { await storage.looks > 2 }
    #expect(attestor.calls == [] && gate.look { $0.resumes } == [])
    await storage.unlock()
    player.session.enterForeground()
    try await eventually("a session") { player.session.isAttached }
    #expect(attestor.calls == ["assert 99"])
    #expect(gate.look { $0.resumes } == ["AAAAAAAAAAAAAAAAAAAAAA;received=7;state"])
  }

  @Test func anEndBeforeItCouldBeReadKeepsIt() async throws {
    let old = RememberedSession(id: "AAAAAAAAAAAAAAAAAAAAAA", received: 0, handled: 0)
    let storage = LockedStorage(Player.storage(session: old))
    let player = Player(try Player.session(ScriptedGate(), storage: storage, clock: .system))
    try await eventually("it is asked") { await storage.looks > 0 }
    await player.session.close()
    #expect(await storage.kept.session == old)
  }

  /// For good: what is there is of no use to anybody.
  @Test func whatWillNeverBeReadIsReplaced() async throws {
    let gate = ScriptedGate()
    let attestor = ScriptedAppAttest()
    let storage = LockedStorage(MemoryStorage(), throwing: .broken("an entry of another app"))
    let player = Player(try Player.session(gate, attestor: attestor, storage: storage))
    try await eventually("a session") { player.session.isAttached }
    #expect(attestor.calls == ["make", "attest 1", "assert 1"])
    try await eventually("it is remembered") { await storage.kept.session != nil }
  }

  /// It is saved with the next change.
  @Test func whatCannotBeSavedIsPlayed() async throws {
    let gate = ScriptedGate()
    let storage = LockedStorage(MemoryStorage(), throwing: nil)
    await storage.refuse()
    let player = Player(try Player.session(gate, storage: storage))
    try await eventually("a session") { player.session.isAttached }
    gate.say(.binary("one"))
    try await eventually("played") { player.shown == ["one"] }
    await storage.unlock()
    for number in 0..<40 { gate.say(.binary("\(number)")) }
    try await eventually("saved") { await storage.kept.session != nil }
    #expect(gate.look { $0.gate.sessions.count } == 1)
  }
}

/// One that does not say yet what it has.
private actor LockedStorage: GameStorage {
  let kept: MemoryStorage
  private(set) var looks = 0
  private var error: GameStorageError?
  private var refuses = false

  init(_ kept: MemoryStorage, throwing error: GameStorageError? = .locked) {
    self.kept = kept
    self.error = error
  }

  func load(_ entry: GameEntry) async throws -> [UInt8]? {
    looks += 1
    if let error { throw error }
    return await kept.load(entry)
  }

  func save(_ bytes: [UInt8]?, as entry: GameEntry) async throws {
    if refuses { throw GameStorageError.locked }
    await kept.save(bytes, as: entry)
  }

  func unlock() { (error, refuses) = (nil, false) }
  func refuse() { refuses = true }
}
