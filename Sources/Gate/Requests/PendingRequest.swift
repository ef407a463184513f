/// A request that is worked on beside the loop, from its head to its answer.
package import HTTPWire
package import KeyStore
package import Registry
package import Time

/// Names a request among those of its connection, so that a late answer finds the one it is for, or nothing.
package struct RequestID: Hashable, Sendable {
  package let number: UInt64

  package init(number: UInt64) {
    self.number = number
  }
}

package final class PendingRequest {
  package let id: RequestID
  package let endpoint: BodyEndpoint
  package let startedAt: MonotonicTime
  /// The peer asked for the connection to be closed after the answer.
  package let closesAfterAnswer: Bool
  /// Nil where the request is whole with its head. It is charged until the request is answered.
  package let body: IncomingBody?
  /// The registry has it as a long poll.
  package var poll: RequestHandle?
  /// Its evidence waits for the keys that it has to name.
  package var attests: AttestForm?
  /// Its evidence waits for the registry's word.
  package var evidenceToJudge: EvidenceWork?
  /// Its challenge, taken while nothing has come of it yet: a refusal for want of room or time gives it back.
  package var spent: Unspent?
  /// Its evidence is being judged.
  package var evidence: EvidenceWork?

  package init(
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
