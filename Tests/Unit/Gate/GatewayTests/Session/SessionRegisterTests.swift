import Bytes
import Glibc
import Identity
import KeyStore
import Kit
import Stores
import Synchronization
import System
import Testing
import Time

@testable import Admission
@testable import Gateway

@Suite struct SessionRegisterTests {
  private let register = SessionRegister()

  private func key(_ number: UInt64) -> KeyIdentifier { KeyIdentifier(Bytes32(words: number, 2, 3, 4)) }

  private func session(_ token: UInt64) -> SessionReference { SessionReference(loop: 1, token: token) }

  @Test func surplusIsTheOldest() {
    for token: UInt64 in 1...6 {
      register.enter(session(token), of: key(1))
      let surplus = register.admit(session(token), of: key(1), limit: 4)
      #expect(surplus == (1...6).prefix(max(0, Int(token) - 4)).map(session))
    }
    #expect(register.keyCount == 1)
    for token: UInt64 in 1...6 { register.leave(session(token), of: key(1)) }
    #expect(register.sessions(of: key(1)).isEmpty)
    #expect(register.keyCount == 0)
  }

  /// The longest without a connection goes first, and one that plays only if there is none without.
  @Test func surplusIsWithoutAConnection() {
    for token: UInt64 in 1...5 {
      register.enter(session(token), of: key(1))
      #expect(register.admit(session(token), of: key(1), limit: 5).isEmpty)
    }
    register.detach(session(4), of: key(1))
    register.detach(session(2), of: key(1))
    register.enter(session(6), of: key(1))
    #expect(register.admit(session(6), of: key(1), limit: 5) == [session(4)])
    #expect(register.admit(session(6), of: key(1), limit: 4) == [4, 2].map(session))
    #expect(register.admit(session(6), of: key(1), limit: 2) == [4, 2, 1, 3].map(session))
    // It is back, by another name.
    register.leave(session(4), of: key(1))
    register.enter(session(7), of: key(1))
    #expect(register.admit(session(7), of: key(1), limit: 5) == [session(2)])
    register.leave(session(2), of: key(1))
    register.enter(session(8), of: key(1))
    #expect(register.admit(session(8), of: key(1), limit: 5) == [session(1)])
  }

  /// Who waits for a 101 that may never come takes nobody's place, but a revocation finds it.
  @Test func thoseThatWaitAreNoSessions() {
    for token: UInt64 in 1...5 { register.enter(session(token), of: key(1)) }
    #expect(register.surplusWaiting(of: key(1), limit: 5).isEmpty)
    #expect(register.surplusWaiting(of: key(1), limit: 3) == [session(1), session(2)])
    #expect(register.admit(session(4), of: key(1), limit: 1).isEmpty)
    #expect(register.surplusWaiting(of: key(1), limit: 3) == [session(1)])
    #expect(register.admit(session(2), of: key(1), limit: 1) == [session(4)])
    #expect(register.sessions(of: key(1)) == [4, 2, 1, 3, 5].map(session))
    for token: UInt64 in 1...5 {
      #expect(register.hasSessions(of: key(1)))
      register.leave(session(token), of: key(1))
    }
    #expect(!register.hasSessions(of: key(1)))
  }

  @Test func upgradesOfOneConnectionAreToldApart() {
    let references = [1, 2].map { SessionReference(loop: 0, token: $0) }
    for reference in references { register.enter(reference, of: key(1)) }
    register.leave(references[0], of: key(1))
    #expect(register.sessions(of: key(1)) == [references[1]])
    register.leave(references[0], of: key(2))
    #expect(register.keyCount == 1)
  }

