/// `URLSessionTransport.connect` against a server over TLS, and against scripts for what no server can bring about.
@testable internal import AppleClient
internal import AppleFoundation
internal import System
internal import Testing

@Suite(.timeLimit(.minutes(2))) struct UpgradeTests {
  private func upgrade(_ world: World) throws -> GateUpgrade {
    GateUpgrade(
      url: try world.url("/play", "wss"), subprotocol: "portcullis.v1", fields: [GateField("X-One", "1")])
  }

  private func connect(_ world: World) async throws -> any GateConnection {
    try await world.phone.run { try await URLSessionTransport().connect(try upgrade(world)) }
  }

  @Test func itOpensAndMessagesGoBothWays() async throws {
    let world = try World { request, connection in
      // The first message comes with the answer.
      connection.write(
        Array(accepting(request, ["Sec-WebSocket-Protocol: portcullis.v1"]).utf8) + [0x81, 2, 0x68, 0x69])
      while let frame = connection.readFrame() {
        switch frame {
        case .text(let text): connection.write(frame: 1, Array("<\(text)>".utf8))
        case .binary(let bytes): connection.write(frame: 2, bytes.reversed())
        case .ping: break
        case .close: return
        }
      }
    }
    let connection = try await connect(world)
    #expect(connection.subprotocol == "portcullis.v1")
    #expect(try await connection.receive() == .message(.text("hi")))
    try await connection.send(.text("a"))
    try await connection.send(.binary([1, 2]))
    #expect(try await connection.receive() == .message(.text("<a>")))
    #expect(try await connection.receive() == .message(.binary([2, 1])))
    let request = try #require(world.server.requests.first)
    #expect(request.hasPrefix("GET /play HTTP/1.1\r\n") && request.contains("\r\nX-One: 1\r\n"))
    #expect(request.contains("\r\nSec-WebSocket-Protocol: portcullis.v1\r\n"))
    connection.abandon()
    await #expect(throws: (any Error).self) { try await connection.receive() }
    await #expect(throws: (any Error).self) { try await connection.send(.text("b")) }
    #expect(await eventually { world.server.ends == 1 }, "the connection stays open")
    #expect(await eventually { world.network.livingSessions == 0 }, "the session outlives its task")
  }

  @Test(
    arguments: [
      ("401 Unauthorized", ["Portcullis-Error: key_unknown"], 401, "key_unknown", nil),
      ("429 Slow", ["Portcullis-Error: slow", "Retry-After: 7"], 429, "slow", 7),
      ("302 Found", ["Location: /other"], 302, nil, nil), ("200 OK", [], 200, nil, nil),
    ] as [(String, [String], Int, String?, Double?)])
  func itIsRefused(_ status: String, _ fields: [String], _ number: Int, _ code: String?, _ wait: Double?)
    async throws
  {
    let world = try World { _, connection in connection.write(answer(status, fields, "body")) }
    await #expect(throws: GateTransportError.refused(status: number, code: code, retryAfter: wait)) {
      try await connect(world)
    }
    #expect(world.server.requests.count == 1)
    #expect(await eventually { world.network.livingSessions == 0 })
  }

  @Test(arguments: ["", "HTTP/1.1 101 Switching Protocols\r\n\r\n"]) func answersThatAreNone(bytes: String)
    async throws
  {
    let world = try World { _, connection in connection.write(bytes) }
    await #expect(throws: (any Error).self) { try await connect(world) }
  }

  @Test func aServerWithoutTrust() async throws {
    let world = try World(isTrusted: false) { request, connection in connection.write(accepting(request)) }
    await #expect(throws: (any Error).self) { try await connect(world) }
    #expect(await eventually { world.server.ends == 1 })
    #expect(world.server.requests == [])
  }

  // MARK: How it ends

  @Test(arguments: [(1000, 1000), (1001, 1001), (4001, 4001), (nil, nil)] as [(UInt16?, UInt16?)])
  func theCodeOfAClose(sent: UInt16?, told: UInt16?) async throws {
    let world = try World { request, connection in
      connection.write(accepting(request))
      connection.write(frame: 1, Array("last".utf8))
      connection.write(closeCode: sent)
      _ = connection.readFrame()
    }
    let connection = try await connect(world)
    #expect(try await connection.receive() == .message(.text("last")))
    #expect(try await connection.receive() == .closed(code: told))
    #expect(await eventually { world.network.livingSessions == 0 })
  }

  /// Some systems say 0, others 1006.
  @Test(arguments: [0, 1006]) func aLossIsNoClose(code: Int) async throws {
    let world = try World { request, connection in connection.write(accepting(request)) }
    world.network.codeOfLost = code
    let connection = try await connect(world)
    await #expect(throws: (any Error).self) { try await connection.receive() }
    #expect(await eventually { world.network.livingSessions == 0 })
  }

  @Test func whatTheGateStillSaysAfterOurClose() async throws {
    let world = try World { request, connection in
      connection.write(accepting(request))
      guard connection.readFrame() == .close(code: 1000) else { return }
      connection.write(frame: 1, Array("bye".utf8))
      connection.write(closeCode: 1000)
    }
    let connection = try await connect(world)
    try await connection.close(code: 1000)
    #expect(try await connection.receive() == .message(.text("bye")))
    #expect(try await connection.receive() == .closed(code: 1000))
  }

  @Test func nothingIsReadAheadOfThoseWhoAsk() async throws {
    let world = try World { request, connection in
      connection.write(accepting(request))
      for _ in 0..<3 { connection.write(frame: 1, Array("text".utf8)) }
      connection.write(closeCode: 1001)
      _ = connection.readFrame()
    }
    let connection = try await connect(world)
    for _ in 0..<3 { #expect(try await connection.receive() == .message(.text("text"))) }
    #expect(try await connection.receive() == .closed(code: 1001))
    // And again, as often as it is asked.
    #expect(try await connection.receive() == .closed(code: 1001))
  }

  // MARK: Pings

  private func answeringPings() throws -> World {
    try World { request, connection in
      connection.write(accepting(request))
      while let frame = connection.readFrame() {
        if frame == .ping { connection.write(frame: 10, []) }
      }
    }
  }

  @Test(arguments: [FakeNetwork.Pongs.once, .twice]) func aPongThatComesOnceOrTwice(pongs: FakeNetwork.Pongs)
    async throws
  {
    let world = try answeringPings()
    world.network.pongs = pongs
    let connection = try await connect(world)
    for _ in 0..<3 { try await connection.ping() }
    connection.abandon()
    await #expect(throws: (any Error).self) { try await connection.ping() }
  }

  @Test func aPongThatNeverComesEndsWithTheConnection() async throws {
    let world = try World { request, connection in
      connection.write(accepting(request))
      _ = connection.readFrame()
    }
    let connection = try await connect(world)
    await #expect(throws: (any Error).self) { try await connection.ping() }
  }

  @Test func aSecondPingTakesTheFirstOnesPlace() async throws {
    let world = try World { _, _ in }
    let pongs = Monitor<[@Sendable ((any Error)?) -> Void]>([])
    var script = ScriptedLoader.Script.opened()
    let added: @Sendable (@escaping @Sendable ((any Error)?) -> Void) -> Void = { pong in
      pongs.withLock { pongs, _ in pongs.append(pong) }
    }
    script.ping = added
    world.network.script("localhost", script)
    let connection = try await connect(world)
    let first = Task { try await connection.ping() }
    #expect(await eventually { pongs.withLock { pongs, _ in pongs.count } == 1 })
    let second = Task { try await connection.ping() }
    #expect(await eventually { pongs.withLock { pongs, _ in pongs.count } == 2 })
    await #expect(throws: CancellationError.self) { try await first.value }
    // The first one's pong is not the second one's.
    pongs.withLock { pongs, _ in pongs[0] }(nil)
    struct Late: Error {}
    pongs.withLock { pongs, _ in pongs[1] }(Late())
    await #expect(throws: Late.self) { try await second.value }
  }

  @Test func aTaskThatIsCancelledWhileItOpens() async throws {
    let world = try World { _, connection in _ = connection.readRequest() }
    let upgrade = try upgrade(world)
    let task = Task { try await world.phone.run { try await URLSessionTransport().connect(upgrade) } }
    #expect(await eventually { world.server.requests.count == 1 })
    task.cancel()
    await #expect(throws: (any Error).self) { try await task.value }
    #expect(await eventually { world.server.ends == 1 }, "the connection stays open")
  }
}
