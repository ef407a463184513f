/// Requests on a connection: read, told apart by endpoint, answered in order, kept alive or closed (RFC 9112,
/// docs/protocol.md, "HTTP").
internal import Admission
internal import Bytes
internal import Configuration
internal import HTTPWire
internal import PortcullisProtocol
internal import ProxyProtocol
internal import Registry
internal import Requests
internal import System
internal import Telemetry
internal import Time
internal import TLS
internal import Upstream

extension Connection {
  /// Reads what came and serves one request of it. `respond` queues the connection for what is after that, since a
  /// peer may send requests faster than they can be answered, and would never let go of the loop.
  func serveRequests(_ exchange: Exchange) {
    client.tls.beginTurn(.newcomer)
    loop.noteMoved(self, isMuch: false)
    while isServing(exchange), client.unsent.isEmpty, !queueFlags.isQueued {
      switch exchange.next(now: loop.now) {
      case .serve(let head): route(head, exchange)
      case .work(let request, let body): work(on: request, body)
      case .refuseBody(let request, let refusal): refuse(refusal, of: request)
      case .refuse(let refusal):
        refuse(
          Refusal(refusal.code, step: refusal.step), closing: !refusal.connectionMayLive,
          toHead: refusal.isHead)
      case .read:
        guard client.mayHaveInput, receive(into: exchange) else { return armIfServing(exchange) }
      case .wait:
        guard exchange.readsWhileWaiting, client.mayHaveInput, receive(into: exchange) else {
          return armIfServing(exchange)
        }
      }
    }
    armIfServing(exchange)
  }

  func isServing(_ exchange: Exchange) -> Bool {
    if case .exchange(let current) = stage { return current === exchange }
    return false
  }

  /// Adds a record's plaintext to what was received; false when there was none or the peer is gone.
  private func receive(into exchange: Exchange) -> Bool {
    let result = loop.scratch.withBytes { bytes in
      let result = client.read(into: &bytes)
      if case .bytes(let count) = result { exchange.receive(bytes.span.extracting(0..<count), now: loop.now) }
      return result
    }
    switch result {
    case .bytes: return true
    case .wantsInput: return false
    case .wantsTurn:
      loop.noteMoved(self, isMuch: true)
      loop.queue(self)
      return false
    case .excessive(let excess):
      noteExcess(excess)
      finish()
      return false
    case .closed, .truncated, .failed:
      finish()
      return false
    }
  }

  // MARK: Endpoints

  private func route(_ head: RequestHead, _ exchange: Exchange) {
    if isOverLimit { return refuse(.limited(.connectionsPerAddress), closing: true) }
    if loop.memoryShortage() != nil {
      return refuse(Refusal(.overloaded, step: "memory"), closing: true, toHead: head.method == .head)
    }
    do throws(ForwardedFor.Malformed) {
      try readForwardedFor(head, exchange)
    } catch {
      return refuse(Refusal(.badRequest, step: error.rawValue), to: head)
    }
    if let devices = loop.shared.devices, let found = DeviceEndpoint.find(head) {
      return serve(found, of: devices, head, exchange)
    }
    switch Route(head, attests: loop.settings.attests, hasDevices: loop.shared.devices != nil) {
    case .health: health(for: head)
    case .challenge:
      if loop.shared.devices != nil { exchange.trace = TraceID(head, entropy: loop.shared.entropy) }
      challenge(for: head)
    case .body(let endpoint): expectBody(of: head, for: endpoint, exchange)
    case .upgrade:
      exchange.asked = .upgrade
      beginUpgrade(head, exchange)
    case .notFound: refuse(Refusal(.notFound, step: "path"), to: head)
    case .methodNotAllowed(let allow):
      refuse(Refusal(.methodNotAllowed, step: "method", allow: allow), to: head)
    }
  }

