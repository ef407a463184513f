/// A session while the app is in the background, after it was started anew, and what it remembers for that.
import PortcullisProtocol
import Testing

import PortcullisTesting

@testable import PortcullisClient

@Suite struct MachineBackgroundTests {
  private static func isAsleep(_ played: Played) -> Bool {
    played.machine.phase == .waiting(until: .infinity) && played.machine.nextTime == nil
  }

  // MARK: A storage that is locked

  /// Before the first unlock after a start of the phone: an attempt would begin another session, by another key.
  @Test func noAttemptBeforeItIsKnownWhatThereIs() {
    var played = Played()
    played.machine.cannotRecall(now: 1)
    #expect(played.allActions() == ["waiting(until: 6.0) storage"])
    #expect(played.machine.nextTime == 6 && played.machine.hasRoom)
    played.machine.networkChanged(now: 2)
    played.machine.tick(now: 5)
    #expect(played.allActions() == [])
    played.machine.tick(now: 6)
    #expect(played.allActions() == ["recall"] && played.machine.nextTime == nil)
    // Not yet.
    played.machine.cannotRecall(now: 7)
    #expect(played.allActions() == [] && played.machine.nextTime == 12)
    // Whoever brings the app to the foreground has unlocked the phone.
    played.machine.enterForeground(now: 8)
    #expect(played.allActions() == ["recall"])
    played.machine.adopt(RememberedSession(id: Played.id, received: 3, handled: 2))
    played.machine.begin(now: 9)
    #expect(played.allActions() == ["connecting", "connect Portcullis-Resume Portcullis-Client"])
    // The answer to the other question, too late.
    played.machine.cannotRecall(now: 9)
    played.machine.begin(now: 9)
    #expect(played.allActions() == [])
  }

  @Test func lockedInTheBackground() {
    var played = Played()
    played.machine.enterBackground(now: 0)
    played.machine.cannotRecall(now: 0)
    #expect(played.allActions() == ["waiting(until: inf) storage"] && played.machine.nextTime == nil)
    played.machine.enterForeground(now: 1)
    #expect(played.allActions() == ["recall"])
    played.machine.cannotRecall(now: 1)
    played.machine.enterBackground(now: 2)
    #expect(played.machine.nextTime == nil)
  }

  @Test func endedWhileLocked() {
    var played = Played()
    played.machine.cannotRecall(now: 0)
    played.machine.leave(now: 1)
    #expect(played.machine.end == .left)
    played.machine.begin(now: 2)
    #expect(!played.actions().contains("connecting"))
  }

  // MARK: Background

