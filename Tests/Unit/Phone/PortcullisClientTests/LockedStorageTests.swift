/// A storage that does not say yet what it has, never will, or takes nothing.
import Testing

@testable import PortcullisClient

@Suite struct LockedStorageTests {
  /// Locked at first: neither key nor session is made anew, and nothing is written over what cannot be read yet.
  @Test func whatCannotBeReadYetIsWaitedFor() async throws {
    let gate = MemoryGate()
    let attestor = MemoryAttestor()
    let old = SavedSession(
      gate: "play.example.com:8443", keyID: "old", sessionID: "AAAAAAAAAAAAAAAAAAAAAA", received: 7)
    let storage = LockedStorage(old)
    let player = Player(try Player.session(gate, attestor: attestor, storage: storage))
    try await eventually("it is asked again and again") { await storage.looks > 2 }
    #expect(attestor.calls == [] && gate.look { $0.resumes } == [])
    await storage.unlock()
    player.session.enterForeground()
    try await eventually("a session") { player.session.isAttached }
    #expect(attestor.calls == ["assert old 32"])
    #expect(gate.look { $0.resumes } == ["AAAAAAAAAAAAAAAAAAAAAA;received=7;state"])
  }

  @Test func anEndBeforeItCouldBeReadKeepsIt() async throws {
    let old = SavedSession(gate: "play.example.com:8443", keyID: "old", sessionID: "AAAAAAAAAAAAAAAAAAAAAA")
    let storage = LockedStorage(old)
    let player = Player(try Player.session(MemoryGate(), storage: storage, clock: .system))
    try await eventually("it is asked") { await storage.looks > 0 }
    await player.session.close()
    #expect(await storage.session == old)
  }

  /// For good: what is there is of no use to anybody.
  @Test func whatWillNeverBeReadIsReplaced() async throws {
    let gate = MemoryGate()
    let attestor = MemoryAttestor()
    let storage = LockedStorage(nil, throwing: .broken("an entry of another app"))
    let player = Player(try Player.session(gate, attestor: attestor, storage: storage))
    try await eventually("a session") { player.session.isAttached }
    #expect(attestor.calls == ["make", "attest key 1 32", "assert key 1 32"])
    try await eventually("it is remembered") { await storage.session?.sessionID != nil }
  }

  /// It is saved with the next change.
  @Test func whatCannotBeSavedIsPlayed() async throws {
    let gate = MemoryGate()
    let storage = LockedStorage(nil, throwing: nil)
    await storage.refuse()
    let player = Player(try Player.session(gate, storage: storage))
    try await eventually("a session") { player.session.isAttached }
    gate.say(.binary("one"))
    try await eventually("played") { player.shown == ["one"] }
    await storage.unlock()
    for number in 0..<40 { gate.say(.binary("\(number)")) }
    try await eventually("saved") { await storage.session?.sessionID != nil }
    #expect(gate.look { $0.gate.sessions.count } == 1)
  }
}

/// One that does not say yet what it has.
private actor LockedStorage: SessionStorage {
  private(set) var session: SavedSession?
  private(set) var looks = 0
  private var error: SessionStorageError?
  private var refuses = false

  init(_ session: SavedSession?, throwing error: SessionStorageError? = .locked) {
    self.session = session
    self.error = error
  }

  func load() throws -> SavedSession? {
    looks += 1
    if let error { throw error }
    return session
  }

  func save(_ session: SavedSession) throws {
    if refuses { throw SessionStorageError.locked }
    self.session = session
  }

  func unlock() { (error, refuses) = (nil, false) }
  func refuse() { refuses = true }
}
