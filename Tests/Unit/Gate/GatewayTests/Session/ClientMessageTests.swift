import System
import TLSPeers
import TelnetWire
import Testing

@testable import Conversation
@testable import Gateway
@testable import Scheduling

/// `client` messages, which `INPUT_RATE` lets pass: what a flood of them costs the loop and the game. Work is counted, in
/// descriptions that telnet was given and bytes that the game was sent.
@Suite struct ClientMessageTests {
  private let harness: LoopHarness
  private let app: TestApp
  private let caller: TestGame.Caller

  init() throws {
    harness = try LoopHarness([("PONG_TIMEOUT", "1h")], hasGame: true)
    app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    caller = try #require(harness.game?.callers.first)
    // WILL GMCP, DO NAWS, DO NEW-ENVIRON.
    caller.say([255, 251, 201, 255, 253, 31, 255, 253, 39])
    harness.turn()
    app.sendText(#"{"type":"client","name":"Lantern","columns":80,"rows":24}"#)
    harness.turn()
    // Until nothing of that is counted any more.
    for _ in 0..<70 { harness.pass(.seconds(1)) }
    caller.hear()
  }

  /// How many descriptions telnet was given.
  private var updates: UInt32 {
    var found: UInt32 = 0
    harness.loop.sessions.forEach { found = $0.game.conversation?.state.changes ?? 0 }
    return found
  }

  private var client: ClientDescription? {
    var found: ClientDescription?
    harness.loop.sessions.forEach { found = $0.game.conversation?.state.voice.telnet.client }
    return found
  }

  private func frame(_ text: String) -> [UInt8] {
    let payload = Array(text.utf8)
    let length: [UInt8] =
      payload.count < 126
      ? [0x80 | UInt8(payload.count)]
      : [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    return [0x81] + length + ([0, 0, 0, 0] as [UInt8]) + payload
  }

  private static func word(_ kind: String, _ number: Int) -> String {
    switch kind {
    case "names": #"{"type":"client","name":"\#(number % 10)"}"#
    case "sizes": #"{"type":"client","rows":\#(number % 60000)}"#
    case "features": #"{"type":"client","features":[\#(number % 2 == 0 ? "\"truecolor\"" : "")]}"#
    default: #"{"type":"client","gmcp":["\#(String(repeating: "x", count: 380))\#(number % 10)"]}"#
    }
  }

  /// As many as a turn reads of them: the game hears of one, or of what has become of all.
  @Test(arguments: ["names", "sizes", "features", "lists"])
  func allOfATurnAreOne(kind: String) throws {
    var flood: [UInt8] = []
    var number = 0
    while flood.count < 60_000 {
      flood += frame(Self.word(kind, number))
      number += 1
    }
    flood += frame(Self.word(kind, 4))
    let before = (updates: updates, heard: caller.heard.count)
    app.player?.client.write(flood)
    app.player?.sendOutput()
    // A turn handles some of them. However many turns it takes, the game is told ten times, and later of the last.
    for _ in 0..<60 { harness.turn() }
    harness.pass(.seconds(1))
    harness.turn()
    caller.hear()
    #expect(updates - before.updates <= 22)
    #expect(caller.heard.count - before.heard < 6000)
    #expect(caller.heard.count > before.heard)
    #expect(app.closeCode == nil && !app.hasEnded)
  }

  /// In turns of their own they are told as often as they may be, and the last one at the end.
  @Test func inTurnsOfTheirOwnTheyAreTold() throws {
    let before = (updates: updates, heard: caller.heard.count)
    for number in 1...500 {
      app.sendText(#"{"type":"client","columns":\#(number),"rows":50}"#)
      harness.turn()
    }
    caller.hear()
    #expect(updates - before.updates <= 20)
    #expect(caller.heard.count - before.heard <= 20 * 16)
    harness.pass(.seconds(1))
    harness.turn()
    caller.hear()
    // IAC SB NAWS 500, 50 IAC SE.
    #expect(caller.heard.suffix(9) == [255, 250, 31, 1, 244, 0, 50, 255, 240])
    #expect(client?.size == TerminalSize(columns: 500, rows: 50))
  }

  /// What it says comes in front of what is typed behind it, however often it has said something.
  @Test func whatIsTypedBehindThemComesBehind() throws {
    for number in 1...100 {
      app.sendText(#"{"type":"client","columns":\#(number),"rows":50}"#)
    }
    app.type("look\n")
    app.sendText(#"{"type":"client","columns":7,"rows":7}"#)
    for _ in 0..<3 { harness.turn() }
    caller.hear()
    let size = [255, 250, 31, 0, 100, 0, 50, 255, 240] as [UInt8]
    let typed = try #require(caller.heard.firstRange(of: Array("look\r\n".utf8)))
    #expect(caller.heard[..<typed.lowerBound].suffix(9) == size[...])
  }

  /// The connection goes with the last of them: the game hears of it.
  @Test func theLastOneIsToldWhoeverGoes() throws {
    for number in 1...100 {
      app.sendText(#"{"type":"client","columns":\#(number),"rows":50}"#)
      harness.turn()
    }
    app.vanish()
    harness.settle()
    caller.hear()
    #expect(client?.size == TerminalSize(columns: 100, rows: 50))
  }

  /// What is too much with what it said before is refused, also where that was not told yet.
  @Test func whatIsKeptOfAllIsBounded() throws {
    let most = String(repeating: "x", count: 390)
    let text = String(repeating: "t", count: 40)
    for number in 1...40 { app.sendText(#"{"type":"client","columns":\#(number)}"#) }
    app.sendText(#"{"type":"client","gmcp":["\#(most)"]}"#)
    app.sendText(#"{"type":"client","name":"\#(text)","version":"\#(text)","terminal":"\#(text)"}"#)
    harness.settle()
    #expect(client?.gmcp == [Array(most.utf8)])
    #expect(client?.name?.bytes == Array("Lantern".utf8))
    #expect(client?.size?.columns == 40)
    #expect(harness.events.contains("message_left_out"))
  }
}
