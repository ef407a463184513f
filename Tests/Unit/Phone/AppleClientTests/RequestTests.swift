/// `URLSessionTransport.request` against a server over TLS: what goes out, what comes back, what is not trusted.
@testable internal import AppleClient
internal import AppleFoundation
internal import Bytes
internal import Crypto
internal import Device
internal import Kit
internal import Testing
internal import Time

@Suite(.timeLimit(.minutes(2))) struct RequestTests {
  private func get(_ world: World, _ path: String = "/") throws -> GateRequest {
    GateRequest(url: try world.url(path), method: "GET", fields: [], body: nil)
  }

  @Test func aRequestAndItsAnswer() async throws {
    let world = try World { _, connection in
      connection.write(answer("429 Slow", ["Portcullis-Error: slow", "Retry-After: 12"], "body"))
    }
    let request = GateRequest(
      url: try world.url("/attest/register?a=b"), method: "POST", fields: [GateField("X-Client", "one")],
      body: Array("{}".utf8))
    let reply = try await world.phone.run { try await URLSessionTransport().request(request) }
    #expect(reply == GateAnswer(status: 429, code: "slow", retryAfter: 12, body: Array("body".utf8)))
    let sent = try #require(world.server.requests.first)
    #expect(sent.hasPrefix("POST /attest/register?a=b HTTP/1.1\r\n") && sent.hasSuffix("\r\n\r\n{}"))
    #expect(
      sent.contains("\r\nX-Client: one\r\n") && sent.contains("\r\nHost: localhost:\(world.server.port)\r\n"))
    #expect(await eventually { world.network.livingSessions == 0 }, "a session outlives its request")
  }

  @Test func aRedirectionIsAnAnswer() async throws {
    let world = try World { _, connection in connection.write(answer("302 Found", ["Location: /other"])) }
    let reply = try await world.phone.run { try await URLSessionTransport().request(try get(world)) }
    #expect(reply.status == 302)
    #expect(world.server.requests.count == 1)
  }

  @Test(arguments: [(65_536, true), (65_537, false)]) func howLongAnAnswerMayBe(count: Int, isTaken: Bool)
    async throws
  {
    let world = try World { _, connection in
      connection.write(answer("200 OK", [], String(repeating: "x", count: count)))
    }
    try await world.phone.run {
      if isTaken {
        let reply = try await URLSessionTransport().request(try get(world))
        #expect(reply.body.count == count)
      } else {
        await #expect(throws: (any Error).self) { try await URLSessionTransport().request(try get(world)) }
      }
    }
    #expect(await eventually { world.network.livingSessions == 0 })
  }

  @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "no HTTP at all\r\n\r\n"])
  func answersThatAreNone(bytes: String) async throws {
    let world = try World { _, connection in connection.write(bytes) }
    await world.phone.run {
      await #expect(throws: (any Error).self) { try await URLSessionTransport().request(try get(world)) }
    }
    #expect(world.server.requests.count == 1)
  }

  @Test func nobodyListens() async throws {
    var world: World? = try World { _, _ in }
    let request = try get(try #require(world))
    let phone = try #require(world).phone
    world = nil
    await phone.run {
      await #expect(throws: (any Error).self) { try await URLSessionTransport().request(request) }
    }
  }

  @Test(
    arguments: [
      (-1001, .timeout), (-1003, .unreachable), (-1004, .unreachable), (-1005, .unreachable),
      (-1009, .offline),
      (-1018, .offline), (-1020, .offline), (-1022, .unusable), (-1200, .untrusted), (-1206, .untrusted),
      (-999, .unreachable),
    ] as [(Int, GameFailure.Kind)])
  func whatTheSystemSays(code: Int, kind: GameFailure.Kind) async throws {
    let world = try World { _, _ in }
    world.network.script("localhost", .failing(URLError.Code(rawValue: code)))
    await world.phone.run {
      await #expect(throws: GateTransportError.failed(kind, "URLError \(code)")) {
        try await URLSessionTransport().request(try get(world))
      }
    }
    #expect(await eventually { world.network.livingSessions == 0 })
  }

  // MARK: Whom it trusts

  @Test func anAuthorityThatNobodyKnows() async throws {
    let world = try World(isTrusted: false) { _, connection in connection.write(answer("200 OK")) }
    await world.phone.run {
      await #expect(throws: GateTransportError.failed(.untrusted, "URLError -1202")) {
        try await URLSessionTransport().request(try get(world))
      }
    }
    #expect(await eventually { world.server.ends == 1 })
    #expect(
      world.server.handshakes == 0 && world.server.requests == [], "HTTP went to a server without trust")
  }

  @Test func aCertificateThatHasEnded() async throws {
    let world = try World(days: -5 ... -2) { _, connection in connection.write(answer("200 OK")) }
    await world.phone.run {
      await #expect(throws: GateTransportError.failed(.untrusted, "URLError -1201")) {
        try await URLSessionTransport().request(try get(world))
      }
    }
    #expect(world.server.requests == [])
  }

  // MARK: Pins

  private func pin(of world: World) throws -> [UInt8] {
    let key = try #require(CertificateKey.subjectPublicKeyInfo(of: world.certificate))
    return SHA256.hash(key.span).array
  }

  /// No authority that anybody knows, and an end that is past: the key alone decides.
  @Test func aPinnedKeyIsEnough() async throws {
    let world = try World(isTrusted: false, days: -5 ... -2) { _, connection in
      connection.write(answer("200 OK"))
    }
    let pins = try #require(Pins([[UInt8](repeating: 1, count: 32), pin(of: world)]))
    let reply = try await world.phone.run {
      try await URLSessionTransport(trust: .pins(pins)).request(try get(world))
    }
    #expect(reply.status == 200)
  }

  /// A certificate that everybody trusts is not enough, and no byte of HTTP goes to it.
  @Test func anotherKeyThanThePinnedOne() async throws {
    let world = try World { _, connection in connection.write(answer("200 OK")) }
    let pins = try #require(Pins([[UInt8](repeating: 1, count: 32)]))
    await world.phone.run {
      await #expect(
        throws: GateTransportError.failed(.pinMismatch, "the gate's key is none of the pinned ones")
      ) {
        try await URLSessionTransport(trust: .pins(pins)).request(try get(world))
      }
    }
    #expect(await eventually { world.server.ends == 1 })
    #expect(world.server.handshakes == 0 && world.server.requests == [])
  }

  /// The pins are asked for at each connection: the next key needs no new app.
  @Test func thePinsAreThoseOfTheMoment() async throws {
    let world = try World { _, connection in connection.write(answer("200 OK")) }
    let source = RollingPins(try #require(Pins([[UInt8](repeating: 1, count: 32)])))
    let transport = URLSessionTransport(trust: .pins(source))
    await world.phone.run {
      await #expect(throws: GateTransportError.self) { try await transport.request(try get(world)) }
    }
    source.roll(to: try #require(Pins([pin(of: world)])))
    let reply = try await world.phone.run { try await transport.request(try get(world)) }
    #expect(reply.status == 200)
  }

  // MARK: Who it is

  private func certificate(_ folder: TestFolder) throws -> (ClientCertificate, der: [UInt8]) {
    try DevelopmentCertificates.make(names: [], password: "word", now: SystemClock().wall())
      .write(to: folder.path, overwriting: false)
    let pem = try [UInt8](Data(contentsOf: URL(filePath: folder.file("client.pem"))))
    return (
      try #require(ClientCertificate(contentsOf: URL(filePath: folder.file("client.p12")), password: "word")),
      try PEMBlock.decode("CERTIFICATE", pem)
    )
  }

  @Test(arguments: [(TLSServer.Asking.no, false), (.politely, true), (.strictly, true)])
  func itsCertificateIsShownToThoseWhoAsk(asking: TLSServer.Asking, isShown: Bool) async throws {
    let (certificate, der) = try certificate(TestFolder("apple-"))
    let world = try World(asking: asking) { _, connection in
      connection.write(answer("200 OK", [], connection.clientCertificate == der ? "known" : "unknown"))
    }
    let reply = try await world.phone.run {
      try await URLSessionTransport(certificate: certificate).request(try get(world))
    }
    #expect(reply.body == Array((isShown ? "known" : "unknown").utf8))
  }

  @Test func withoutACertificateAStrictServerEndsIt() async throws {
    let world = try World(asking: .strictly) { _, connection in connection.write(answer("200 OK")) }
    await world.phone.run {
      await #expect(throws: GateTransportError.failed(.untrusted, "URLError -1206")) {
        try await URLSessionTransport().request(try get(world))
      }
    }
    #expect(world.server.requests == [])
  }

  // MARK: Its end

  @Test func aTaskThatIsCancelled() async throws {
    let world = try World { _, connection in _ = connection.readRequest() }
    let request = try get(world)
    let task = Task { try await world.phone.run { try await URLSessionTransport().request(request) } }
    #expect(await eventually { world.server.requests.count == 1 })
    task.cancel()
    await #expect(throws: (any Error).self) { try await task.value }
    #expect(await eventually { world.server.ends == 1 }, "the connection stays open")
  }
}

private final class RollingPins: PinSource {
  private let current: Locked<Pins>

  init(_ pins: Pins) {
    current = Locked(pins)
  }

  var pins: Pins { current.withLock { $0 } }

  func roll(to pins: Pins) { current.withLock { $0 = pins } }
}
