/// What the machine of a session counts, acknowledges, keeps and drops.
import Testing

import PortcullisTesting

@testable import PortcullisClient

@Suite struct MachineMessageTests {
  // MARK: Acknowledging

  @Test func acksAfterThirtyTwoMessages() {
    var played = Played.attached()
    for number in 1...31 { played.receive(binary: [0x61], now: Double(number) / 100) }
    #expect(!played.actions().contains { $0.contains("ack") })
    played.receive(binary: [0x61], now: 0.4)
    #expect(played.actions().last == #"{"type":"ack","received":32}"#)
    #expect((played.machine.nextTime ?? 0) > 50)
  }

  @Test func acksAfterSixteenKibibytes() {
    var played = Played.attached()
    played.receive(binary: [UInt8](repeating: 0x61, count: 16_383), now: 0)
    _ = played.actions()
    played.receive(#"{"type":"prompt"}"#)
    #expect(played.actions() == ["prompt", #"{"type":"ack","received":2}"#])
  }

  @Test func acksWithinFiveSeconds() throws {
    var played = Played.attached()
    played.receive(binary: [0x61], now: 1)
    played.receive(binary: [0x61], now: 3)
    let next = try #require(played.machine.nextTime)
    #expect(next > 3 && next <= 6)
    _ = played.actions()
    played.machine.tick(now: next)
    #expect(played.actions() == [#"{"type":"ack","received":2}"#])
  }

  @Test func whatDoesNotCount() {
    var played = Played.attached()
    for text in [
      Played.greeting(), #"{"type":"ack","received":0}"#, #"{"type":"ack"}"#,
      #"{"type":"closing","code":4002,"reason":"x"}"#, #"{"type":"later","again":true}"#,
      #"{"type":"gmcp","package":"A","data":1,"again":true}"#,
    ] {
      played.receive(text)
    }
    #expect(played.machine.arrivals.received == 0)
    for text in [#"{"type":"later"}"#, "[]", #"{"type":"prompt"}"#, #"{"type":"gmcp"}"#, "{", ""] {
      played.receive(text)
    }
    #expect(played.machine.arrivals.received == 6)
  }

  @Test func eventsAreTold() {
    var played = Played.attached()
    for text in [
      #"{"type":"echo","on":true}"#, #"{"type":"gmcp","package":"Char.Vitals","data":{"hp":[1,2]}}"#,
      #"{"type":"gmcp","package":"A"}"#, #"{"type":"gmcp","package":"A","data":"x\u00e9\n"}"#,
      #"{"type":"msdp","data":{"A":"1"},"again":true}"#, #"{"type":"mssp","data":{}}"#,
    ] {
      played.receive(text)
    }
    #expect(
      played.machine.takeActions() == [
        .tell(.echo(true)),
        .tell(.gmcp(package: "Char.Vitals", data: #"{"hp":[1,2]}"#, isAgain: false)),
        .tell(.gmcp(package: "A", data: nil, isAgain: false)),
        .tell(.gmcp(package: "A", data: #""x\u00e9\n""#, isAgain: false)),
        .tell(.msdp(#"{"A":"1"}"#, isAgain: true)),
        .tell(.mssp("{}", isAgain: false)),
      ])
  }

  // MARK: Input

  @Test func inputIsKeptUntilItIsAcknowledged() throws {
    var played = Played.attached()
    for line in ["a", "b", "c"] { try played.machine.send(Array(line.utf8), now: 0) }
    #expect(played.actions() == ["binary a", "binary b", "binary c"])
    played.receive(#"{"type":"ack","received":1}"#)
    // Neither back nor beyond what was sent.
    played.receive(#"{"type":"ack","received":0}"#)
    played.receive(#"{"type":"ack","received":4}"#)
    #expect(played.machine.input.handled == 1)
    played.reconnect()
    played.receive(Played.greeting(resumed: true, received: 2))
    #expect(
      played.actions() == [
        "attached(isResumed: true)", "echo(false)", #"{"type":"ack","received":0}"#,
        "binary c",
      ])
  }

  @Test(arguments: [0, 4]) func aGateThatCountedSomethingElse(received: Int) throws {
    var played = Played.attached()
    for _ in 0..<3 { try played.machine.send([0x61], now: 0) }
    played.receive(#"{"type":"ack","received":1}"#)
    played.reconnect()
    played.receive(Played.greeting(resumed: true, received: received))
    played.machine.closed(code: 1002, now: 0)
    #expect(played.machine.end == .failed(GameFailure(.protocolViolation, detail: "more received than sent")))
  }

  @Test func inputIsBounded() throws {
    var played = Played.attached()
    #expect(throws: GameInputError.tooLong) {
      try played.machine.send([UInt8](repeating: 0x61, count: 65_537), now: 0)
    }
    for _ in 0..<128 { try played.machine.send([0x61], now: 0) }
    #expect(!played.machine.hasRoom)
    #expect(throws: GameInputError.full) { try played.machine.send([0x61], now: 0) }
    played.receive(#"{"type":"ack","received":128}"#)
    try played.machine.send([UInt8](repeating: 0x61, count: 65_536), now: 0)
    #expect(!played.machine.hasRoom)
    var waiting = Played()
    waiting.machine.begin(now: 0)
    for _ in 0..<64 { try waiting.machine.send([0x61], now: 0) }
    #expect(throws: GameInputError.full) { try waiting.machine.send([0x61], now: 0) }
  }

  /// What was on its way when the connection broke takes nothing of the room for what waits for the next one.
  @Test func sixtyFourLinesWaitBehindThoseThatWereUnderWay() throws {
    var played = Played.attached()
    for _ in 0..<20 { try played.machine.send([0x61], now: 0) }
    played.receive(#"{"type":"ack","received":5}"#)
    played.machine.closed(code: 1006, now: 0)
    for _ in 0..<64 {
      #expect(played.machine.hasRoom)
      try played.machine.send([0x62], now: 0)
    }
    #expect(!played.machine.hasRoom)
    #expect(throws: GameInputError.full) { try played.machine.send([0x62], now: 0) }
    played.reconnect()
    played.receive(Played.greeting(resumed: true, received: 12))
    let sent = played.actions().filter { $0.hasPrefix("binary") }
    #expect(sent == [String](repeating: "binary a", count: 8) + [String](repeating: "binary b", count: 64))
    #expect(played.machine.hasRoom)
  }

  @Test func inputThatWaitsTooLongIsDropped() throws {
    var played = Played.attached()
    played.machine.closed(code: 1006, now: 0)
    played.machine.networkChanged(now: 0)
    try played.machine.send([0x61], now: 1)
    try played.machine.send([0x62], now: 5)
    _ = played.actions()
    #expect(played.machine.nextTime == 11)
    played.machine.tick(now: 11)
    #expect(played.actions() == ["inputDropped(1)"])
    played.machine.opened(subprotocol: "portcullis.v1", now: 12)
    played.receive(Played.greeting(resumed: true), now: 12)
    #expect(played.actions().last == "binary b")
  }
}
