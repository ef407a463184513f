/// A peer's share of a turn, counted in ciphertext, and what comes of using it up (docs/architecture-threads.md, "Fair turns").
import Addresses
import Configuration
import Glibc
import Kit
import Time
import TLSPeers
import Testing

@testable import Gateway
@testable import Scheduling
@testable import Sockets
@testable import System
@testable import Telemetry
@testable import TLS

@Suite struct SharesTests {
  private static let health = "GET /healthz HTTP/1.1\r\nHost: g\r\n\r\n"

  private func player(on harness: LoopHarness) throws -> Player {
    let player = try harness.arrive(ClientOptions(version: .tls13))
    try player.handshake()
    return player
  }

  /// Messages without data, each of which costs as much as 2 KiB of ciphertext; 32 at once are an end.
  private func pour(_ count: Int, by player: Player) {
    for _ in 0..<count { player.client.updateKeys(wantsReply: false) }
    player.sendOutput()
  }

  private func heavyCount(_ harness: LoopHarness) -> Int {
    var count = 0
    harness.loop.connections.forEach { if $0.queueFlags.isHeavy { count += 1 } }
    return count
  }

  // MARK: PendingQueue

  /// A share is 16 KiB.
  @Test(arguments: [(7, false), (8, true), (30, true)])
  func aNewcomersShareIsOfCiphertext(messages: Int, isHeavy: Bool) throws {
    let harness = try LoopHarness()
    let player = try player(on: harness)
    pour(messages, by: player)
    harness.turn()
    #expect(heavyCount(harness) == (isHeavy ? 1 : 0))
    #expect(harness.loop.pendingQueue.waitingCount == (isHeavy ? 1 : 0))
    // The next turn finds nothing more.
    harness.turn()
    #expect(heavyCount(harness) == 0)
    #expect(harness.loop.pendingQueue.isEmpty)
    #expect(player.say(Self.health).hasPrefix("HTTP/1.1 200 "))
  }

  /// Of those who did, one goes on in each turn, and whoever asks for little does not wait for them.
  @Test func whoUsedUpAShareIsServedBehindTheOthers() throws {
    let harness = try LoopHarness()
    let heavy = try (0..<4).map { _ in try player(on: harness) }
    let others = try (0..<3).map { _ in try player(on: harness) }
    for player in heavy { pour(8, by: player) }
    harness.turn()
    #expect(heavyCount(harness) == 4)
    for (turn, other) in others.enumerated() {
      other.client.write(Self.health)
      other.sendOutput()
      harness.turn()
      #expect(other.hear().hasPrefix("HTTP/1.1 200 "))
      #expect(heavyCount(harness) == 3 - turn)
    }
  }

  // MARK: Sessions

  /// 8 KiB make one of those that are served behind the others in the next turn.
  @Test(arguments: [(3, false), (4, true)])
  func aSessionsShareIsOfCiphertext(messages: Int, isHeavy: Bool) throws {
    let harness = try LoopHarness()
    let player = try player(on: harness)
    #expect(player.say(Player.upgrade).hasPrefix("HTTP/1.1 101 "))
    #expect(heavyCount(harness) == 0)
    pour(messages, by: player)
    harness.turn()
    #expect(heavyCount(harness) == (isHeavy ? 1 : 0))
    player.client.write(Player.frame(1, "look"))
    player.sendOutput()
    harness.turn()
    #expect(heavyCount(harness) == 0)
    #expect(player.hear().hasSuffix("look"))
  }

  // MARK: A loop

  /// Who waits in the kernel's queue is taken in so many a turn.
  @Test func sixteenAreAcceptedInATurn() throws {
    let listener = try Listener(
      on: Endpoint(address: .loopbackV4, port: 0), sharesPort: false)
    let port = try #require(listener.socket.localAddress()?.endpoint?.port)
    let harness = try LoopHarness(listeners: [LoopListener(listener)])
    var clients: [LoopListener] = []
    for _ in 0..<20 {
      let client = try Socket.connecting(to: .internet(Endpoint(address: .loopbackV4, port: port)))
      // A list cannot hold a socket itself.
      clients.append(LoopListener(Listener(kept: client)))
    }
    let deadline = SystemClock().monotonic() + .seconds(60)
    while Self.waitingToBeAccepted(at: port) < 20 {
      try #require(SystemClock().monotonic() < deadline)
      sched_yield()
    }
    harness.turn()
    #expect(harness.loop.counters.accepted.value == 16)
    harness.turn()
    #expect(harness.loop.counters.accepted.value == 20)
    harness.turn()
    #expect(harness.loop.connections.count == clients.count)
  }

