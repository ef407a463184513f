import Addresses
import Bytes
import HTTPWire
import PortcullisProtocol
import System
import Testing

@testable import Configuration
@testable import Gateway
@testable import Registry

/// The exchange of requests and answers, driven by hand: no socket, no loop.
@Suite struct ExchangeTests {
  private static let start = MonotonicTime(nanoseconds: 1_000_000_000)
  private static let limits = {
    var limits = Limits()
    limits.httpHeadTimeout = .seconds(10)
    limits.httpHeadBytes = 8192
    limits.httpBodyTimeout = .seconds(10)
    limits.httpIdleTimeout = .seconds(30)
    return limits
  }()
  private static let get = "GET /healthz HTTP/1.1\r\nHost: g\r\n\r\n"
  private static let post =
    "POST /attest/register HTTP/1.1\r\nHost: g\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\n"

  private static func exchange() -> Exchange {
    Exchange(limits: RequestParser.Limits(headBytes: limits.httpHeadBytes, fields: Limits.headFields))
  }

  private static func give(_ text: String, to exchange: Exchange, at now: MonotonicTime = start) {
    let bytes = Array(text.utf8)
    exchange.receive(bytes.span, now: now)
  }

  private static func word(_ step: Exchange.Step) -> String {
    switch step {
    case .read: "read"
    case .serve(let head): "serve \(head.methodName) \(head.path)"
    case .work(_, let body): "work \(String(decoding: body, as: UTF8.self))"
    case .refuse(let refusal): "refuse \(refusal.step)"
    case .wait: "wait"
    }
  }

