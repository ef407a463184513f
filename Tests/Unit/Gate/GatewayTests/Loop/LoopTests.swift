import Glibc
import KeyStore
import Kit
import Synchronization
import System
import TLSPeers
import Testing

@testable import Admission
@testable import Configuration
@testable import Gateway
@testable import Scheduling
@testable import Telemetry

/// Connections of one loop, driven turn by turn (`LoopHarness`).
@Suite struct LoopTests {
  private static let health = "GET /healthz HTTP/1.1\r\nHost: g\r\n\r\n"

  private func player(on harness: LoopHarness) throws -> Player {
    let player = try harness.arrive()
    try player.handshake()
    return player
  }

  private func playing(on harness: LoopHarness) throws -> Player {
    let player = try player(on: harness)
    #expect(player.say(Player.upgrade).hasPrefix("HTTP/1.1 101 "))
    return player
  }

  // MARK: The way in

  @Test func aRequestIsAnswered() throws {
    let harness = try LoopHarness()
    let player = try player(on: harness)
    #expect(player.say(Self.health).hasPrefix("HTTP/1.1 200 "))
    #expect(player.say(Self.health + Self.health).components("HTTP/1.1 200 ") == 2)
    #expect(harness.loop.connections.count == 1)
    #expect(harness.shared.pending.value == 1)
  }

  @Test func aSessionIsAdmittedAndEchoes() throws {
    let harness = try LoopHarness()
    let player = try playing(on: harness)
    #expect(harness.shared.sessions.value == 1)
    #expect(harness.shared.pending.value == 0)
    #expect(harness.loop.sessions.count == 1)
    player.client.write(Player.frame(1, "look"))
    player.exchange()
    #expect(player.hear() == "\u{0081}\u{0004}look".binary)
    player.client.write(Player.frame(8, ""))
    player.exchange()
    #expect(harness.shared.sessions.value == 0)
    #expect(harness.events.contains("session_ended"))
  }

  /// Each turn sends what it encrypted to its own player, also where both speak in one turn.
  @Test func twoPlayersHearTheirOwn() throws {
    let harness = try LoopHarness()
    let (one, two) = (try playing(on: harness), try playing(on: harness))
    for round in 0..<50 {
      one.client.write(Player.frame(1, "one \(round)"))
      two.client.write(Player.frame(1, "two \(round)"))
      one.send(one.client.takeOutput())
      two.send(two.client.takeOutput())
      harness.turn()
      #expect(one.hear().hasSuffix("one \(round)"))
      #expect(two.hear().hasSuffix("two \(round)"))
    }
  }

  // MARK: The way down