  /// As the kernel has it (proc(5), `/proc/net/tcp`: of a socket that listens the second queue is that of connections).
  private static func waitingToBeAccepted(at port: UInt16) -> Int {
    let bytes = (try? SystemFiles().contents(of: "/proc/net/tcp", limit: 1 << 24)) ?? []
    let table = String(decoding: bytes, as: UTF8.self)
    let digits = String(port, radix: 16, uppercase: true)
    let local = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
    for line in table.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 4, fields[1] == local, fields[3] == "0A" else { continue }
      return fields[4].split(separator: ":").last.flatMap { Int($0, radix: 16) } ?? 0
    }
    return 0
  }

  /// Those who came together have their deadline together, and nobody else waits for all of them.
  @Test func sixteenDeadlinesPassInATurn() throws {
    let harness = try LoopHarness([("TLS_HANDSHAKE_TIMEOUT", "10s")])
    let silent = try (0..<40).map { _ in try harness.arrive() }
    harness.turn()
    harness.clock.advance(.seconds(11))
    var left: [Int] = []
    for _ in 0..<4 {
      harness.turn()
      left.append(harness.loop.connections.count)
    }
    #expect(left == [24, 8, 0, 0])
    #expect(silent.count == 40)
  }

  /// Else one player's ciphertext would go out by another's socket.
  @Test func aTurnWithinATurnTraps() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let harness = try LoopHarness()
      let (one, other) = (try harness.arrive(), try harness.arrive())
      for player in [one, other] {
        try player.handshake()
        #expect(player.say(Player.upgrade).hasPrefix("HTTP/1.1 101 "))
      }
      var connections: [Connection] = []
      harness.loop.connections.forEach { connections.append($0) }
      harness.loop.turn(of: connections[0]) { connection in
        _ = connection.client.tls.write(Array("secret".utf8).span)
        harness.loop.turn(of: connections[1]) { _ in }
      }
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("a turn begins with another connection's ciphertext"))
  }

  // MARK: An end

  enum Excess: CaseIterable {
    case messages
    case padding
    case renegotiation

    var options: ClientOptions {
      switch self {
      case .messages: ClientOptions(version: .tls13)
      case .padding: ClientOptions(version: .tls13, padding: 16_384)
      case .renegotiation: ClientOptions(version: .tls12)
      }
    }

    func pour(_ client: TestClient) {
      switch self {
      case .messages: for _ in 0..<33 { client.updateKeys(wantsReply: false) }
      case .padding: for _ in 0..<6 { client.updateKeys(wantsReply: false) }
      case .renegotiation: client.renegotiate()
      }
    }
  }

  /// Counted once, told once, and an end, before a request and in a session.
  @Test(arguments: Excess.allCases, [false, true])
  func eachExcessIsCounted(_ excess: Excess, inSession: Bool) throws {
    let harness = try LoopHarness()
    let player = try harness.arrive(excess.options)
    try player.handshake()
    if inSession { #expect(player.say(Player.upgrade).hasPrefix("HTTP/1.1 101 ")) }
    excess.pour(player.client)
    for _ in 0..<3 { player.exchange() }
    player.vanish()
    harness.settle()
    #expect(harness.loop.counters.tlsRefused.value == 1)
    #expect(harness.events.filter { $0 == "tls_refused" }.count == 1)
    #expect(harness.loop.connections.count == 0)
    harness.expectNothingLeft()
  }

  /// Before the handshake's end such a thing is a handshake that failed.
  @Test func aMessageThatIsTooLongIsAHandshakeThatFailed() throws {
    let harness = try LoopHarness()
    let player = try harness.arrive()
    player.send([22, 3, 1, 0, 4, 1, 1, 0, 0])
    for _ in 0..<4 { harness.turn() }
    #expect(harness.metric("tls_handshake_failures_total{reason=\"excess\"}") == 1)
    #expect(harness.loop.counters.tlsRefused.value == 0)
    #expect(harness.loop.connections.count == 0)
  }

  /// A flood of them is counted whole, and told in so many lines a second.
  @Test func theirLinesAreBounded() throws {
    let harness = try LoopHarness()
    let count = 60
    for _ in 0..<count {
      let player = try player(on: harness)
      pour(33, by: player)
      harness.turn()
    }
    #expect(harness.loop.counters.tlsRefused.value == count)
    #expect(harness.events.filter { $0 == "tls_refused" }.count == 50)
  }
}
