/// `/sessions`: who plays. Filtered by the query's `text`, `state` and `credential`, and gone on with by `after`.
import Time

struct SessionsPage: Sendable {
  struct Filter: Equatable, Sendable {
    /// Part of a key, a pseudonym, a device's name or an address; empty for all.
    var text: String
    var state: SessionRow.State?
    var credential: SessionRow.Credential?
  }

  var filter: Filter
  /// The longest first.
  var rows: [SessionRow]
  var end: ListEnd
  /// Whether who looks at it may end one.
  var mayEnd = false
}

struct SessionRow: Equatable, Sendable {
  enum State: String, CaseIterable, Sendable {
    case attached
    /// Its player has no connection, and may come back.
    case detached
  }

  enum Credential: String, CaseIterable, Sendable {
    case assertion
    case certificate = "client_certificate"
    /// A device by a key of its own.
    case device
    case none
  }

  var number: Int
  var state: State
  /// Since when it is in this state.
  var stateSince: UnixTime
  var beganAt: UnixTime
  var credential: Credential
  /// Base64, whole.
  var keyID: String?
  var pseudonym: String?
  var deviceID: String?
  var deviceName: String?
  /// Of the client certificate: a peer's words.
  var subject: String?
  /// Address and port, or where a proxy says that it came from.
  var source: String
  /// The connection's name, as the log has it; nil for a detached one.
  var connection: String?
  var subprotocol: String?
  /// It outlives the gate's process.
  var isKept: Bool
  /// Bytes that wait for the player.
  var bufferedBytes: Int
  var bytesFromPlayer: UInt64
  var bytesFromGame: UInt64
}

/// `/sessions/<number>`.
struct SessionPage: Sendable {
  var session: SessionRow
}

/// `/sessions/<number>/end`: asks whether it is meant, and posts to itself.
struct EndSessionPage: Sendable {
  var session: SessionRow
  /// Why the last try has not worked; shown above the button.
  var problems: [FieldProblem] = []
}
