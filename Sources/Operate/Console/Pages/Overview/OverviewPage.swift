/// `/`: whether all is well, who plays, and how the last day was.
import PortcullisProtocol
import Time

struct OverviewPage: Sendable {
  var now: UnixTime
  var startedAt: UnixTime
  var waiting = Waiting()
  /// The worst first is not asked for: the page sorts them.
  var checks: [HealthCheck]
  var players: Players
  var lastHour: Period
  var lastDay: Period
  /// Those that were not zero in the last day.
  var refusals: [RefusalCount]
  var loops: [LoopLag]
  var store: StoreState
  var certificates: [CertificateEnd]
  var history: History
}

/// One of `/readyz?verbose`.
struct HealthCheck: Equatable, Sendable {
  /// Of a fixed set, such as `listening`.
  var name: String
  var standing: Standing
  /// For the operator; nil where there is nothing to be said.
  var detail: String?
}

/// Who is there at this moment.
struct Players: Equatable, Sendable {
  /// With a connection.
  var attached: Int
  /// Whose session waits for them to come back.
  var detached: Int
  var connections: Int
  var maximumConnections: Int
}

/// Counts over a time that ends now.
struct Period: Equatable, Sendable {
  var admissions: Int
  var registrations: Int
  var refusals: Int
  /// The most players at once.
  var mostPlayers: Int
  var bytesFromPlayers: UInt64
  var bytesFromGame: UInt64
}

struct RefusalCount: Equatable, Sendable {
  var code: RefusalCode
  var lastHour: Int
  var lastDay: Int
}

/// How long a turn of an event loop takes, in the last minute.
struct LoopLag: Equatable, Sendable {
  var loop: Int
  var sessions: Int
  var medianMicroseconds: Int
  var percentile99Microseconds: Int
  var maximumMicroseconds: Int
}

struct StoreState: Equatable, Sendable {
  enum Service: String, Sendable {
    case accepting
    case stalled
    case closed
  }

  var service: Service
  /// Why it is stalled.
  var reason: String?
  var keys: Int
  var revokedKeys: Int
  var journalBytes: UInt64
  /// The mean of all commits since the start; nil without one.
  var commitMicroseconds: Int?
  var lastSnapshotAt: UnixTime?
}

struct CertificateEnd: Equatable, Sendable {
  /// Which one: the gate's own, the client CA's, a root.
  var name: String
  var endsAt: UnixTime
}

/// The last day, minute by minute, and the one before it.
struct History: Sendable {
  static let minutes = 1440

  struct Minute: Equatable, Sendable {
    /// The most at once.
    var players: Int
    var admissions: Int
    var refusals: Int
    /// Of all loops, the slowest turn's; the 99th percentile.
    var lagMicroseconds: Int
    var bytes: UInt64
    /// The worst of what its checks said; good where nobody knows any more.
    var standing = Standing.good
  }

  /// How often in each of `points` a code was told; nil where the gate did not run.
  struct Code: Equatable, Sendable {
    var code: RefusalCode
    var minutes: [Int?]
  }

  /// Oldest first, the running one last, at most `minutes`; nil where the gate did not run.
  var points: [Minute?]
  /// Each a day before the point at the same distance from the end; empty where none is known.
  var dayBefore: [Minute?] = []
  /// When the last point's minute began.
  var end: UnixTime
  /// When the gate was started, within the time that `points` cover.
  var starts: [UnixTime]
  /// Those that were told most, the commonest first, three at most.
  var commonest: [Code] = []
}
