import HTTPWire
import Synchronization
import Testing

@testable import Admin

/// Which path is whose, and who comes as far as that.
@Suite struct RoutingTests {
  private let gate = ImaginaryGate()
  private let console: Console

  init() throws { console = try Console() }

  private var routing: AdminRouting { AdminRouting(handler: gate, access: console.access) }

  private func outcome(
    _ request: String, _ body: String = "", over transport: AdminTransport = .loopback
  ) throws -> AdminRouting.Outcome {
    var conversation = AdminConversation()
    conversation.take(Array("\(request)\r\n\r\n\(body)".utf8).span)
    guard case .call(let call) = conversation.next() else { throw NoCall() }
    return routing.outcome(call, over: transport)
  }

  private struct NoCall: Error {}

  private func reply(
    _ request: String, _ body: String = "", over transport: AdminTransport = .loopback
  ) throws -> AdminReply {
    guard case .reply(let reply) = try outcome(request, body, over: transport) else { throw NoCall() }
    return reply
  }

  private func text(_ reply: AdminReply) -> String {
    guard case .whole(let bytes) = reply.content else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func lifeAndReadiness() throws {
    #expect(try text(reply("GET /livez HTTP/1.0")) == "ok\n")
    #expect(try text(reply("GET /readyz HTTP/1.0")) == "ok\n")
    gate.state.withLock { state in
      state.isAlive = false
      state.readiness = Readiness(checks: [
        .init("listening", .ok), .init("game", .degraded, detail: "away"), .init("certificate", .degraded),
      ])
    }
    #expect(try reply("GET /livez HTTP/1.0").status == .serviceUnavailable)
    let degraded = try reply("GET /readyz HTTP/1.0")
    #expect(degraded.status == .ok && text(degraded) == "degraded: game, certificate\n")
    gate.state.withLock {
      $0.readiness = Readiness(checks: $0.readiness.checks + [.init("draining", .failed, detail: "told to")])
    }
    let failed = try reply("GET /readyz?verbose HTTP/1.0")
    #expect(failed.status == .serviceUnavailable)
    #expect(
      text(failed) == """
        [+]listening ok
        [!]game degraded: away
        [!]certificate degraded
        [-]draining failed: told to
        failed: draining

        """)
    #expect(try text(reply("GET /readyz?verbosely=1 HTTP/1.0")) == "failed: draining\n")
  }

  /// A load balancer calls by whatever name it likes.
  @Test func probesAskNobody() throws {
    for transport in [AdminTransport.tls, .loopback, .unix(nil)] {
      for path in ["/livez", "/readyz"] {
        #expect(try reply("GET \(path) HTTP/1.1\r\nHost: evil.example", over: transport).status == .ok)
      }
    }
    let post = try reply("POST /livez HTTP/1.0")
    #expect(post.status == .methodNotAllowed)
  }

  @Test func numbersOnThisHostAlone() throws {
    #expect(try text(reply("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:8444")) == "numbers 1\n")
    #expect(try reply("GET /metrics HTTP/1.1\r\nHost: localhost", over: .tls).status == .unauthorized)
    #expect(try reply("GET /metrics HTTP/1.1\r\nHost: evil.example").status == .misdirectedRequest)
    let closed = AdminRouting(handler: gate, access: try Console(metricsNeedToken: true).access)
    var conversation = AdminConversation()
    conversation.take(Array("GET /metrics HTTP/1.1\r\nHost: [::1]\r\n\r\n".utf8).span)
    guard case .call(let call) = conversation.next(),
      case .reply(let reply) = closed.outcome(call, over: .loopback)
    else { throw NoCall() }
    #expect(reply.status == .unauthorized)
  }

  @Test func strangersAreLedOn() throws {
    #expect(try reply("GET / HTTP/1.1\r\nHost: localhost").status == .seeOther)
    #expect(try reply("GET /api/overview HTTP/1.1\r\nHost: localhost").status == .unauthorized)
    #expect(try reply("POST /change HTTP/1.1\r\nHost: localhost").status == .unauthorized)
    #expect(try reply("GET /style.css HTTP/1.1\r\nHost: localhost").status == .ok)
  }

  /// A path is what it is on the wire: no other spelling of it leads anywhere else than to nobody's page.
  @Test(arguments: [
    "/../livez", "/./livez", "//livez", "/livez/", "/%6civez", "/LIVEZ", "/livez;x", "/style.css/..",
    "/%2e%2e/livez",
    "/livez%00", "/metrics%3f", "/metrics/",
  ])
  func spellings(path: String) throws {
    let reply = try reply("GET \(path) HTTP/1.1\r\nHost: localhost")
    #expect(reply.status == .seeOther && text(reply) == "see there\n")
  }

  @Test func whatIsNoFormIsNoChange() throws {
    let head = "POST /change HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3"
    #expect(try reply(head, "a=1").status == .unsupportedMediaType)
    #expect(try reply(head + "\r\nContent-Type: text/plain", "a=1").status == .unsupportedMediaType)
    let form = head + "\r\nContent-Type: Application/X-WWW-Form-Urlencoded; charset=utf-8"
    #expect(try reply(form, "a=1").status == .unauthorized)
    #expect(try reply(form, "a%%").status == .badRequest)
    #expect(try reply("GET /?a=1&a=2 HTTP/1.1\r\nHost: localhost").status == .badRequest)
    #expect(try reply("OPTIONS / HTTP/1.1\r\nHost: localhost").status == .methodNotAllowed)
  }
}
