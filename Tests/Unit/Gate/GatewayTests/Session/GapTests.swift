import Bytes
import System
import SessionWire
import TelnetWire
import Testing
import WebSocketWire

@testable import Conversation
@testable import Gateway
@testable import Scheduling
@testable import Telemetry
@testable import Upstream

/// What an app is told that comes back to a session of which messages are missing in many places.
@Suite struct GapTests {
  private let harness: LoopHarness
  private let app: TestApp
  private static let holes = 3000

  init() throws {
    harness = try LoopHarness([("PONG_TIMEOUT", "1h")], hasGame: true)
    app = TestApp(harness)
    try app.connect()
    app.vanish()
    harness.settle()
    harness.loop.sessions.forEach { session in
      guard let conversation = session.game.conversation else { return }
      // The state has as much as it may have.
      for number in 0..<32 {
        let data = Array("\"\(String(repeating: "s", count: 400))\"".utf8)
        conversation.state.ledger.outgoing.note(.gmcp(package: Array("Char.\(number)".utf8), data: data))
      }
      Self.sayTooMuch(Self.holes, to: conversation)
    }
  }

  /// Each word behind a message that is too large to be kept.
  private static func sayTooMuch(_ times: Int, to conversation: SessionConversation) {
    let large = [UInt8](repeating: 0x7A, count: 65_536)
    for _ in 0..<times {
      conversation.state.ledger.outgoing.append(.binary, large.span)
      conversation.state.ledger.outgoing.append(.binary, [0x78].span)
    }
  }

  /// Bytes that wait for the player in the gate.
  private var waiting: Int {
    var bytes = 0
    harness.loop.connections.forEach { bytes += $0.client.unsent.count }
    return bytes
  }

  private func count(_ type: String) -> Int { app.eventTypes().filter { $0 == type }.count }

  /// The state is said once, however many gaps there are, and no turn has more than its part.
  @Test func theStateIsSaidBehindTheLastGap() throws {
    try app.connect()
    let messages = harness.loop.counters.messagesToPlayers
    var most = (waiting: 0, messages: 0)
    for _ in 0..<200 {
      let before = messages.value
      harness.turn()
      most = (max(most.waiting, waiting), max(most.messages, messages.value - before))
      app.hear()
    }
    #expect(app.wasResumed)
    #expect(app.text.count == Self.holes)
    #expect(count("gap") == Self.holes)
    #expect(count("echo") == 1)
    #expect(count("gmcp") == 32)
    // It says how things are now: behind all that is missing, and in front of what comes then.
    let last = try #require(app.events.lastIndex { TestApp.member("type", of: $0) == "gap" })
    #expect(app.events[(last + 1)...].allSatisfy { TestApp.member("again", of: $0) == "true" })
    // So much is told in a turn, and the state with it.
    #expect(most.waiting < (64 + 32) << 10)
    #expect(most.messages < 3200)
  }

  /// Gaps that came since it was said.
  @Test func aLaterConnectionIsToldAnew() throws {
    for round in 1...3 {
      try app.connect()
      for _ in 0..<200 {
        harness.turn()
        app.hear()
      }
      #expect(count("echo") == 1)
      app.acknowledge()
      harness.turn()
      app.vanish()
      harness.settle()
      harness.loop.sessions.forEach { session in
        if let conversation = session.game.conversation { Self.sayTooMuch(round, to: conversation) }
      }
    }
  }

  /// Asked for, it is said at once where nothing is missing, and else once, behind the last gap.
  @Test func whoAsksForTheStateIsToldItOnce() throws {
    try app.connect(state: true)
    for _ in 0..<200 {
      harness.turn()
      app.hear()
    }
    #expect(count("echo") == 1)
    app.acknowledge()
    harness.turn()
    app.vanish()
    harness.settle()
    try app.connect(state: true)
    #expect(count("gap") == 0)
    #expect(count("echo") == 1)
  }

  /// All that there is goes out with the end of the stay.
  @Test func theEndTellsAll() throws {
    harness.game?.accept()
    try app.connect()
    harness.game?.callers[0].close()
    for _ in 0..<200 {
      harness.turn()
      app.hear()
    }
    #expect(app.text.count == Self.holes)
    #expect(count("gap") == Self.holes)
    #expect(count("echo") == 1)
    #expect(app.closeCode == 1000)
  }
}
