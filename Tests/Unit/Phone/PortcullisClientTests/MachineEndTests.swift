/// How a session ends for its machine, and what is no end.
import Testing

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
    #expect(played.machine.end == .byGate(reason: "game_closed"))
  }

  @Test func anEndWithoutItsClose() {
    var played = Played.attached()
    played.receive(#"{"type":"ended","reason":"expired"}"#)
    played.machine.tick(now: 5)
    #expect(played.machine.end == .byGate(reason: "expired") && played.actions().contains("abandon"))
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
        played.machine.failed(now: 4)
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

  @Test func aSilentGateIsAskedAndThenLeft() throws {
    var played = Played.attached()
    #expect(played.machine.nextTime == 60)
    played.machine.tick(now: 60)
    #expect(played.actions() == ["ping"])
    played.machine.heard(now: 61)
    #expect(played.machine.nextTime == 121)
    try played.machine.send([0x61], now: 70)
    #expect(played.machine.nextTime == 80)
    played.machine.tick(now: 80)
    played.machine.tick(now: 99)
    #expect(played.actions() == ["binary a", "ping"])
    played.machine.tick(now: 100)
    #expect(played.actions().first == "abandon" && !played.machine.isAttached)
  }
}
