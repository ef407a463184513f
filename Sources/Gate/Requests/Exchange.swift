/// The requests of one connection before it becomes a session: bytes not parsed yet, where the parser stands, and what is to
/// be done next (RFC 9112 §9, docs/protocol.md, "HTTP").
///
/// Pure: it is given bytes, answers and the time, and says what to do. The connection reads, routes, answers and arms.
package import Addresses
internal import Bytes
package import Configuration
internal import DeviceWire
package import HTTPWire
package import PortcullisProtocol
package import Registry
internal import System
package import Telemetry
package import Time

package final class Exchange {
  package enum Phase {
    /// A head is awaited; `since` is when its first byte came.
    case head(since: MonotonicTime?)
    /// The body of a request is on its way.
    case body(PendingRequest)
    /// A request is being worked on beside the loop.
    case working(PendingRequest, until: MonotonicTime)
    /// The body of a request that is answered already.
    case discarding(left: Int, since: MonotonicTime)
    /// The last answer is out: nothing more is read.
    case ended
  }

  /// What is to be done next.
  package enum Step {
    /// More bytes, if there are any to be had.
    case read
    case serve(RequestHead)
    case work(PendingRequest, body: [UInt8])
    case refuse(RequestRefusal)
    /// The body of this request cannot be had: the connection ends with the answer.
    case refuseBody(PendingRequest, IncomingBody.Refusal)
    /// An answer is awaited, or the last one is out.
    case wait
  }

  /// What the deadline's passing means.
  package enum Expiry: Equatable {
    case refuse(RefusalCode, step: String)
    /// Nobody is left waiting for an answer.
    case finish
    /// The peer takes nothing.
    case close
  }

  /// A peer that is refused so often has its connection closed (docs/protocol.md, "HTTP").
  static let refusalLimit = 8

  package private(set) var phase = Phase.head(since: nil)
  private var received: [UInt8] = []
  private var parser: RequestParser
  private let limits: RequestParser.Limits
  /// Whom `X-Forwarded-For` of the request being worked on names.
  package var client: Endpoint?
  /// What the request being worked on is counted as; nil for others.
  package var asked: CountedRequest?
  /// Of a request about devices, until it is answered.
  package var trace: TraceID?
  /// The request being worked on has come with the token of a service.
  package var isOfService = false
  /// It is proved by a device's key.
  package var provesByDevice = false
  /// By its own words the device that asks; nobody has proved it.
  package var namedDevice: DeviceID?
  private var refusals = 0
  /// Since when the next request is awaited; nil before any answer. Bytes that come do not move it, so that a byte now
  /// and then keeps no connection open.
  private var idleSince: MonotonicTime?

  package init(limits: RequestParser.Limits) {
    self.limits = limits
    parser = RequestParser(limits: limits)
  }

  /// Bytes have come after the request that is being served.
  package var hasReceived: Bool { !received.isEmpty }

  package var isAwaitingHead: Bool {
    if case .head = phase { return true }
    return false
  }

  // MARK: Bytes in

  package func receive(_ bytes: Span<UInt8>, now: MonotonicTime) {
    received.append(copying: bytes)
    if case .head(since: nil) = phase { phase = .head(since: now) }
  }

  /// One step of what was received.
  package func next(now: MonotonicTime) -> Step {
    switch phase {
    case .head: return received.isEmpty ? .read : readHead()
    case .body(let request): return readBody(of: request, now: now)
    case .discarding(let left, let since):
      let count = min(left, received.count)
      drop(count)
      if count < left {
        phase = .discarding(left: left - count, since: since)
        return .read
      }
      expectHead(now: now)
      return next(now: now)
    case .working, .ended: return .wait
    }
  }

  private func readHead() -> Step {
    switch parser.parse(received.span) {
    case .needMore: return .read
    case .head(let head, let consumed):
      drop(consumed)
      return .serve(head)
    case .refused(let refusal):
      parser = RequestParser(limits: limits)
      if let consumed = refusal.consumed { drop(consumed) }
      return .refuse(refusal)
    }
  }

  private func readBody(of request: PendingRequest, now: MonotonicTime) -> Step {
    switch request.body?.take(received.span, now: now) {
    case .needMore(let consumed)?:
      drop(consumed)
      return .read
    case .refused(let refusal)?: return .refuseBody(request, refusal)
    case .whole(let body, let consumed)?:
      drop(consumed)
      return work(on: request, body)
    case nil: return work(on: request, [])
    }
  }

  private func work(on request: PendingRequest, _ body: [UInt8]) -> Step {
    phase = .working(request, until: .never)
    return .work(request, body: body)
  }

  // MARK: Answers out

  /// The head that was served is one of a request whose body is wanted.
  package func awaitBody(of request: PendingRequest) {
    phase = .body(request)
  }

  /// The head that was served is all of a request.
  package func work(on request: PendingRequest) {
    phase = .working(request, until: .never)
  }

  /// A long poll is answered.
  /// - Returns: whether it was one.
  package func endPoll() -> Bool {
    guard case .working(let request, _) = phase, request.poll != nil else { return false }
    request.poll = nil
    return true
  }

  /// The long poll that is worked on.
  package var poll: RequestHandle? {
    if case .working(let request, _) = phase { return request.poll }
    return nil
  }

  /// While it waits, more is read, so that the peer's end is noticed; but not more than a request's head takes.
  package var readsWhileWaiting: Bool { poll != nil && received.count < limits.headBytes }

  /// The request that is worked on has until then; false when it is not, or not any more.
  package func extend(_ request: RequestID, until deadline: MonotonicTime) -> Bool {
    guard case .working(let working, _) = phase, working.id == request else { return false }
    phase = .working(working, until: deadline)
    return true
  }

  /// The request that is being worked on, if it is this one.
  package func working(on request: RequestID) -> PendingRequest? {
    guard case .working(let working, _) = phase, working.id == request else { return nil }
    return working
  }

  /// The request whose body is on its way, if it is this one.
  package func awaitsBody(of request: RequestID) -> PendingRequest? {
    guard case .body(let waiting) = phase, waiting.id == request else { return nil }
    return waiting
  }

  /// Whether the answer about to be given is the connection's last: when the peer was refused too often, or says so.
  package func countRefusal(closing: Bool) -> Bool {
    refusals += 1
    return closing || refusals >= Self.refusalLimit
  }

  /// An answer has gone out. What is left of its request's body is read past.
  package func answered(isLast: Bool, bodyLeft: Int, now: MonotonicTime) {
    asked = nil
    if isLast {
      phase = .ended
    } else if bodyLeft > 0 {
      forgetRequest()
      phase = .discarding(left: bodyLeft, since: now)
    } else {
      expectHead(now: now)
    }
  }

  private func expectHead(now: MonotonicTime) {
    forgetRequest()
    idleSince = now
    phase = .head(since: received.isEmpty ? nil : now)
  }

  private func forgetRequest() {
    client = nil
    trace = nil
    isOfService = false
    provesByDevice = false
    namedDevice = nil
  }

  private func drop(_ count: Int) {
    if count == received.count { received = [] } else { received.removeFirst(count) }
  }

  // MARK: Time

  /// Until when what is awaited has to come; nil when the deadline that stands stays.
  package func deadline(limits: Limits) -> MonotonicTime? {
    switch phase {
    case .head(let since?): since + limits.httpHeadTimeout
    // The first head has the deadline that was set when the handshake ended.
    case .head(since: nil): idleSince.map { $0 + limits.httpIdleTimeout }
    case .body(let request): request.startedAt + limits.httpBodyTimeout
    case .discarding(_, let since): since + limits.httpBodyTimeout
    case .working(_, let until): until == .never ? nil : until
    case .ended: nil
    }
  }

  /// - Parameter isBlocked: an answer still waits to be taken by the peer.
  package func expired(isBlocked: Bool) -> Expiry {
    if isBlocked { return .close }
    switch phase {
    case .head(since: nil), .ended, .discarding: return .finish
    case .head: return .refuse(.requestTimeout, step: "head_timeout")
    case .body: return .refuse(.requestTimeout, step: "body_timeout")
    case .working(let request, _): return .refuse(.storeUnavailable, step: request.endpoint.timeoutStep)
    }
  }
}

extension BodyEndpoint {
  fileprivate var timeoutStep: String {
    switch self {
    case .register: "registration_timeout"
    case .device, .standing: "registry_timeout"
    }
  }
}
