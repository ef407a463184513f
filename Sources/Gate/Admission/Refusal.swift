/// A decision against a peer: what it is told, and what the log is told.
package import Bytes
package import HTTPWire
package import PortcullisProtocol
package import Registry
package import Time

package struct Refusal: Error, Equatable {
  package let code: RefusalCode
  /// The precise rule or step, for the log and for developers.
  package let step: String
  package let keyID: KeyIdentifier?
  /// The member of the body that is wrong.
  package let field: String?
  /// What the peer is told instead of the code's own sentence.
  private let sentence: String?
  /// Which of several chains of certificates it is about, by its name in the request.
  package let chain: String?
  private let retryAfter: Duration?
  private let allow: String
  /// The gate's own, for a peer whose clock is too far from it.
  private let time: UnixTime?
  /// The limit that was reached: set where `code` is `rateLimited`, and nowhere else.
  package let limit: RateLimit?

  package init(
    _ code: RefusalCode, step: String, keyID: KeyIdentifier? = nil, retryAfter: Duration? = nil,
    allow: String = "GET", time: UnixTime? = nil, chain: String? = nil, sentence: String? = nil,
    field: String? = nil
  ) {
    assert(code != .rateLimited, "Refusal.limited names the limit")
    self.init(
      code, step: step, keyID: keyID, retryAfter: retryAfter, allow: allow, time: time, chain: chain,
      sentence: sentence, field: field, limit: nil)
  }

  private init(
    _ code: RefusalCode, step: String, keyID: KeyIdentifier?, retryAfter: Duration?, allow: String,
    time: UnixTime?, chain: String?, sentence: String?, field: String?, limit: RateLimit?
  ) {
    self.field = field
    self.code = code
    self.step = step
    self.keyID = keyID
    self.chain = chain
    self.sentence = sentence
    self.retryAfter = retryAfter
    self.allow = allow
    self.time = time
    self.limit = limit
  }

  /// A limit is reached.
  /// - Parameter step: the log's word, where it is not the limit's own.
  package static func limited(_ limit: RateLimit, step: String? = nil, retryAfter: Duration? = nil) -> Refusal
  {
    Refusal(
      .rateLimited, step: step ?? limit.word, keyID: nil, retryAfter: retryAfter, allow: "GET", time: nil,
      chain: nil, sentence: nil, field: nil, limit: limit)
  }

  /// The registry's decision, whose limits are its own.
  package init(_ refusal: RegistryRefusal) {
    self.init(
      refusal.code, step: refusal.step, keyID: nil, retryAfter: refusal.retryAfter, allow: "GET",
      time: refusal.time, chain: nil, sentence: nil, field: nil,
      limit: refusal.code == .rateLimited ? .registry : nil)
  }

  /// - Parameters:
  ///   - tellsStep: the caller is a service, or this is no production: a developer reads the answer.
  ///   - provesByDevice: what is asked is proved by a device's key, and not by App Attest.
  package func response(tellsStep: Bool, provesByDevice: Bool) -> Response {
    // Rounded up: a client that comes back then is not refused again for a fraction of a second.
    let seconds =
      retryAfter.map { max(1, Int(clamping: ($0 + .nanoseconds(999_999_999)).components.seconds)) } ?? 1
    return .refusal(
      code, retryAfter: seconds, allow: allow, time: time?.seconds, sentence: sentence,
      step: tellsStep ? step : nil, field: tellsStep ? field : nil, provesByDevice: provesByDevice)
  }
}