  private func health(for head: RequestHead) {
    if loop.isDraining || loop.shared.takesNobodyNew {
      return refuse(Refusal(.shuttingDown, step: "draining"), to: head)
    }
    respond(Response(.ok, json: #"{"\#(MemberName.status)":"ok"}"#), to: head)
  }

  private func challenge(for head: RequestHead) {
    if let wait = loop.shared.challengeRates.take(payer, loop.settings.challengeAllowance, now: loop.now) {
      return refuse(.limited(.challengeRate, retryAfter: wait), to: head)
    }
    let wish: ChallengeWish
    do throws(DeviceQuery.Malformed) {
      wish = try ChallengeWish(
        head.query, attests: loop.settings.attests, hasDevices: loop.shared.devices != nil)
    } catch {
      return refuse(Refusal(.badRequest, step: error.rawValue), to: head)
    }
    guard let challenge = issue(wish) else {
      return refuse(Refusal(.overloaded, step: "challenges_per_second"), to: head)
    }
    counters.challenges.add()
    let server = loop.shared.devices.map { #","\#(MemberName.serverID)":"\#($0.registry.server)""# } ?? ""
    respond(
      Response(
        .ok,
        json: #"{"\#(MemberName.nonce)":"\#(challenge.nonce.hex)","#
          + #""\#(MemberName.expires)":\#(challenge.expires.milliseconds)\#(server)}"#),
      to: head)
  }

  private func issue(_ wish: ChallengeWish) -> Challenge? {
    switch wish {
    case .scope(let scope): loop.shared.challenges.issue(loop: loop.index, for: scope)
    case .registration(let key):
      loop.shared.registerChallenges.issue(
        for: key, lifetime: loop.settings.limits.registerChallengeTTL)
    }
  }

  // MARK: Requests with a body

  /// Everything that can be refused without the body, then the body.
  func expectBody(of head: RequestHead, for endpoint: BodyEndpoint, _ exchange: Exchange) {
    if endpoint == .register { exchange.asked = .registration }
    if let refusal = refusalBeforeBody(of: head, for: endpoint) { return refuse(refusal, to: head) }
    let hasBody = exchange.hasReceived
    let id = RequestID(number: loop.nextRequestNumber())
    let body = IncomingBody(
      head, limit: loop.settings.limits.httpBodyBytes, charge: charge(for: endpoint, of: id))
    exchange.awaitBody(of: PendingRequest(id, endpoint, head, body: body, now: loop.now))
    if head.expectsContinue, !hasBody {
      let interim = Response.interimContinue
      if !client.tls.write(interim.span) { close() }
    }
  }

  /// Nothing is charged before it comes.
  private func charge(for endpoint: BodyEndpoint, of id: RequestID) -> BodyCharge {
    let (mailbox, token) = (loop.mailbox, token)
    let (part, owner) = endpoint.bodyPart
    return loop.shared.bodies.open(part, owner ?? .address(payer)) {
      mailbox.post(.answer(token, id, .bodyDropped))
    }
  }

  private func refuse(_ refusal: IncomingBody.Refusal, of request: PendingRequest) {
    if case .device = request.endpoint { loop.shared.devices?.registry.note(refusal: refusal.code) }
    refuse(Refusal(refusal.code, step: refusal.step), closing: true)
  }

  private func refusalBeforeBody(of head: RequestHead, for endpoint: BodyEndpoint) -> Refusal? {
    if loop.isDraining { return Refusal(.shuttingDown, step: "draining") }
    guard MediaType.isJSON(head.value("Content-Type")) else {
      return Refusal(.unsupportedMediaType, step: "content_type")
    }
    // Of one in chunks each size is judged when it comes.
    guard head.isChunked || head.bodyLength != nil else {
      return Refusal(.lengthRequired, step: "content_length")
    }
    if (head.bodyLength ?? 0) > loop.settings.limits.httpBodyBytes {
      return Refusal(.contentTooLarge, step: "content_length")
    }
    switch endpoint {
    case .register: return refusalBeforeRegistration()
    case .device, .standing: return nil
    }
  }

  /// The body is whole: from here on somebody else works on it, and `answered` is told.
  func work(on request: PendingRequest, _ body: [UInt8]) {
    let refusal: Refusal? =
      switch request.endpoint {
      case .register: register(body, for: request.id)
      case .device(let device): ask(device, body, for: request)
      // Nothing is left to be done before its answer.
      case .standing: nil
      }
    if let refusal { refuse(refusal, of: request) }
  }

  /// The work has reached a step that has so much time of its own.
  func workGoesOn(_ request: RequestID, until deadline: MonotonicTime) {
    guard case .exchange(let exchange) = stage, exchange.extend(request, until: deadline) else { return }
    arm(at: deadline)
  }

  /// The work is done.
  func answered(_ request: RequestID, _ answer: Answer) {
    guard case .exchange(let exchange) = stage else { return }
    if case .bodyDropped = answer {
      if let waiting = exchange.awaitsBody(of: request) { refuse(.dropped, of: waiting) }
      return
    }
    guard let pending = exchange.working(on: request) else { return }
    switch answer {
    case .found(let finding): found(finding, for: pending)
    case .registered(let keyID):
      if case .device(let request) = pending.endpoint { return attested(.appAttest(keyID), request, pending) }
      counters.registrations.add()
      exchange.asked = nil
      loop.shared.log.registered(peerName, keyID)
      respond(
        Response(.ok, json: #"{"\#(MemberName.registered)":true}"#), closing: pending.closesAfterAnswer)
    case .evidence(let evidence):
      if case .device(let request) = pending.endpoint { attested(evidence, request, pending) }
    case .refused(let found):
      guard pending.evidence != nil else { return refuse(found, closing: pending.closesAfterAnswer) }
      let refusal = found.ofEvidence
      evidenceFailed(refusal, pending)
      refuse(refusal, closing: pending.closesAfterAnswer)
    case .bodyDropped: fatalError("Connection: a body that was dropped is no answer to work")
    case .registry(let reply):
      switch pending.endpoint {
      case .device(let request): answered(reply, to: request, pending)
      case .standing: answered(reply, toUpgrade: pending)
      case .register: break
      }
    }
  }
}
