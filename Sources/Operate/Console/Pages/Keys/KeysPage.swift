/// `/keys`: App Attest keys. Found by the query's `text` (the key's beginning, or its pseudonym), `app`, `state`, `since`
/// and `until` (days, as `2026-11-23`, of the last use), and gone on with by `after`.
import Time

struct KeysPage: Sendable {
  struct Filter: Equatable, Sendable {
    var text: String
    var app: String
    var state: KeyRow.State?
    var since: String
    var until: String
  }

  var filter: Filter
  /// What of the filter cannot be read; then `rows` is empty.
  var problems: [FieldProblem] = []
  /// App IDs that may be chosen.
  var apps: [String]
  var rows: [KeyRow]
  var end: ListEnd
}

struct KeyRow: Equatable, Sendable {
  enum State: String, CaseIterable, Sendable {
    case active
    case revoked
    /// From another gate, and good for a while.
    case imported
    /// Imported, and its time is over.
    case expired
  }

  /// Base64, whole.
  var id: String
  var state: State
  var pseudonym: String?
  var appID: String?
  /// `production`, `development` or `unknown`.
  var environment: String
  var bundleVersion: String?
  var validationCategory: Int?
  var registeredAt: UnixTime
  var lastUsedAt: UnixTime?
  var signCount: Int
  var revokedAt: UnixTime?
  var revokedReason: String?
  /// The gate that it was imported from, such as `goldfinch`.
  var importedFrom: String?
  var goodUntil: UnixTime?
}

/// `/keys/<id>`; the id may be a beginning of eight characters that one key alone has, in base64url.
struct KeyPage: Sendable {
  var key: KeyRow
  /// Those that it has now.
  var sessions: [SessionRow]
  /// The device that it vouches for.
  var deviceID: String?
  var deviceName: String?
  /// The latest first.
  var refusals: [RefusalRow]
}

/// `/keys/<id>/revoke`: asks why, and posts to itself with `reason`.
struct RevokeKeyPage: Sendable {
  static let longestReason = 256

  var key: KeyRow
  /// Sessions that end with it.
  var sessions: Int
  /// As it was sent.
  var reason: String
  var problems: [FieldProblem] = []
}
