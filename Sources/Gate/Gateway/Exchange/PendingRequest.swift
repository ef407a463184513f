/// A request that is worked on beside the loop, from its head to its answer.
internal import HTTPWire
internal import Registry
internal import System

/// Names a request among those of its connection, so that a late answer finds the one it is for, or nothing.
struct RequestID: Hashable, Sendable {
  let number: UInt64
}

final class PendingRequest {
  let id: RequestID
  let endpoint: BodyEndpoint
  let startedAt: MonotonicTime
  /// The peer asked for the connection to be closed behind the answer.
  let closesAfterAnswer: Bool
  /// Nil where the request is whole with its head. It is charged until the request is answered.
  let body: IncomingBody?
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

  init(
    _ id: RequestID, _ endpoint: BodyEndpoint, _ head: RequestHead, body: IncomingBody? = nil,
    now: MonotonicTime
  ) {
    self.id = id
    self.endpoint = endpoint
    self.body = body
    startedAt = now
    closesAfterAnswer = !head.keepsAlive
  }
}
