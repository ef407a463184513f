import HTTPWire
import Synchronization
import Testing

@testable import Admin

/// Which path is whose, and who comes as far as that.
@Suite struct RoutingTests {
  private let gate = ImaginaryGate()

  private func outcome(
    _ request: String, _ body: String = "", as verdict: AdminVerdict = .nobody,
    over transport: AdminTransport = .loopback
  ) throws -> AdminRouting.Outcome {
    let routing = AdminRouting(handler: gate) { _, _, _ in verdict }
    var conversation = AdminConversation()
    conversation.take(Array("\(request)\r\n\r\n\(body)".utf8).span)
    guard case .call(let call) = conversation.next() else { throw NoCall() }
    return routing.outcome(call, over: transport)
  }

  private struct NoCall: Error {}

  private func reply(
    _ request: String, _ body: String = "", as verdict: AdminVerdict = .nobody,
    over transport: AdminTransport = .loopback
  ) throws -> AdminReply {
    guard case .reply(let reply) = try outcome(request, body, as: verdict, over: transport) else {
      throw NoCall()
    }
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

  /// A load balancer calls by whatever name it likes, and nobody is asked who it is.
  @Test func probesAskNobody() throws {
    for transport in [AdminTransport.tls, .loopback, .unix(nil)] {
      for path in ["/livez", "/readyz"] {
        let probe = "GET \(path) HTTP/1.1\r\nHost: evil.example"
        #expect(try reply(probe, as: .refused(.host), over: transport).status == .ok)
      }
    }
    #expect(try reply("POST /livez HTTP/1.0", as: .actor(.alice, formToken: "")).status == .methodNotAllowed)
  }

  @Test func whatTheVerdictSays() throws {
    let numbers = "GET /metrics HTTP/1.0"
    let reader = AdminVerdict.actor(AdminActor(name: "prometheus", scopes: [.metrics]), formToken: "")
    #expect(try text(reply(numbers, as: reader)) == "numbers 1\n")
    #expect(try reply("POST /metrics HTTP/1.0", as: reader) == .methodNotAllowed("GET, HEAD"))
    #expect(try reply("OPTIONS /metrics HTTP/1.0", as: reader) == .methodNotAllowed("GET, HEAD"))
    #expect(try reply(numbers).status == .unauthorized)
    for (refusal, status) in [
      (AdminRefusal.host, Status.misdirectedRequest), (.origin, .forbidden), (.formToken, .forbidden),
      (.scope, .forbidden), (.token, .unauthorized),
    ] {
      #expect(try reply("GET / HTTP/1.0", as: .refused(refusal)).status == status)
    }
    let signed = try reply("POST /sign-in/x HTTP/1.0", as: .signed(cookie: "a=b; HttpOnly", to: "/"))
    #expect(signed.status == .seeOther)
    #expect(try text(reply("GET /sign-in HTTP/1.0", as: .answer(.page(.ok, [0x70])))) == "p")
    #expect(try text(reply("GET / HTTP/1.0", as: .actor(.alice, formToken: ""))) == "<p>alice")
  }

  /// Only probes have no name that they must be called by.
  @Test(arguments: [("/style.css", Status.misdirectedRequest), ("/", .misdirectedRequest), ("/livez", .ok)])
  func byTheNameOfAnother(path: String, status: Status) throws {
    let routing = AdminRouting(
      handler: gate, judge: { _, _, _ in .nobody }, isCalled: { $0 == "localhost" })
    var conversation = AdminConversation()
    conversation.take(Array("GET \(path) HTTP/1.1\r\nHost: evil.example\r\n\r\n".utf8).span)
    guard case .call(let call) = conversation.next(),
      case .reply(let reply) = routing.outcome(call, over: .loopback)
    else { throw NoCall() }
    #expect(reply.status == status)
  }

  /// With the access that judges in a gate.
  @Test func numbersOnThisHostAlone() throws {
    func status(_ head: String, over transport: AdminTransport, metricsNeedToken: Bool = false) throws
      -> Status
    {
      let access = try Console(metricsNeedToken: metricsNeedToken).access
      let routing = AdminRouting(handler: gate) { access.judge($0, $1, over: $2) }
      var conversation = AdminConversation()
      conversation.take(Array("GET /metrics HTTP/1.1\r\nHost: \(head)\r\n\r\n".utf8).span)
      guard case .call(let call) = conversation.next(),
        case .reply(let reply) = routing.outcome(call, over: transport)
      else { throw NoCall() }
      return reply.status
    }
    #expect(try status("127.0.0.1:8444", over: .loopback) == .ok)
    #expect(try status("localhost", over: .tls) == .unauthorized)
    #expect(try status("evil.example", over: .loopback) == .misdirectedRequest)
    #expect(try status("[::1]", over: .loopback, metricsNeedToken: true) == .unauthorized)
  }

  @Test func whatTakesLongIsWork() throws {
    let body = "word=done"
    let head =
      "POST /change?q=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n"
      + "Content-Type: application/x-www-form-urlencoded"
    guard case .work(let request) = try outcome(head, body, as: .actor(.alice, formToken: "t")) else {
      throw NoCall()
    }
    #expect(request.isChange && request.path == "/change" && request.query["q"] == "1")
    #expect(request.form["word"] == "done" && request.actor == .alice && request.formToken == "t")
    guard case .work(let search) = try outcome("HEAD /search HTTP/1.0", as: .actor(.alice, formToken: ""))
    else { throw NoCall() }
    #expect(!search.isChange && search.form == AdminForm())
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
