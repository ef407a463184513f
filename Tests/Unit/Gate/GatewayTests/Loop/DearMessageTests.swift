import Kit
import System
import TLSPeers
import Testing

@testable import Gateway
@testable import Scheduling

/// What the dearest messages may take of a loop's turn, on a clock that moves when it is looked at.
@Suite struct DearMessageTests {
  private func playing(_ count: Int, on harness: LoopHarness, fields: String = "") throws -> [Player] {
    try (0..<count).map { _ in
      let player = try harness.arrive()
      try player.handshake()
      let head = String(Player.upgrade.dropLast()) + fields + "\r\n"
      #expect(player.say(head).hasPrefix("HTTP/1.1 101 "))
      return player
    }
  }

  // MARK: What counts

  /// 64 KiB of zeros in 79 bytes fill what a turn inflates to, and leave a turn that has next to nothing to do: the session is
  /// behind the others next time all the same. What inflates to little is not.
  @Test func whatInflatesToMuchIsHeavy() throws {
    let harness = try LoopHarness()
    let field = "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover\r\n"
    let player = try #require(try playing(1, on: harness, fields: field).first)
    func isHeavy(after frame: [UInt8]) -> Bool {
      player.client.write(frame)
      player.sendOutput()
      for _ in 0..<4 { harness.turn() }
      var isHeavy = false
      harness.loop.connections.forEach { isHeavy = $0.queueFlags.isHeavy }
      return isHeavy
    }
    // "look", stored as it is.
    let look = [0xC2, 0x8A, 0, 0, 0, 0, 0, 4, 0, 0xFB, 0xFF] + Array("look".utf8) + [0] as [UInt8]
    #expect(!isHeavy(after: look))
    #expect(isHeavy(after: [0xC2, 0x80 | UInt8(Self.zeros.count), 0, 0, 0, 0] + Self.zeros))
    // It is served after the others, and by that one small turn is light again.
    #expect(!isHeavy(after: look))
  }

  /// By zlib: 65,536 bytes of zero.
  private static let zeros: [UInt8] =
    [0xEC, 0xC1, 0x01, 0x01, 0x00, 0x00, 0x00, 0x80, 0x90, 0xFE, 0xAF, 0xEE, 0x08, 0x0A]
    + [UInt8](repeating: 0, count: 63) + [0x6A, 0x00]

  // MARK: The loop's turn

  /// All of a batch that says something large: those that the turn has no time for come in the next ones, in order, and
  /// none of them is forgotten.
  @Test func aTurnServesWhatItsTimeAllows() throws {
    let harness = try LoopHarness()
    let players = try playing(40, on: harness)
    let payload = String(repeating: "x", count: 16_000)
    let length = [0x80 | 126, UInt8(16_000 >> 8), UInt8(16_000 & 0xFF)] as [UInt8]
    for player in players {
      player.client.write([0x82] + length + [0, 0, 0, 0] + Array(payload.utf8))
      player.sendOutput()
    }
    // Each looks at the clock as if it had taken 300 µs: 4 are served at once, and 2 of those that go on.
    harness.clock.slow(by: .microseconds(300))
    var heard: Set<Int> = []
    var answered: [Int] = []
    for _ in 0..<40 where answered.last != 40 {
      harness.turn()
      for (index, player) in players.enumerated() where !player.hearBytes().isEmpty { heard.insert(index) }
      answered.append(heard.count)
    }
    harness.clock.slow(by: .zero)
    #expect(answered.first.map { (1...8).contains($0) } == true, "\(answered)")
    #expect(zip(answered, answered.dropFirst()).allSatisfy { $1 - $0 <= 8 }, "\(answered)")
    #expect(answered.last == 40, "\(answered)")
  }

  /// Small messages are served as they came: a turn looks at the clock once for a dozen.
  @Test func smallMessagesAreServedAtOnce() throws {
    let harness = try LoopHarness()
    let players = try playing(40, on: harness)
    for player in players {
      player.client.write(Player.frame(2, "look"))
      player.sendOutput()
    }
    harness.clock.slow(by: .microseconds(200))
    harness.turn()
    harness.clock.slow(by: .zero)
    for player in players { #expect(player.hear().hasSuffix("look")) }
  }

  // MARK: What is paid for

  /// A message that the rate does not let through is not read: what is wrong with it shows when it is its turn.
  @Test func aLargeMessageIsPaidForBeforeItIsRead() throws {
    let harness = try LoopHarness([("INPUT_RATE", "1/s")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    for number in 0..<10 { app.type("\(number)\n") }
    app.sendText("{" + String(repeating: " ", count: 5000))
    for _ in 0..<4 { harness.turn() }
    caller.hear()
    app.hear()
    #expect(caller.lines.count == 10)
    #expect(app.closeCode == nil)
    harness.pass(.seconds(2))
    harness.turn()
    app.hear()
    #expect(app.closeCode == 4002)
  }

  /// 20 KB cost five of the ten that may come at once.
  @Test func aLargeMessageCostsWhatItIs() throws {
    let harness = try LoopHarness([("INPUT_RATE", "1/s")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    app.type(String(repeating: "x", count: 20_000) + "\n")
    for number in 0..<10 { app.type("\(number)\n") }
    for _ in 0..<12 { harness.turn() }
    caller.hear()
    #expect(caller.lines.dropFirst() == ["0", "1", "2", "3", "4"])
  }

  /// What acknowledges in a larger message than it takes counts, and a small one does not.
  @Test(arguments: [(27, 5), (128, 5), (129, 0)])
  func whatIsFreeIsSmall(bytes: Int, lines: Int) throws {
    let harness = try LoopHarness([("INPUT_RATE", "1/s")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    let ack = #"{"type":"ack","received":0}"#
    for _ in 0..<10 { app.sendText(ack + String(repeating: " ", count: bytes - ack.utf8.count)) }
    for number in 0..<5 { app.type("\(number)\n") }
    for _ in 0..<4 { harness.turn() }
    caller.hear()
    #expect(caller.lines.count == lines)
  }

  /// Ten times as often as others; then they count too.
  @Test func whatIsFreeIsSoNotForEver() throws {
    let harness = try LoopHarness([("INPUT_RATE", "1/s")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    for number in 0..<120 {
      app.sendText(#"{"type":"client","columns":\#(number)}"#)
      if number % 10 == 9 { harness.turn() }
    }
    app.type("look\n")
    for _ in 0..<4 { harness.turn() }
    caller.hear()
    #expect(caller.lines.isEmpty)
    harness.pass(.seconds(20))
    for _ in 0..<4 { harness.turn() }
    caller.hear()
    #expect(caller.lines == ["look"])
  }

  // MARK: What waits for a turn of its own

  /// Messages large and small come in their order, and the last ones also from a player who is gone.
  @Test(arguments: [false, true])
  func whatWaitsIsNotLost(vanishes: Bool) throws {
    let harness = try LoopHarness(hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    let sizes = [3, 5000, 1, 4032, 4033, 12_000, 7]
    for size in sizes { app.type(String(repeating: "x", count: size) + "\n") }
    if vanishes { app.vanish() }
    for _ in 0..<12 { harness.turn() }
    caller.hear()
    #expect(caller.lines.map(\.utf8.count) == sizes)
  }
}
