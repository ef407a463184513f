/// Requests on a connection: read, told apart by route, answered in order, kept alive or closed (RFC 9112, SPEC §3).
internal import Bytes
internal import Configuration
internal import HTTPWire
internal import ProxyProtocol
internal import System
internal import TLS

extension Connection {
  /// Reads what came and serves one request of it. `respond` queues the connection for what is behind that, since a
  /// peer may send requests faster than they can be answered, and would never let go of the loop.
  func readRequests() {
    guard stage == .exchange, let exchange else { return }
    while stage == .exchange, legs.client.unsent.isEmpty, !isQueued {
      if serveReceived(exchange) { continue }
      guard stage == .exchange, legs.client.unsent.isEmpty, wantsBytes(exchange) else { break }
      guard receive(into: exchange) else { break }
    }
    if stage == .exchange { armExchange(exchange) }
  }

  private func wantsBytes(_ exchange: Exchange) -> Bool {
    switch exchange.phase {
    case .head, .body, .discarding: legs.client.mayHaveInput
    case .registering, .ended: false
    }
  }

  /// Adds a record's plaintext to what was received; false when there was none or the peer is gone.
  private func receive(into exchange: Exchange) -> Bool {
    let result = loop.scratch.withBytes { bytes in
      let result = legs.client.read(into: &bytes)
      if case .bytes(let count) = result {
        exchange.received.append(copying: bytes.span.extracting(0..<count))
      }
      return result
    }
    switch result {
    case .bytes:
      if case .head(since: nil) = exchange.phase { exchange.phase = .head(since: loop.now) }
      return true
    case .wantsInput: return false
    case .closed, .truncated, .failed:
      finish()
      return false
    }
  }

  /// Serves one step of what was received; false when more bytes are needed or an answer is being worked on.
  private func serveReceived(_ exchange: Exchange) -> Bool {
    switch exchange.phase {
    case .head: return serveHead(exchange)
    case .body(let request):
      guard exchange.received.count >= request.length else { return false }
      let body = Array(exchange.received.prefix(request.length))
      exchange.drop(request.length)
      exchange.phase = .registering(request)
      register(body, request)
      return stage == .exchange
    case .discarding(let left):
      let count = min(left, exchange.received.count)
      exchange.drop(count)
      guard count == left else {
        exchange.phase = .discarding(left - count)
        return false
      }
      expectNextHead(exchange)
      return true
    case .registering, .ended: return false
    }
  }

  private func serveHead(_ exchange: Exchange) -> Bool {
    if exchange.received.isEmpty { return false }
    switch exchange.parser.parse(exchange.received.span) {
    case .needMore: return false
    case .head(let head, let consumed):
      exchange.drop(consumed)
      route(head)
    case .refused(let refusal):
      exchange.parser = RequestParser(limits: loop.settings.headLimits)
      if let consumed = refusal.consumed { exchange.drop(consumed) }
      refuse(
        Refusal(refusal.code, step: refusal.step), closing: !refusal.connectionMayLive, toHead: refusal.isHead
      )
    }
    return stage == .exchange
  }

  func expectNextHead(_ exchange: Exchange) {
    exchange.client = nil
    exchange.phase = .head(since: exchange.received.isEmpty ? nil : loop.now)
  }

  // MARK: Routes

  private func route(_ head: RequestHead) {
    if isOverLimit { return refuse(Refusal(.rateLimited, step: "connections_per_address"), closing: true) }
    if loop.memoryShortage() != nil {
      return refuse(Refusal(.overloaded, step: "memory"), closing: true, toHead: head.method == .head)
    }
    do throws(ForwardedFor.Malformed) {
      try readForwardedFor(head)
    } catch {
      return refuse(Refusal(.badRequest, step: error.rawValue), to: head)
    }
    switch Route(head, attests: loop.settings.attests) {
    case .health:
      answer(isAvailable: !loop.isDraining, to: head)
    case .challenge: challenge(for: head)
    case .register: beginRegistration(head)
    case .upgrade: beginUpgrade(head)
    case .notFound: refuse(Refusal(.notFound, step: "path"), to: head)
    case .methodNotAllowed(let allow):
      refuse(Refusal(.methodNotAllowed, step: "method", allow: allow), to: head)
    }
  }

