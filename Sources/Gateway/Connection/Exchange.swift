/// The requests of one connection before it becomes a session: bytes not parsed yet, and where the parser stands.
internal import Addresses
internal import Bytes
internal import HTTPWire
internal import System

final class Exchange {
  enum Phase {
    /// A head is awaited; `since` is when its first byte came.
    case head(since: MonotonicTime?)
    /// The body of a registration is on its way.
    case body(RegistrationRequest)
    /// The body of a request that is answered already.
    case discarding(Int)
    /// A registration is being verified or made durable.
    case registering(RegistrationRequest)
    /// The last answer is out: nothing more is read.
    case ended
  }

  /// A peer that is refused so often has its connection closed (SPEC §3).
  static let refusalLimit = 8

  var phase = Phase.head(since: nil)
  var received: [UInt8] = []
  var parser: RequestParser
  /// Whom `X-Forwarded-For` of the request being worked on names.
  var client: Endpoint?
  var refusals = 0
  /// Whether a request was answered: an idle connection may then be closed without a word.
  var hasAnswered = false

  init(limits: RequestParser.Limits) {
    parser = RequestParser(limits: limits)
  }

  func drop(_ count: Int) {
    if count == received.count { received = [] } else { received.removeFirst(count) }
  }
}

/// A registration on its way in; its body counts against what all may have in flight together.
final class RegistrationRequest {
  let length: Int
  let startedAt: MonotonicTime
  private let bodies: BodyBudget

  init(length: Int, startedAt: MonotonicTime, bodies: BodyBudget) {
    self.length = length
    self.startedAt = startedAt
    self.bodies = bodies
  }

  deinit {
    bodies.release(length)
  }
}
