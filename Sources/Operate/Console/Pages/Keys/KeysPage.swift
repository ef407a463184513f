/// `/keys`: App Attest keys. Found by the query's `text` (the key's beginning, or its pseudonym), `app`, `state`, `since`
/// and `until` (days, as `2026-11-23`, of the last use), and gone on with by `after`.
package import System

package struct KeysPage: Sendable {
  package struct Filter: Equatable, Sendable {
    package var text: String
    package var app: String
    package var state: KeyRow.State?
    package var since: String
    package var until: String

    package init(text: String, app: String, state: KeyRow.State? = nil, since: String, until: String) {
      self.text = text
      self.app = app
      self.state = state
      self.since = since
      self.until = until
    }
  }

  package var filter: Filter
  /// What of the filter cannot be read; then `rows` is empty.
  package var problems: [FieldProblem]
  /// App IDs that may be chosen.
  package var apps: [String]
  package var rows: [KeyRow]
  package var end: ListEnd

  package init(filter: Filter, problems: [FieldProblem] = [], apps: [String], rows: [KeyRow], end: ListEnd) {
    self.filter = filter
    self.problems = problems
    self.apps = apps
    self.rows = rows
    self.end = end
  }
}

package struct KeyRow: Equatable, Sendable {
  package enum State: String, CaseIterable, Sendable {
    case active
    case revoked
    /// From another gate, and good for a while.
    case imported
    /// Imported, and its time is over.
    case expired
  }

  /// Base64, whole.
  package var id: String
  package var state: State
  package var pseudonym: String?
  package var appID: String?
  /// `production`, `development` or `unknown`.
  package var environment: String
  package var bundleVersion: String?
  package var validationCategory: Int?
  package var registeredAt: UnixTime
  package var lastUsedAt: UnixTime?
  package var signCount: Int
  package var revokedAt: UnixTime?
  package var revokedReason: String?
  /// The gate that it was imported from, such as `goldfinch`.
  package var importedFrom: String?
  package var goodUntil: UnixTime?

  package init(
    id: String, state: State, pseudonym: String? = nil, appID: String? = nil, environment: String,
    bundleVersion: String? = nil, validationCategory: Int? = nil, registeredAt: UnixTime,
    lastUsedAt: UnixTime? = nil, signCount: Int, revokedAt: UnixTime? = nil, revokedReason: String? = nil,
    importedFrom: String? = nil, goodUntil: UnixTime? = nil
  ) {
    self.id = id
    self.state = state
    self.pseudonym = pseudonym
    self.appID = appID
    self.environment = environment
    self.bundleVersion = bundleVersion
    self.validationCategory = validationCategory
    self.registeredAt = registeredAt
    self.lastUsedAt = lastUsedAt
    self.signCount = signCount
    self.revokedAt = revokedAt
    self.revokedReason = revokedReason
    self.importedFrom = importedFrom
    self.goodUntil = goodUntil
  }
}

/// `/keys/<id>`; the id may be a beginning of eight characters that one key alone has, in base64url.
package struct KeyPage: Sendable {
  package var key: KeyRow
  /// Those that it has now.
  package var sessions: [SessionRow]
  /// The device that it vouches for.
  package var deviceID: String?
  package var deviceName: String?

  package init(key: KeyRow, sessions: [SessionRow], deviceID: String? = nil, deviceName: String? = nil) {
    self.key = key
    self.sessions = sessions
    self.deviceID = deviceID
    self.deviceName = deviceName
  }
}

/// `/keys/<id>/revoke`: asks why, and posts to itself with `reason`.
package struct RevokeKeyPage: Sendable {
  package static let longestReason = 256

  package var key: KeyRow
  /// Sessions that end with it.
  package var sessions: Int
  /// As it was sent.
  package var reason: String
  package var problems: [FieldProblem]

  package init(key: KeyRow, sessions: Int, reason: String, problems: [FieldProblem] = []) {
    self.key = key
    self.sessions = sessions
    self.reason = reason
    self.problems = problems
  }
}
