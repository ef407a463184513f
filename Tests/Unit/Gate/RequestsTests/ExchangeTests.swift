import Addresses
import Bytes
import HTTPWire
import Kit
import PortcullisProtocol
import System
import Testing
import Time

@testable import Admission
@testable import Configuration
@testable import Registry
@testable import Requests

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
    case .refuseBody(_, let refusal): "refuse \(refusal.code.rawValue) \(refusal.step)"
    case .wait: "wait"
    }
  }

  /// With `length` nil, a body in chunks.
  private static func request(
    _ number: UInt64, length: Int?, bodies: BodyPool = BodyPool(limit: 1 << 20, share: 1 << 20),
    limit: Int = 1 << 20
  ) throws -> PendingRequest {
    let framing = length.map { "Content-Length: \($0)" } ?? "Transfer-Encoding: chunked"
    let head = try head("POST /attest/register HTTP/1.1", framing)
    let charge = bodies.open(.anybody, .address(.loopbackV4)) {}
    return PendingRequest(
      RequestID(number: number), .register, head, body: IncomingBody(head, limit: limit, charge: charge),
      now: start)
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

  /// What came of a body is charged until its request is answered, however that ends.
  @Test func whatABodyTookComesBack() throws {
    let bodies = BodyPool(limit: 1 << 20, share: 1 << 20)
    do {
      let exchange = Self.exchange()
      exchange.awaitBody(of: try Self.request(1, length: 65_536, bodies: bodies))
      // An announcement takes nothing.
      #expect(Self.word(exchange.next(now: Self.start)) == "read" && bodies.heldBytes == 0)
      Self.give("{", to: exchange)
      #expect(Self.word(exchange.next(now: Self.start)) == "read" && bodies.heldBytes == 4096)
      Self.give(String(repeating: " ", count: 4096), to: exchange)
      #expect(Self.word(exchange.next(now: Self.start)) == "read" && bodies.heldBytes == 8192)
      exchange.answered(isLast: true, bodyLeft: 0, now: Self.start)
    }
    #expect(bodies.heldBytes == 0)
  }

  /// Wherever a piece ends, the body is the same, and what comes after it is the next request.
  @Test func aBodyInChunks() throws {
    let chunks = Array("2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n".utf8)
    for cut in 0...chunks.count {
      let exchange = Self.exchange()
      exchange.awaitBody(of: try Self.request(1, length: nil))
      exchange.receive(chunks.span.extracting(0..<cut), now: Self.start)
      if cut < chunks.count { #expect(Self.word(exchange.next(now: Self.start)) == "read") }
      exchange.receive(chunks.span.extracting(cut..<chunks.count), now: Self.start)
      Self.give(Self.get, to: exchange)
      #expect(Self.word(exchange.next(now: Self.start)) == "work abcd")
      exchange.answered(isLast: false, bodyLeft: 0, now: Self.start)
      #expect(Self.word(exchange.next(now: Self.start)) == "serve GET /healthz")
    }
  }

  @Test(arguments: [
    ("5\r", "refuse content_too_large chunked_length"), ("2;", "refuse bad_request chunk_extension"),
    ("4\r\nabcd\r\n1\r", "refuse content_too_large chunked_length"),
  ])
  func chunksThatAreNone(text: String, word: String) throws {
    let exchange = Self.exchange()
    exchange.awaitBody(of: try Self.request(1, length: nil, limit: 4))
    Self.give(text, to: exchange)
    #expect(Self.word(exchange.next(now: Self.start)) == word)
  }

  /// One that has to make room is refused with its next step, and its answer ends the connection.
  @Test func aBodyThatMadeRoom() throws {
    let bodies = BodyPool(limit: 16_384, share: 16_384)
    let (first, second) = (Self.exchange(), Self.exchange())
    let request = try Self.request(1, length: 9000, bodies: bodies)
    first.awaitBody(of: request)
    Self.give(String(repeating: "a", count: 8192), to: first)
    #expect(Self.word(first.next(now: Self.start)) == "read")
    #expect(first.awaitsBody(of: request.id) === request)
    let later = Self.start + .seconds(2)
    second.awaitBody(of: try Self.request(2, length: 8192, bodies: bodies))
    Self.give(String(repeating: "b", count: 8192), to: second, at: later)
    #expect(Self.word(second.next(now: later)).hasPrefix("work bbb"))
    Self.give(String(repeating: "a", count: 808), to: first, at: later)
    #expect(Self.word(first.next(now: later)) == "refuse overloaded bodies_in_flight")
  }

  /// While one waits with the registry, the peer's end has to be noticed: so much is read as a head takes, and nothing of it
  /// is looked at.
  @Test func aLongPoll() throws {
    let exchange = Self.exchange()
    let head = try head("GET /approvals?wait=25 HTTP/1.1")
    let request = PendingRequest(RequestID(number: 7), .standing, head, now: Self.start)
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
