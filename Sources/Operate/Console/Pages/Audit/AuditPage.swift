/// `/audit`: the chain of what was done. Searched by the query's `event`, `about` (a device, a subject, an actor) and `day`
/// (as `2026-11-23`), gone on with by `after`, verified by `verify=1`, and downloaded from `/audit/export`.
import Time

struct AuditPage: Sendable {
  struct Filter: Equatable, Sendable {
    var event: String
    var about: String
    var day: String
  }

  enum Verification: Equatable, Sendable {
    case notAsked
    case holds(rows: Int)
    /// The first row that does not fit to what is before it, and what is wrong.
    case broken(sequence: Int, reason: String)
    /// It could not be read, or another search was going on.
    case failed(reason: String)
  }

  var filter: Filter
  var problems: [FieldProblem] = []
  /// Words that may be chosen.
  var events: [String]
  /// The latest first.
  var rows: [AuditLine]
  var end: ListEnd
  var verification: Verification
}

struct AuditLine: Sendable {
  var sequence: Int
  var at: UnixTime
  /// A word in the past tense.
  var event: String
  /// The system user or the token's name, where a person did it.
  var actor: String?
  /// The device that did it, where no operator did.
  var deviceID: String?
  var deviceName: String?
  /// The service that did it, by its name, where neither an operator nor a device did.
  var service: String?
  /// What else the row says, in its order.
  var members: [(name: String, value: String)]
}