  @Test func whoeverVanishesIsForgotten() throws {
    let harness = try LoopHarness()
    for stage in 0..<3 {
      let player = try harness.arrive()
      if stage > 0 { try player.handshake() }
      if stage > 1 { #expect(player.say(Player.upgrade).hasPrefix("HTTP/1.1 101 ")) }
      player.vanish()
      for _ in 0..<4 { harness.turn() }
      harness.pass(.seconds(3))
      harness.pass(.seconds(3))
      #expect(harness.loop.connections.count == 0, "stage \(stage)")
      #expect(harness.loop.sessions.count == 0, "stage \(stage)")
    }
    #expect(harness.shared.occupancy.value == 0)
    #expect(harness.shared.pending.value == 0)
    #expect(harness.shared.sessions.value == 0)
    #expect(harness.shared.lingering.value == 0)
  }

  @Test func whoeverSaysNothingIsClosed() throws {
    let harness = try LoopHarness([("TLS_HANDSHAKE_TIMEOUT", "10s"), ("HTTP_HEAD_TIMEOUT", "10s")])
    let silent = try harness.arrive()
    let slow = try player(on: harness)
    slow.client.write("GET / HT")
    slow.exchange()
    harness.pass(.seconds(9))
    #expect(harness.loop.connections.count == 2)
    harness.pass(.seconds(2))
    slow.exchange()
    #expect(slow.hear().hasPrefix("HTTP/1.1 408 "))
    silent.exchange()
    #expect(silent.hasEnded)
    #expect(harness.events.contains("handshake_failed"))
  }

  @Test func silenceEndsASession() throws {
    let harness = try LoopHarness([("PING_INTERVAL", "30s"), ("PONG_TIMEOUT", "90s")])
    let player = try playing(on: harness)
    harness.pass(.seconds(31))
    #expect(player.hear() == "\u{0089}\u{0000}".binary)
    harness.pass(.seconds(31))
    harness.pass(.seconds(31))
    #expect(harness.shared.sessions.value == 0)
    #expect(harness.loop.connections.count == 1)
    harness.pass(.seconds(3))
    player.exchange()
    #expect(harness.loop.connections.count == 0)
  }

  /// The whole machine may stand still for minutes: who could not be pinged is asked before it is given up.
  @Test(arguments: [false, true])
  func aLoopThatStoodStillGivesNobodyUp(_ answers: Bool) throws {
    let harness = try LoopHarness([("PING_INTERVAL", "30s"), ("PONG_TIMEOUT", "90s")])
    let player = try playing(on: harness)
    harness.pass(.seconds(600))
    #expect(harness.shared.sessions.value == 1)
    #expect(player.hear() == "\u{0089}\u{0000}".binary)
    if answers {
      player.client.write(Player.frame(10, ""))
      player.exchange()
    }
    harness.pass(.seconds(31))
    #expect(harness.shared.sessions.value == (answers ? 1 : 0))
  }

  // MARK: Orders from outside

  @Test func anOrderFindsItsSessionAlone() throws {
    let harness = try LoopHarness()
    let (one, two) = (try playing(on: harness), try playing(on: harness))
    let meant = try #require(harness.loop.sessionDescriptions.first)
    harness.shared.post(
      .end(Token(rawValue: meant.reference.token), .closedByOperator, nil), to: meant.reference)
    harness.turn()
    #expect(harness.shared.sessions.value == 1)
    let ends = [one.hear(), two.hear()].filter { $0.contains("closed by the operator") }
    #expect(ends.count == 1)
    // The same order again finds nobody, and least of all the other one.
    harness.shared.post(
      .end(Token(rawValue: meant.reference.token), .closedByOperator, nil), to: meant.reference)
    harness.turn()
    #expect(harness.shared.sessions.value == 1)
  }

  /// Whoever closes sessions asks each loop once, however long it takes to answer.
  @Test func eachLoopIsAskedOnceToCloseSessions() throws {
    let harness = try LoopHarness(loops: 2)
    let players = try (0..<2).map { loop in
      let player = try harness.arrive(at: loop)
      try player.handshake()
      #expect(player.say(Player.upgrade).hasPrefix("HTTP/1.1 101 "))
      return player
    }
    let shared = harness.shared
    let isDone = Monitor(false)
    let thread = try Thread(name: "operator") {
      _ = shared.closeSessions { _ in true }
      isDone.withLock { isDone, wake in
        isDone = true
        wake.all()
      }
    }
    var (orders, others) = ([0, 0], 0)
    func attend() {
      for (index, loop) in harness.loops.enumerated() {
        for message in loop.mailbox.takeAll(woken: false) {
          switch message {
          case .close: orders[index] += 1
          case .pass: break
          default: others += 1
          }
          loop.receive(message)
        }
      }
    }
    while !isDone.withLock({ isDone, _ in isDone }) {
      attend()
      sched_yield()
    }
    thread.join()
    attend()
    #expect(orders == [1, 1] && others == 0)
    #expect(players.count == 2)
    #expect(shared.sessions.value == 0)
  }

  /// Results of work elsewhere name what they are for; those for what is gone find nothing.
  @Test func lateResultsFindNothing() throws {
    let harness = try LoopHarness()
    let player = try playing(on: harness)
    let session = try #require(harness.loop.sessionDescriptions.first).reference
    let token = Token(rawValue: session.token)
    harness.loop.mailbox.post(.committed(token, .failed))
    harness.loop.mailbox.post(.committed(Token(.session, slot: 0, generation: 77), .committed))
    harness.loop.mailbox.post(.end(Token(.session, slot: 99, generation: 1), .keyRevoked, nil))
    harness.turn()
    player.client.write(Player.frame(1, "still here"))
    player.exchange()
    #expect(player.hear().hasSuffix("still here"))
  }

  /// For what a loop calls, on the test's own thread.
  private struct Speaker: @unchecked Sendable {
    let player: Player
  }

  /// However many messages and newcomers there are: a player's waits for one of them.
  @Test(arguments: [19, 20]) func whoPlaysWaitsForOneMessage(microseconds: Int) throws {
    let harness = try LoopHarness()
    let player = try playing(on: harness)
    player.client.write(Player.frame(1, "look"))
    let heard = Mutex("")
    let (speaker, clock) = (Speaker(player: player), harness.clock)
    harness.loop.mailbox.post(
      .listSessions { _ in
        speaker.player.send(speaker.player.client.takeOutput())
        clock.advance(.microseconds(microseconds))
      })
    harness.loop.mailbox.post(.listSessions { _ in heard.withLock { $0 = speaker.player.hear() } })
    harness.turn()
    #expect(heard.withLock { $0.hasSuffix("look") } == (microseconds >= 20))
  }

  /// Nor do all those messages wait for players who always have something more to say: a turn has a millisecond for them.
  @Test func messagesDoNotWaitForAllWhoPlay() throws {
    let harness = try LoopHarness()
    let player = try playing(on: harness)
    let (speaker, before) = (Speaker(player: player), harness.loop.counters.turns.reading.count)
    let said = UInt64("look".utf8.count)
    for _ in 0..<200 {
      harness.loop.mailbox.post(
        .listSessions { _ in
          speaker.player.client.write(Player.frame(1, "look"))
          speaker.player.send(speaker.player.client.takeOutput())
        })
    }
    harness.clock.slow(by: .microseconds(200))
    harness.turn()
    harness.clock.slow(by: .zero)
    let heard = (harness.loop.sessionDescriptions.first?.bytesFromPlayer ?? 0) / said
    #expect(heard > 2 && heard < 10)
    // What others have waited for is all of it.
    #expect(harness.loop.counters.turns.reading.count == before + 1)
    harness.turn()
    #expect(harness.loop.sessionDescriptions.first?.bytesFromPlayer == 200 * said)
  }

  @Test func aDrainTellsEveryone() throws {
    let harness = try LoopHarness()
    let players = try (0..<5).map { _ in try playing(on: harness) }
    let asking = try player(on: harness)
    harness.loop.mailbox.post(.drain(spread: .seconds(2)))
    harness.turn()
    #expect(asking.say(Self.health).hasPrefix("HTTP/1.1 503 "))
    for _ in 0..<5 { harness.pass(.milliseconds(500)) }
    for player in players { #expect(player.hear().contains("shutting down")) }
    // Nobody answers: after the closing handshake's time they are gone all the same.
    for _ in 0..<20 { harness.pass(.seconds(1)) }
    #expect(harness.shared.sessions.value == 0)
    #expect(harness.loop.connections.count == 0)
  }

  /// The operator's drain: nobody begins, nobody is told to go, and it can be taken back.
  @Test func aDrainThatIsTakenBack() throws {
    let harness = try LoopHarness()
    let playing = try playing(on: harness)
    harness.shared.isDraining.store(true, ordering: .relaxed)
    #expect(try player(on: harness).say(Self.health).hasPrefix("HTTP/1.1 503 "))
    let refused = try player(on: harness).say(Player.upgrade)
    #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.contains("Retry-After: 10"))
    harness.pass(.seconds(5))
    playing.client.write(Player.frame(1, "still here"))
    playing.exchange()
    #expect(playing.hear().hasSuffix("still here"))
    harness.shared.isDraining.store(false, ordering: .relaxed)
    #expect(try player(on: harness).say(Self.health).hasPrefix("HTTP/1.1 200 "))
    #expect(try player(on: harness).say(Player.upgrade).hasPrefix("HTTP/1.1 101 "))
  }

  @Test func theOldestOfTooManyGivesWay() throws {
    let harness = try LoopHarness([("MAX_PENDING", "4")])
    let players = try (0..<6).map { _ in try harness.arrive() }
    for player in players { player.exchange() }
    #expect(players.map(\.hasEnded) == [true, true, false, false, false, false])
    #expect(harness.shared.pending.value == 4)
  }
}

extension String {
  /// Characters as bytes, the way `hear` reads them.
  fileprivate var binary: String { String(decoding: unicodeScalars.map { UInt8($0.value) }, as: UTF8.self) }

  fileprivate func components(_ part: String) -> Int {
    var count = 0
    var rest = self[...]
    while let range = rest.firstRange(of: part) {
      count += 1
      rest = rest[range.upperBound...]
    }
    return count
  }
}
