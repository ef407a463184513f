/// Answers to requests: what becomes of the connection after them, and of requests that take too long.
internal import Admission
internal import Configuration
internal import HTTPWire
internal import PortcullisProtocol
internal import Requests
internal import Scheduling
internal import System
internal import Telemetry
internal import Time
internal import TLS
internal import Upstream

extension Connection {
  // MARK: Answers

  func respond(_ response: Response, to head: RequestHead) {
    respond(response, closing: !head.keepsAlive || head.isChunked, bodyLeft: head.bodyLength ?? 0)
  }

  /// Refuses `head`. The connection lives on when its framing allows it: a body with a length is read past, unless the peer
  /// waits for leave to send it, which leaves open whether it will.
  func refuse(_ refusal: Refusal, to head: RequestHead) {
    let body = head.bodyLength ?? 0
    let isTooLong = body > loop.settings.limits.httpBodyBytes
    refuse(
      refusal, closing: !head.keepsAlive || isTooLong || head.expectsContinue || head.isChunked,
      toHead: head.method == .head, bodyLeft: body)
  }

  func refuse(_ refusal: Refusal, closing: Bool, toHead: Bool = false, bodyLeft: Int = 0) {
    guard case .exchange(let exchange) = stage else { return }
    counters.refused(refusal.code)
    if let limit = refusal.limit { counters.limited(limit) }
    counters.noteRefused(exchange.asked)
    loop.shared.log.refused(peerName, refusal)
    loop.shared.remember(refusal, of: self)
    // Before the answer: its connection may end while that is written.
    exchange.asked = nil
    let isLast = exchange.countRefusal(closing: closing)
    let response = refusal.response(
      tellsStep: loop.settings.tellsSteps || exchange.isOfService, provesByDevice: exchange.provesByDevice)
    respond(response, closing: isLast, toHead: toHead, bodyLeft: bodyLeft)
  }

  func respond(_ response: Response, closing: Bool, toHead: Bool = false, bodyLeft: Int = 0) {
    guard case .exchange(let exchange) = stage else { return }
    if exchange.endPoll() { loop.pendingAgain(self) }
    var response = response
    if let trace = exchange.trace { response.add(HeaderName.trace, trace.text) }
    let isLast = closing || loop.isDraining
    let bytes = response.encoded(
      closing: isLast, toHead: toHead, date: loop.date.text(at: loop.now, clock: loop.shared.clock))
    guard client.tls.write(bytes.span) else { return close() }
    exchange.answered(isLast: isLast, bodyLeft: bodyLeft, now: loop.now)
    if isLast { return finish() }
    // Back from other work: what was pipelined after the request has its turn now.
    loop.queue(self)
  }

  // MARK: Deadlines

  func armIfServing(_ exchange: Exchange) {
    guard isServing(exchange) else { return }
    if !client.unsent.isEmpty {
      arm(at: loop.now + loop.settings.limits.writeStallTimeout)
    } else if let deadline = exchange.deadline(limits: loop.settings.limits) {
      arm(at: deadline)
    }
    if let since = clientStall.since {
      arm(at: min(deadline, since + loop.settings.limits.writeStallTimeout))
    }
  }

  func exchangeExpired(_ exchange: Exchange) {
    switch exchange.expired(isBlocked: !client.unsent.isEmpty || isClientStalled) {
    case .close: close()
    case .finish: finish()
    case .refuse(let code, let step):
      abandon(exchange)
      refuse(Refusal(code, step: step), closing: true)
    }
  }
}