  /// Threads admit while others revoke and prune, each in the gate's order: whoever holds a session of a revoked key was
  /// found by its revocation, and no key with a session was pruned.
  @Test(arguments: 1...3) func aRevocationFindsEverySession(seed: UInt64) throws {
    let store = MemoryStore()
    let keys = (0..<Race.keys).map { key($0) }
    for identifier in keys {
      let point = P256Point(x: Bytes32(), y: Bytes32())
      let key = NewKey(
        identifier: identifier, publicKey: point, appID: "ABCDEF12K4.app", environment: .production,
        registeredAt: UnixTime(milliseconds: 1))
      #expect(store.register(key) { _ in } == .accepted(isNew: true))
    }
    let race = Race(store: store, register: register, keys: keys)
    var threads: [JoinHandle] = []
    for loop in 0..<3 {
      threads.append(
        JoinHandle(try Thread(name: "loop") { race.admit(as: UInt16(loop), seed: seed * 10 + UInt64(loop)) }))
    }
    threads.append(JoinHandle(try Thread(name: "revoker") { race.revoke(seed: seed) }))
    threads.append(JoinHandle(try Thread(name: "pruner") { race.prune() }))
    for thread in threads { thread.join() }
    let (live, found) = race.outcome
    for identifier in keys {
      let sessions = live[identifier] ?? []
      #expect(Set(register.sessions(of: identifier)) == sessions)
      if let found = found[identifier] { #expect(sessions.isSubset(of: found)) }
      if !sessions.isEmpty { #expect(store.find(identifier) != nil) }
    }
    #expect(live.values.contains { !$0.isEmpty })
    #expect(!found.isEmpty)
  }
}

/// The gate's steps of admission, revocation and pruning, without the gate.
private final class Race: Sendable {
  static let keys: UInt64 = 64
  private static let attempts: UInt64 = 3000

  private struct Outcome {
    var live: [KeyIdentifier: Set<SessionReference>] = [:]
    var found: [KeyIdentifier: Set<SessionReference>] = [:]
  }

  private let store: MemoryStore
  private let register: SessionRegister
  private let keys: [KeyIdentifier]
  private let counter = Atomic<UInt32>(0)
  private let result = Mutex(Outcome())

  init(store: MemoryStore, register: SessionRegister, keys: [KeyIdentifier]) {
    self.store = store
    self.register = register
    self.keys = keys
  }

  var outcome: (live: [KeyIdentifier: Set<SessionReference>], found: [KeyIdentifier: Set<SessionReference>]) {
    result.withLock { ($0.live, $0.found) }
  }

  func admit(as loop: UInt16, seed: UInt64) {
    var random = SplitMix(seed: seed)
    for token in 1...Self.attempts {
      let key = keys[Int(random.next() % Self.keys)]
      let session = SessionReference(loop: loop, token: token)
      register.enter(session, of: key)
      sched_yield()
      let count = counter.wrappingAdd(1, ordering: .relaxed).newValue
      let verdict = store.advanceCounter(
        of: key, to: count, recording: nil, environment: nil, now: UnixTime(milliseconds: 1),
        spending: nil, isGathered: false, completion: { _ in })
      sched_yield()
      // Some give up before their 101, or find the key revoked then.
      guard verdict == .accepted, random.next() % 4 > 0, !store.isRevoked(key) else {
        register.leave(session, of: key)
        continue
      }
      sched_yield()
      _ = register.admit(session, of: key, limit: 5)
      if random.next() % 4 == 0 {
        register.leave(session, of: key)
      } else {
        result.withLock { _ = $0.live[key, default: []].insert(session) }
      }
    }
  }

  /// Half of the keys, as admissions go on.
  func revoke(seed: UInt64) {
    for number in 0..<Int(Self.keys / 2) {
      // Its turn comes when the loops have come so far.
      while counter.load(ordering: .relaxed) < UInt32(number) * 100 { sched_yield() }
      guard case .revoked = store.revoke(keys[number], now: UnixTime(milliseconds: 2)) else { continue }
      let found = Set(register.sessions(of: keys[number]))
      result.withLock { $0.found[keys[number]] = found }
    }
  }

  /// Every key is long unused, but what has a session stays. Not from the start, or no key would be left.
  func prune() {
    let register = register
    while counter.load(ordering: .relaxed) < 300 { sched_yield() }
    while counter.load(ordering: .relaxed) < UInt32(Self.attempts) {
      _ = store.prune(
        unusedSince: UnixTime(milliseconds: 10), isInUse: { register.hasSessions(of: $0) },
        completion: { _ in })
      sched_yield()
    }
  }
}
