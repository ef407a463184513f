/// A request with a body, from its head to its answer.
internal import Addresses
internal import HTTPWire
internal import Registry
internal import System

/// Names a request among those of its connection, so that a late answer finds the one it is for, or nothing.
struct RequestID: Hashable, Sendable {
  fileprivate let number: UInt64
}

/// Its body counts against what all may have in flight together, until it is answered.
final class PendingRequest {
  let id: RequestID
  let endpoint: BodyEndpoint
  let length: Int
  let startedAt: MonotonicTime
  /// The peer asked for the connection to be closed behind the answer.
  let closesAfterAnswer: Bool
  /// The registry has it as a long poll.
  var poll: RequestHandle?
  /// Its evidence waits for the keys that it has to name.
  var attests: AttestForm?
  /// Its evidence waits for the registry's word.
  var evidenceToJudge: EvidenceWork?
  /// Its challenge, spent while nothing has come of it yet: a refusal for want of room or time gives it back.
  var spent: SpentNonce?
  /// Its evidence is being judged.
  var evidence: EvidenceWork?
  private let bodies: BodyBudget
  private let payer: IPAddress

  /// Nil when all bodies in flight together, or those of this payer, would be too many.
  static func reserve(
    _ number: UInt64, _ endpoint: BodyEndpoint, _ head: RequestHead, length: Int, bodies: BodyBudget,
    payer: IPAddress, now: MonotonicTime
  ) -> PendingRequest? {
    guard bodies.reserve(length, for: payer) else { return nil }
    return PendingRequest(
      id: RequestID(number: number), endpoint: endpoint, length: length, startedAt: now,
      closesAfterAnswer: !head.keepsAlive, bodies: bodies, payer: payer)
  }

  private init(
    id: RequestID, endpoint: BodyEndpoint, length: Int, startedAt: MonotonicTime, closesAfterAnswer: Bool,
    bodies: BodyBudget, payer: IPAddress
  ) {
    self.id = id
    self.endpoint = endpoint
    self.length = length
    self.startedAt = startedAt
    self.closesAfterAnswer = closesAfterAnswer
    self.bodies = bodies
    self.payer = payer
  }

  deinit {
    bodies.release(length, for: payer)
  }
}
