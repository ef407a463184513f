/// `/refusals`: the last thousand, with what to do. Filtered by the query's `code` and `step`, and gone on with by `after`.
package import PortcullisProtocol
package import System

package struct RefusalsPage: Sendable {
  package struct Filter: Equatable, Sendable {
    package var code: RefusalCode?
    /// Of the log's words; empty for all.
    package var step: String

    package init(code: RefusalCode? = nil, step: String) {
      self.code = code
      self.step = step
    }
  }

  package var filter: Filter
  /// All that are kept, by code and step, the most frequent first.
  package var groups: [RefusalGroup]
  /// The latest first.
  package var rows: [RefusalRow]
  package var end: ListEnd

  package init(filter: Filter, groups: [RefusalGroup], rows: [RefusalRow], end: ListEnd) {
    self.filter = filter
    self.groups = groups
    self.rows = rows
    self.end = end
  }
}

package struct RefusalGroup: Equatable, Sendable {
  package var code: RefusalCode
  /// The rule that was broken, as the log names it.
  package var step: String?
  package var count: Int
  package var lastAt: UnixTime

  package init(code: RefusalCode, step: String? = nil, count: Int, lastAt: UnixTime) {
    self.code = code
    self.step = step
    self.count = count
    self.lastAt = lastAt
  }
}

package struct RefusalRow: Equatable, Sendable {
  package var at: UnixTime
  package var code: RefusalCode
  package var step: String?
  /// Where from.
  package var source: String
  /// What was asked for, such as `/attest/register`.
  package var path: String?
  /// Base64, whole, where the peer has said it.
  package var keyID: String?
  package var connection: String?

  package init(
    at: UnixTime, code: RefusalCode, step: String? = nil, source: String, path: String? = nil,
    keyID: String? = nil, connection: String? = nil
  ) {
    self.at = at
    self.code = code
    self.step = step
    self.source = source
    self.path = path
    self.keyID = keyID
    self.connection = connection
  }
}