  private static func request(
    _ number: UInt64, length: Int, bodies: BodyBudget = BodyBudget(limit: 1000, share: 1000)
  ) throws -> PendingRequest {
    let head = try head("POST /attest/register HTTP/1.1", "Content-Length: \(length)")
    return try #require(
      PendingRequest.reserve(
        number, .register, head, length: length, bodies: bodies, payer: .loopbackV4, now: start))
  }

  @Test func aHeadByteByByte() {
    let exchange = Self.exchange()
    for byte in Array(Self.get.utf8).dropLast() {
      exchange.receive([byte].span, now: Self.start)
      #expect(Self.word(exchange.next(now: Self.start)) == "read")
    }
    Self.give("\n", to: exchange)
    #expect(Self.word(exchange.next(now: Self.start)) == "serve GET /healthz")
    #expect(!exchange.hasReceived)
  }

  /// The second request is served only once the first is answered.
  @Test func pipelined() {
    let exchange = Self.exchange()
    Self.give(Self.get + "GET /two HTTP/1.1\r\nHost: g\r\n\r\n", to: exchange)
    #expect(Self.word(exchange.next(now: Self.start)) == "serve GET /healthz")
    #expect(exchange.hasReceived)
    exchange.answered(isLast: false, bodyLeft: 0, now: Self.start)
    #expect(Self.word(exchange.next(now: Self.start)) == "serve GET /two")
    exchange.answered(isLast: true, bodyLeft: 0, now: Self.start)
    #expect(Self.word(exchange.next(now: Self.start)) == "wait")
  }

  @Test func aBodyThenWork() throws {
    let exchange = Self.exchange()
    Self.give(Self.post + "ab", to: exchange)
    #expect(Self.word(exchange.next(now: Self.start)) == "serve POST /attest/register")
    exchange.awaitBody(of: try Self.request(1, length: 4))
    #expect(Self.word(exchange.next(now: Self.start)) == "read")
    Self.give("cdGET", to: exchange)
    #expect(Self.word(exchange.next(now: Self.start)) == "work abcd")
    #expect(Self.word(exchange.next(now: Self.start)) == "wait")
    #expect(exchange.hasReceived)
  }

  /// A body that nobody wants is read past, however it is cut, and what is behind it is a request again.
  @Test(arguments: 0...8) func aRefusedBodyIsReadPast(cut: Int) {
    let exchange = Self.exchange()
    let rest = Array(("abcdefgh" + Self.get).utf8)
    exchange.answered(isLast: false, bodyLeft: 8, now: Self.start)
    exchange.receive(rest.span.extracting(0..<cut), now: Self.start)
    #expect(Self.word(exchange.next(now: Self.start)) == "read")
    exchange.receive(rest.span.extracting(cut..<rest.count), now: Self.start)
    #expect(Self.word(exchange.next(now: Self.start)) == "serve GET /healthz")
  }

  /// An answer names its request: those of earlier ones find nothing.
  @Test func lateAnswersFindNothing() throws {
    let exchange = Self.exchange()
    let (first, second) = (try Self.request(1, length: 0), try Self.request(2, length: 0))
    exchange.awaitBody(of: first)
    #expect(exchange.working(on: first.id) == nil)
    #expect(Self.word(exchange.next(now: Self.start)) == "work ")
    #expect(exchange.working(on: first.id) === first)
    #expect(exchange.working(on: second.id) == nil)
    #expect(exchange.extend(first.id, until: Self.start + .seconds(3)))
    exchange.answered(isLast: false, bodyLeft: 0, now: Self.start)
    #expect(exchange.working(on: first.id) == nil)
    exchange.awaitBody(of: second)
    #expect(Self.word(exchange.next(now: Self.start)) == "work ")
    #expect(!exchange.extend(first.id, until: Self.start + .seconds(3)))
    #expect(exchange.working(on: first.id) == nil)
    #expect(exchange.working(on: second.id) === second)
  }

  @Test func refusalsAreCounted() {
    let exchange = Self.exchange()
    for _ in 1..<Exchange.refusalLimit { #expect(!exchange.countRefusal(closing: false)) }
    #expect(exchange.countRefusal(closing: false))
    #expect(Self.exchange().countRefusal(closing: true))
  }

  // MARK: Time

  @Test func deadlines() throws {
    let limits = Self.limits
    let exchange = Self.exchange()
    // The first head has what the handshake left.
    #expect(exchange.deadline(limits: limits) == nil)
    Self.give("GET", to: exchange)
    let later = Self.start + .seconds(2)
    Self.give(" /", to: exchange, at: later)
    // From the first byte, whatever drips in behind it.
    #expect(exchange.deadline(limits: limits) == Self.start + limits.httpHeadTimeout)
    #expect(exchange.expired(isBlocked: false) == .refuse(.requestTimeout, step: "head_timeout"))
    #expect(exchange.expired(isBlocked: true) == .close)

    let idle = Self.exchange()
    idle.answered(isLast: false, bodyLeft: 0, now: Self.start)
    #expect(idle.deadline(limits: limits) == Self.start + limits.httpIdleTimeout)
    #expect(idle.expired(isBlocked: false) == .finish)

    let body = Self.exchange()
    body.awaitBody(of: try Self.request(1, length: 4))
    #expect(body.deadline(limits: limits) == Self.start + limits.httpBodyTimeout)
    #expect(body.expired(isBlocked: false) == .refuse(.requestTimeout, step: "body_timeout"))
  }

  /// Each byte of a body that is read past counts for nothing: the time runs from the answer.
  @Test func aDrippedBodyHasOneDeadline() {
    let exchange = Self.exchange()
    exchange.answered(isLast: false, bodyLeft: 1000, now: Self.start)
    var now = Self.start
    for _ in 0..<20 {
      now = now + .seconds(1)
      Self.give("x", to: exchange, at: now)
      #expect(Self.word(exchange.next(now: now)) == "read")
      #expect(
        exchange.deadline(limits: Self.limits) == Self.start + Self.limits.httpBodyTimeout)
    }
    #expect(exchange.expired(isBlocked: false) == .finish)
  }

  /// What a body has reserved is given back with its request, however that ends.
  @Test func theBudgetComesBack() throws {
    let bodies = BodyBudget(limit: 10, share: 10)
    do {
      let exchange = Self.exchange()
      exchange.awaitBody(of: try Self.request(1, length: 10, bodies: bodies))
      #expect(!bodies.reserve(1, for: .loopbackV4))
      exchange.answered(isLast: true, bodyLeft: 0, now: Self.start)
    }
    #expect(bodies.reserve(10, for: .loopbackV4))
  }

  /// While one waits with the registry, the peer's end has to be noticed: so much is read as a head takes, and nothing of it
  /// is looked at.
  @Test func aLongPoll() throws {
    let exchange = Self.exchange()
    let head = try head("GET /approvals?wait=25 HTTP/1.1")
    let request = try #require(
      PendingRequest.reserve(
        7, .standing, head, length: 0, bodies: BodyBudget(limit: 0, share: 0), payer: .loopbackV4,
        now: Self.start))
    exchange.work(on: request)
    #expect(exchange.poll == nil && !exchange.readsWhileWaiting)
    request.poll = RequestHandle(number: 1)
    #expect(exchange.poll == request.poll && exchange.readsWhileWaiting)
    Self.give(Self.get, to: exchange)
    #expect(Self.word(exchange.next(now: Self.start)) == "wait")
    while exchange.readsWhileWaiting { Self.give(Self.get, to: exchange) }
    #expect(exchange.extend(request.id, until: Self.start + .seconds(35)))
    #expect(exchange.deadline(limits: Self.limits) == Self.start + .seconds(35))
    #expect(exchange.expired(isBlocked: false) == .refuse(.storeUnavailable, step: "registry_timeout"))
    exchange.answered(isLast: false, bodyLeft: 0, now: Self.start)
    #expect(exchange.poll == nil)
    #expect(Self.word(exchange.next(now: Self.start)) == "serve GET /healthz")
  }
}
