/// `/audit`: the chain of what was done. Searched by the query's `event`, `about` (a device, a subject, an actor) and `day`
/// (as `2026-11-23`), gone on with by `after`, verified by `verify=1`, and downloaded from `/audit/export`.
package import System

package struct AuditPage: Sendable {
  package struct Filter: Equatable, Sendable {
    package var event: String
    package var about: String
    package var day: String

    package init(event: String, about: String, day: String) {
      self.event = event
      self.about = about
      self.day = day
    }
  }

  package enum Verification: Equatable, Sendable {
    case notAsked
    case holds(rows: Int)
    /// The first row that does not fit to what is before it, and what is wrong.
    case broken(sequence: Int, reason: String)
    /// It could not be read, or another search was going on.
    case failed(reason: String)
  }

  package var filter: Filter
  package var problems: [FieldProblem]
  /// Words that may be chosen.
  package var events: [String]
  /// The latest first.
  package var rows: [AuditRow]
  package var end: ListEnd
  package var verification: Verification

  package init(
    filter: Filter, problems: [FieldProblem] = [], events: [String], rows: [AuditRow], end: ListEnd,
    verification: Verification
  ) {
    self.filter = filter
    self.problems = problems
    self.events = events
    self.rows = rows
    self.end = end
    self.verification = verification
  }
}

package struct AuditRow: Sendable {
  package var sequence: Int
  package var at: UnixTime
  /// A word in the past tense.
  package var event: String
  /// The system user or the token's name, where a person did it.
  package var actor: String?
  /// What else the row says, in its order.
  package var members: [(name: String, value: String)]

  package init(
    sequence: Int, at: UnixTime, event: String, actor: String? = nil,
    members: [(name: String, value: String)]
  ) {
    self.sequence = sequence
    self.at = at
    self.event = event
    self.actor = actor
    self.members = members
  }
}
