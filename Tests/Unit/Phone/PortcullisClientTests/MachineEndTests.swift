/// How a session ends for its machine, and what is no end.
import PortcullisProtocol
import Testing

import PortcullisTesting

@testable import PortcullisClient

@Suite struct MachineEndTests {
  // MARK: Ends

  @Test(arguments: [1001, 1005, 1006, 1009, 1011, 1012, 4000, 4002]) func closesThatDetach(code: UInt16) {
    var played = Played.attached()
    played.machine.closed(code: code, now: 0)
    #expect(played.machine.end == nil && !played.machine.isAttached)
  }

  @Test func closesThatEnd() {
    for (code, end) in [
      (1000, GameEnd.closed(code: 1000)), (1008, .closed(code: 1008)), (4001, .takenOver),
    ] as [(UInt16, GameEnd)] {
      var played = Played.attached()
      played.machine.closed(code: code, now: 0)
      #expect(played.machine.end == end)
    }
  }

  @Test func whatTheGateSaidBeforeItsCloseCounts() {
    var played = Played.attached()
    played.receive(#"{"type":"closing","code":4001,"reason":"taken_over"}"#)
    played.machine.closed(code: 1006, now: 0)
    #expect(played.machine.end == .takenOver)
  }

  @Test(arguments: [1000, 1006]) func anEndedSessionIsAcknowledged(code: UInt16) {
    var played = Played.attached()
    played.receive(#"{"type":"ended","reason":"game_closed"}"#)
    #expect(played.actions() == [#"{"type":"ack","received":1}"#])
    played.machine.closed(code: code, now: 0)
    #expect(played.machine.end == .byGate(.known(.gameClosed)))
  }

  @Test func anEndWithoutItsClose() {
    var played = Played.attached()
    played.receive(#"{"type":"ended","reason":"expired"}"#)
    played.machine.tick(now: 5)
    #expect(played.machine.end == .byGate(.known(.expired)) && played.actions().contains("abandon"))
  }

  @Test func theAppEndsItsSession() throws {
    var played = Played.attached()
    played.machine.finish(whenSent: false, now: 0)
    #expect(played.actions() == ["close 1000"])
    #expect(!played.machine.hasRoom)
    #expect(throws: GameInputError.ended) { try played.machine.send([0x61], now: 0) }
    // What comes before the answer is still shown, and no longer acknowledged.
    for _ in 0..<40 { played.receive(binary: [0x61], now: 0) }
    #expect(played.actions().allSatisfy { $0.hasPrefix("text") })
    played.machine.closed(code: 1000, now: 0)
    #expect(played.machine.end == .byApp)
  }

  /// An attempt that is under way may get a session: it is ended as soon as that can be said.
  @Test func theAppEndsAnAttempt() {
    for opens in [true, false] {
      var played = Played()
      played.machine.begin(now: 0)
      _ = played.actions()
      played.machine.finish(whenSent: false, now: 0)
      #expect(played.machine.end == nil && played.machine.nextTime == 5)
      if opens {
        played.machine.opened(subprotocol: "portcullis.v1", now: 4)
        #expect(played.actions() == ["close 1000"] && played.machine.nextTime == 9)
        played.machine.closed(code: 1000, now: 4)
      } else {
        played.machine.failed(Played.lost, now: 4)
      }
      #expect(played.machine.end == .byApp)
    }
  }

  /// Before the gate's greeting as well, so that no session is left behind.
  @Test func theAppEndsItsSessionBeforeItHasBegun() {
    var played = Played()
    played.machine.begin(now: 0)
    played.machine.opened(subprotocol: "portcullis.v1", now: 0)
    _ = played.actions()
    played.machine.finish(whenSent: false, now: 0)
    played.receive(Played.greeting())
    #expect(played.actions() == ["close 1000"] && played.machine.end == nil)
    played.machine.closed(code: 1000, now: 0)
    #expect(played.machine.end == .byApp)
  }

  /// The end of a script waits for its lines, over another connection if need be.
  @Test func theAppEndsItsSessionWhenAllIsSent() throws {
    var played = Played.attached(inputPatience: nil)
    played.machine.closed(code: 1006, now: 0)
    try played.machine.send([0x61], now: 0)
    played.machine.finish(whenSent: true, now: 0)
    #expect(played.machine.end == nil && !played.machine.hasRoom)
    played.machine.networkChanged(now: 0)
    for _ in 0..<2 {
      played.machine.opened(subprotocol: "portcullis.v1", now: 0)
      _ = played.actions()
      played.receive(Played.greeting(resumed: true))
      #expect(played.actions().suffix(2) == ["binary a", "close 1000"])
      played.machine.closed(code: 1006, now: 0)
      played.machine.networkChanged(now: 0)
    }
    played.machine.opened(subprotocol: "portcullis.v1", now: 0)
    played.receive(Played.greeting(resumed: true, received: 1))
    #expect(played.actions().last == "close 1000")
    played.machine.closed(code: 1000, now: 0)
    #expect(played.machine.end == .byApp)
  }

  @Test func theAppLeaves() {
    var played = Played.attached()
    played.machine.leave(now: 0)
    #expect(played.actions() == [#"{"type":"leave"}"#])
    played.receive(#"{"type":"closing","code":4000,"reason":"left"}"#)
    played.machine.closed(code: 4000, now: 0)
    #expect(played.machine.end == .left)
  }

  // MARK: Silence

  /// A quiet game: a question after a minute, the app is told after 3 s more, and after 15 s it is over.
  @Test func aSilentGateIsAskedAndThenLeft() {
    var played = Played.attached()
    #expect(played.machine.nextTime == 60)
    played.machine.tick(now: 60)
    #expect(played.actions() == ["ping"] && played.machine.isAnswering)
    played.machine.ponged(now: 60.2)
    #expect((0.19...0.21).contains(played.machine.roundTrip ?? 0))
    #expect(played.machine.nextTime == 120.2)
    played.machine.tick(now: 120.2)
    played.machine.tick(now: 123.2)
    #expect(played.actions() == ["ping", "answering(false)"] && !played.machine.isAnswering)
    played.machine.tick(now: 135.1)
    #expect(played.machine.isAttached)
    played.machine.tick(now: 135.2)
    #expect(played.actions().first == "abandon" && played.machine.why.kind == .timeout)
  }

  /// A hole while somebody types shows after 5 s and is over after 17 s; what is heard in between says that it is over.
  @Test func whatIsTypedIsAskedAfter() throws {
    var played = Played.attached()
    try played.machine.send([0x61], now: 10)
    try played.machine.send([0x61], now: 11)
    #expect(played.machine.nextTime == 12)
    played.machine.tick(now: 12)
    played.machine.tick(now: 15)
    #expect(played.actions() == ["binary a", "binary a", "ping", "answering(false)"])
    played.receive(binary: [0x62], now: 16)
    #expect(played.actions().first == "answering(true)" && played.machine.isAnswering)
    // Asked again, but not within 5 s of the last question.
    try played.machine.send([0x61], now: 16)
    #expect(played.machine.nextTime == 18)
    played.machine.tick(now: 18)
    played.machine.ponged(now: 18.1)
    try played.machine.send([0x61], now: 18.2)
    _ = played.actions()
    played.machine.tick(now: 22.9)
    #expect(!played.actions().contains("ping"))
    played.machine.tick(now: 23)
    #expect(played.actions().contains("ping"))
    played.machine.tick(now: 26)
    played.machine.tick(now: 38)
    #expect(!played.machine.isAttached && played.machine.why.kind == .timeout)
  }

  /// A line every three seconds to a game that says nothing, and a gate that answers at once: no alarm, few questions.
  @Test func quietPlayRaisesNoAlarm() throws {
    var played = Played.attached()
    var questions = 0
    var told: [String] = []
    var sent = 0
    for step in 0..<6_000 {
      let now = Double(step) * 0.1
      if step % 30 == 0 {
        try played.machine.send([0x61], now: now)
        sent += 1
      }
      played.machine.tick(now: now)
      for action in played.actions() {
        if action == "ping" { questions += 1 }
        if action.hasPrefix("answering") { told.append(action) }
      }
      if played.machine.pingedAt == now { played.machine.ponged(now: now) }
      // An acknowledgement is owed for five seconds, rightly.
      if step % 50 == 0 { played.receive(#"{"type":"ack","received":\#(sent)}"#, now: now) }
    }
    #expect(told == [] && questions <= 121)
  }
}