  @Test func theConnectionEndsAndTheSessionWaits() {
    var played = Played.attached()
    played.receive(binary: [0x61])
    _ = played.actions()
    played.machine.enterBackground(now: 1)
    #expect(
      played.allActions() == [
        "remember \(Played.id) 1 0", #"{"type":"ack","received":1}"#, "close 1001",
      ])
    // What the gate still says is counted, and acknowledged with the next connection.
    played.receive(binary: [0x62], now: 1)
    #expect(played.actions() == [#"text("b")"#])
    // The gate's own Close answers ours, whatever its code.
    played.machine.closed(code: 1000, now: 1)
    #expect(Self.isAsleep(played) && played.actions() == ["waiting(until: inf) unreachable"])
    played.machine.tick(now: 5000)
    played.machine.networkChanged(now: 5000)
    #expect(Self.isAsleep(played))
    played.machine.enterForeground(now: 5001)
    #expect(played.actions() == ["connecting", "connect Portcullis-Resume Portcullis-Client"])
    played.machine.opened(subprotocol: "portcullis.v1", now: 5001)
    played.receive(Played.greeting(resumed: true), now: 5001)
    #expect(played.actions().contains(#"{"type":"ack","received":2}"#))
  }

  @Test func aGateThatDoesNotAnswerTheClose() {
    var played = Played.attached()
    played.machine.enterBackground(now: 0)
    #expect(played.machine.nextTime == 5)
    played.machine.tick(now: 5)
    #expect(Self.isAsleep(played) && played.actions().contains("abandon"))
  }

  @Test func backBeforeTheConnectionHasEnded() {
    var played = Played.attached()
    played.machine.enterBackground(now: 0)
    played.machine.enterForeground(now: 0)
    _ = played.actions()
    played.machine.closed(code: 1001, now: 0)
    #expect(played.actions() == ["connecting", "connect Portcullis-Resume Portcullis-Client"])
  }

  /// An attempt that is under way gets as far as the greeting, so that the session is known.
  @Test func duringAnAttempt() {
    var played = Played()
    played.machine.begin(now: 0)
    played.machine.enterBackground(now: 0)
    played.machine.opened(subprotocol: "portcullis.v1", now: 0)
    _ = played.actions()
    played.receive(Played.greeting())
    #expect(played.actions().last == "close 1001")
    played.machine.closed(code: 1001, now: 0)
    #expect(Self.isAsleep(played))
    for refused in [true, false] {
      played.machine.enterForeground(now: 0)
      played.machine.enterBackground(now: 0)
      if refused {
        played.machine.refused(GateRefusal(status: 503, code: "overloaded", retryAfter: 1), now: 0)
      } else {
        played.machine.failed(Played.lost, now: 0)
      }
      #expect(Self.isAsleep(played))
    }
  }

  @Test func whileWaiting() {
    var played = Played.attached()
    played.machine.closed(code: 1006, now: 0)
    played.machine.enterBackground(now: 0)
    #expect(Self.isAsleep(played))
  }

  @Test func endsFromTheBackground() {
    for ends in [true, false] {
      var played = Played.attached()
      played.machine.enterBackground(now: 0)
      if ends { played.machine.finish(whenSent: false, now: 0) } else { played.machine.leave(now: 0) }
      #expect(played.machine.end == (ends ? .byApp : .left))
      #expect(played.actions().contains("abandon"))
    }
    var played = Played.attached()
    played.machine.enterBackground(now: 0)
    played.receive(#"{"type":"ended","reason":"game_closed"}"#)
    played.machine.closed(code: 1000, now: 0)
    #expect(played.machine.end == .byGate(.known(.gameClosed)))
    played = Played.attached()
    played.machine.enterBackground(now: 0)
    played.receive(#"{"type":"closing","code":4001,"reason":"taken_over"}"#)
    played.machine.closed(code: 4001, now: 0)
    #expect(played.machine.end == .takenOver)
  }

  // MARK: When the gate says when

  @Test func aPauseThatTheGateNamedIsNotCutShort() {
    var played = Played.attached()
    played.machine.closed(code: 1006, now: 0)
    played.machine.networkChanged(now: 0)
    played.machine.refused(GateRefusal(status: 429, code: "rate_limited", retryAfter: 30), now: 0)
    _ = played.actions()
    for change in 0..<2 {
      if change == 0 { played.machine.networkChanged(now: 5) } else { played.machine.enterForeground(now: 6) }
      #expect(played.machine.nextTime == 30 && !played.actions().contains("connecting"))
    }
    played.machine.networkChanged(now: 30)
    #expect(played.actions().contains("connecting"))
    // One that it did not name is.
    played.machine.failed(Played.lost, now: 31)
    _ = played.actions()
    played.machine.networkChanged(now: 31)
    #expect(played.actions().contains("connecting"))
  }

  /// An attempt over a network that is gone is not waited for longer than it lasts.
  @Test func anotherNetworkDuringAnAttempt() {
    var played = Played.attached()
    played.machine.closed(code: 1006, now: 0)
    played.machine.networkChanged(now: 0)
    played.machine.networkChanged(now: 1)
    _ = played.actions()
    played.machine.failed(Played.lost, now: 2)
    #expect(played.actions() == ["connecting", "connect Portcullis-Resume Portcullis-Client"])
    // Once.
    played.machine.failed(Played.lost, now: 3)
    #expect(played.actions().contains { $0.hasPrefix("waiting") })
  }

  /// Nobody parks an app for ever.
  @Test(arguments: [Double.infinity, .nan, 1e300, -5]) func aPauseThatMakesNoSense(pause: Double) throws {
    var played = Played()
    played.machine.begin(now: 0)
    played.machine.refused(GateRefusal(status: 503, code: nil, retryAfter: pause), now: 0)
    let next = try #require(played.machine.nextTime)
    #expect((0...3_602).contains(next))
  }

  // MARK: Keys

  /// The key's pause is kept, and another network asks the key anew, which knows how soon that may be.
  @Test func aKeyThatIsNotToBeAskedYet() {
    var played = Played()
    played.machine.begin(now: 0)
    _ = played.actions()
    let apple = GameFailure(.attestation, deviceCheck: 4)
    played.machine.waits(until: 70, apple, now: 5)
    #expect(played.actions() == ["waiting(until: 70.0) attestation"])
    played.machine.networkChanged(now: 10)
    let requests = played.machine.takeActions().compactMap { action in
      if case .connect(let request) = action { request } else { nil }
    }
    #expect(requests.map(\.isHurried) == [true])
    played.machine.waits(until: 65, apple, now: 10)
    #expect(played.machine.nextTime == 65)
    played.machine.tick(now: 65)
    #expect(played.actions().last == "connect Portcullis-Client")
    played.machine.giveUp(apple)
    #expect(played.machine.end == .failed(apple))
  }

  /// Nothing but another network, the foreground or the player ends it.
  @Test func aKeyOfTheGatesThatIsNotPinned() {
    var played = Played()
    played.machine.begin(now: 0)
    played.machine.failed(GameFailure(.pinMismatch), now: 0)
    #expect(played.machine.nextTime == nil && played.machine.end == nil)
    _ = played.actions()
    played.machine.retry(now: 1)
    #expect(played.actions().last == "connect Portcullis-Client")
  }

  @Test func eachKindHasItsPause() {
    let pauses: [(GameFailure.Kind, ClosedRange<Double>)] = [
      (.offline, 30...30), (.unreachable, 0...1), (.timeout, 0...1), (.untrusted, 24...30),
      (.interference, 4...5),
    ]
    for (kind, range) in pauses {
      var retries = Retries(seed: 3)
      #expect(range.contains(retries.pause(after: kind)), "\(kind)")
      for _ in 0..<20 { _ = retries.pause(after: kind) }
      let longest: Double = kind == .untrusted ? 600 : kind == .interference ? 60 : 30
      #expect(retries.pause(after: kind) <= longest, "\(kind)")
    }
  }

  // MARK: Another start of the app

  private static func relaunched(_ remembered: RememberedSession) -> Played {
    var played = Played()
    played.machine.adopt(remembered)
    played.machine.begin(now: 0)
    return played
  }

  @Test func anotherStartAsksForTheState() throws {
    var played = Self.relaunched(RememberedSession(id: Played.id, received: 7, handled: 3))
    for _ in 0..<2 {
      let request = played.machine.takeActions().compactMap { action in
        if case .connect(let request) = action { request } else { nil }
      }
      #expect(request.map { $0["Portcullis-Resume"] } == ["\(Played.id);received=7;state"])
      played.machine.failed(Played.lost, now: 0)
      played.machine.networkChanged(now: 0)
    }
    played.machine.opened(subprotocol: "portcullis.v1", now: 0)
    try played.machine.send([0x61], now: 0)
    _ = played.actions()
    // The gate has taken what the earlier start sent, and nobody sends it again.
    played.receive(Played.greeting("BBBBBBBBBBBBBBBBBBBBBB", resumed: true, received: 5))
    #expect(
      played.allActions() == [
        "attached(isResumed: true)", "echo(false)", "remember BBBBBBBBBBBBBBBBBBBBBB 7 5",
        #"{"type":"ack","received":7}"#, "binary a",
      ])
    played.receive(#"{"type":"ack","received":6}"#)
    #expect(played.machine.input.isEmpty && played.machine.input.handled == 6)
    played.machine.closed(code: 1006, now: 0)
    played.machine.networkChanged(now: 0)
    let next = played.machine.takeActions().compactMap { action in
      if case .connect(let request) = action { request["Portcullis-Resume"] } else { nil }
    }
    #expect(next == ["BBBBBBBBBBBBBBBBBBBBBB;received=7"])
  }

  @Test func anotherStartMayFindNothing() throws {
    var played = Self.relaunched(RememberedSession(id: Played.id, received: 7, handled: 3))
    try played.machine.send([0x61], now: 0)
    played.machine.opened(subprotocol: "portcullis.v1", now: 0)
    _ = played.actions()
    played.receive(Played.greeting("BBBBBBBBBBBBBBBBBBBBBB", more: #","reason":"unknown""#))
    #expect(
      played.allActions() == [
        "inputDropped(1)", "attached(isResumed: false)", "echo(false)", "remember BBBBBBBBBBBBBBBBBBBBBB 0 0",
      ])
  }

  @Test func aGateThatHasForgottenHandledInput() {
    var played = Self.relaunched(RememberedSession(id: Played.id, received: 7, handled: 3))
    played.machine.opened(subprotocol: "portcullis.v1", now: 0)
    played.receive(Played.greeting(resumed: true, received: 2))
    played.machine.closed(code: 1002, now: 0)
    #expect(played.machine.end == .failed(GameFailure(.protocolViolation, detail: "more received than sent")))
  }

  @Test(arguments: ["", "short", "AAAAAAAAAAAAAAAAAAAAA\n", "AAAAAAAAAAAAAAAAAAAAAA;"])
  func whatIsNoIdentifierIsNotSent(id: String) {
    var played = Self.relaunched(RememberedSession(id: id, received: 0, handled: 0))
    #expect(played.actions().last == "connect Portcullis-Client")
  }

  /// Only what is remembered already is acknowledged: the gate forgets it.
  @Test func whatIsHandledIsRememberedBeforeItIsAcknowledged() {
    var played = Played.attached()
    for _ in 0..<32 { played.machine.receive(binary: [0x61], now: 0) }
    #expect(!played.allActions().contains { $0.contains("ack") || $0.contains("remember") })
    let mark = played.machine.mark
    played.machine.receive(binary: [0x61], now: 0)
    played.machine.handled(mark, now: 0)
    #expect(
      played.allActions().suffix(2) == ["remember \(Played.id) 32 0", #"{"type":"ack","received":32}"#])
    // Marks of a session that is gone count for nothing.
    played.reconnect()
    played.receive(Played.greeting("BBBBBBBBBBBBBBBBBBBBBB", more: #","reason":"unknown""#))
    played.machine.handled(mark, now: 0)
    #expect(played.machine.arrivals.handled == 0)
  }

  @Test func whatIsOverIsForgotten() {
    for code: UInt16 in [1000, 1008, 4001] {
      var played = Played.attached()
      played.machine.closed(code: code, now: 0)
      #expect(played.allActions().first == "forget")
    }
    var played = Played.attached()
    _ = played.allActions()
    played.machine.leave(now: 0)
    played.machine.closed(code: 4000, now: 0)
    #expect(!played.allActions().contains("forget"))
  }

  // MARK: Data that the gate would not take

  @Test func malformedDataIsNotSent() throws {
    var played = Played.attached()
    for data in ["", "{", "1,2", #"1,"type":"leave""#, "nan", String(repeating: "[", count: 20)] {
      #expect(throws: GameInputError.malformed) { try played.machine.send(gmcp: "A", data: data, now: 0) }
    }
    for name in ["", "1A", "A b", "Ä", #"A""#, String(repeating: "A", count: 65)] {
      #expect(throws: GameInputError.malformed) { try played.machine.send(gmcp: name, data: nil, now: 0) }
    }
    for data in ["", "[]", "1"] {
      #expect(throws: GameInputError.malformed) { try played.machine.send(msdp: data, now: 0) }
    }
    #expect(played.actions().isEmpty)
    try played.machine.send(gmcp: "Char.Skills-2_x", data: #" {"a":[1,"}"]} "#, now: 0)
    try played.machine.send(msdp: #"{"REPORT":["HEALTH"]}"#, now: 0)
    #expect(played.actions().count == 2)
  }
}