  private func answer(isAvailable: Bool, to head: RequestHead) {
    guard isAvailable else { return refuse(Refusal(.shuttingDown, step: "draining"), to: head) }
    respond(Response(.ok, json: #"{"status":"ok"}"#), to: head)
  }

  private func challenge(for head: RequestHead) {
    if let wait = loop.shared.challengeRates.take(payer, loop.settings.challengeAllowance, now: loop.now) {
      return refuse(Refusal(.rateLimited, step: "challenge_rate", retryAfter: wait), to: head)
    }
    guard let challenge = loop.shared.challenges.issue(loop: loop.index) else {
      return refuse(Refusal(.overloaded, step: "challenges_per_second"), to: head)
    }
    counters.challenges.add()
    respond(
      Response(
        .ok, json: #"{"nonce":"\#(challenge.nonce.hex)","expires":\#(challenge.expires.milliseconds)}"#),
      to: head)
  }

  // MARK: Answers

  func respond(_ response: Response, to head: RequestHead) {
    respond(response, closing: !head.keepsAlive, bodyLeft: head.bodyLength ?? 0)
  }

  /// Refuses `head`. The connection lives on when its framing allows it: a body is read past, unless the peer waits
  /// for leave to send it, which leaves open whether it will.
  func refuse(_ refusal: Refusal, to head: RequestHead) {
    let body = head.bodyLength ?? 0
    let isTooLong = body > loop.settings.limits.httpBodyBytes
    refuse(
      refusal, closing: !head.keepsAlive || isTooLong || head.expectsContinue, toHead: head.method == .head,
      bodyLeft: body)
  }

  func refuse(_ refusal: Refusal, closing: Bool, toHead: Bool = false, bodyLeft: Int = 0) {
    counters.refused(refusal.code)
    loop.shared.log.refused(self, refusal)
    exchange?.refusals += 1
    let isLast = closing || (exchange?.refusals ?? 0) >= Exchange.refusalLimit
    respond(refusal.response, closing: isLast, toHead: toHead, bodyLeft: bodyLeft)
  }

  func respond(_ response: Response, closing: Bool, toHead: Bool = false, bodyLeft: Int = 0) {
    let isLast = closing || loop.isDraining
    let bytes = response.encoded(
      closing: isLast, toHead: toHead, date: loop.date.text(at: loop.now, clock: loop.shared.clock))
    guard let exchange, legs.client.tls.write(bytes.span) else { return close() }
    exchange.hasAnswered = true
    stage = .exchange
    if isLast {
      exchange.phase = .ended
      finish()
    } else if bodyLeft > 0 {
      exchange.phase = .discarding(bodyLeft)
    } else {
      expectNextHead(exchange)
    }
    // Back from other work: what was pipelined behind the request has its turn now.
    if stage == .exchange { loop.queue(self) }
  }

  // MARK: Deadlines

  private func armExchange(_ exchange: Exchange) {
    let limits = loop.settings.limits
    if !legs.client.unsent.isEmpty { return arm(at: loop.now + limits.writeStallTimeout) }
    switch exchange.phase {
    case .head(let since?): arm(at: since + limits.httpHeadTimeout)
    case .head(since: nil): if exchange.hasAnswered { arm(at: loop.now + limits.httpIdleTimeout) }
    case .body(let request): arm(at: request.startedAt + limits.httpBodyTimeout)
    case .discarding: arm(at: loop.now + limits.httpBodyTimeout)
    case .registering, .ended: break
    }
  }

  func exchangeExpired() {
    guard let exchange, legs.client.unsent.isEmpty else { return close() }
    switch exchange.phase {
    case .head(since: nil), .ended: finish()
    case .head: refuse(Refusal(.requestTimeout, step: "head_timeout"), closing: true)
    case .body: refuse(Refusal(.requestTimeout, step: "body_timeout"), closing: true)
    case .discarding: finish()
    case .registering: refuse(Refusal(.storeUnavailable, step: "registration_timeout"), closing: true)
    }
  }
}

/// Where a request goes (SPEC §3).
enum Route: Equatable {
  case health
  case challenge
  case register
  /// Any other path: a WebSocket upgrade, or not.
  case upgrade
  case notFound
  case methodNotAllowed(allow: String)

  /// - Parameter attests: whether any app id is configured; else all of `/attest/` does not exist.
  init(_ head: RequestHead, attests: Bool) {
    let isGet = head.method == .get
    if head.pathIs("/healthz") {
      self = isGet ? .health : .methodNotAllowed(allow: "GET")
    } else if attests, head.pathIs("/attest/challenge") {
      self = isGet ? .challenge : .methodNotAllowed(allow: "GET")
    } else if attests, head.pathIs("/attest/register") {
      self = head.method == .post ? .register : .methodNotAllowed(allow: "POST")
    } else if head.pathBegins(with: "/attest/") {
      self = .notFound
    } else {
      self = isGet ? .upgrade : .methodNotAllowed(allow: "GET")
    }
  }
}
