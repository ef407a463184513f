/// `/`: whether all is well, who plays, and how the last day was.
package import PortcullisProtocol
package import System

package struct OverviewPage: Sendable {
  package var now: UnixTime
  package var startedAt: UnixTime
  /// The worst first is not asked for: the page sorts them.
  package var checks: [HealthCheck]
  package var players: Players
  package var lastHour: Period
  package var lastDay: Period
  /// Those that were not zero in the last day.
  package var refusals: [RefusalCount]
  package var loops: [LoopLag]
  package var store: StoreState
  package var certificates: [CertificateEnd]
  package var history: History

  package init(
    now: UnixTime, startedAt: UnixTime, checks: [HealthCheck], players: Players, lastHour: Period,
    lastDay: Period, refusals: [RefusalCount], loops: [LoopLag], store: StoreState,
    certificates: [CertificateEnd], history: History
  ) {
    self.now = now
    self.startedAt = startedAt
    self.checks = checks
    self.players = players
    self.lastHour = lastHour
    self.lastDay = lastDay
    self.refusals = refusals
    self.loops = loops
    self.store = store
    self.certificates = certificates
    self.history = history
  }
}

/// One of `/readyz?verbose`.
package struct HealthCheck: Equatable, Sendable {
  /// Of a fixed set, such as `listening`.
  package var name: String
  package var standing: Standing
  /// For the operator; nil where there is nothing to be said.
  package var detail: String?

  package init(name: String, standing: Standing, detail: String? = nil) {
    self.name = name
    self.standing = standing
    self.detail = detail
  }
}

/// Who is there at this moment.
package struct Players: Equatable, Sendable {
  /// With a connection.
  package var attached: Int
  /// Whose session waits for them to come back.
  package var detached: Int
  package var connections: Int
  package var maximumConnections: Int

  package init(attached: Int, detached: Int, connections: Int, maximumConnections: Int) {
    self.attached = attached
    self.detached = detached
    self.connections = connections
    self.maximumConnections = maximumConnections
  }
}

/// Counts over a time that ends now.
package struct Period: Equatable, Sendable {
  package var admissions: Int
  package var registrations: Int
  package var refusals: Int
  /// The most players at once.
  package var mostPlayers: Int
  package var bytesFromPlayers: UInt64
  package var bytesFromGame: UInt64

  package init(
    admissions: Int, registrations: Int, refusals: Int, mostPlayers: Int, bytesFromPlayers: UInt64,
    bytesFromGame: UInt64
  ) {
    self.admissions = admissions
    self.registrations = registrations
    self.refusals = refusals
    self.mostPlayers = mostPlayers
    self.bytesFromPlayers = bytesFromPlayers
    self.bytesFromGame = bytesFromGame
  }
}

package struct RefusalCount: Equatable, Sendable {
  package var code: RefusalCode
  package var lastHour: Int
  package var lastDay: Int

  package init(code: RefusalCode, lastHour: Int, lastDay: Int) {
    self.code = code
    self.lastHour = lastHour
    self.lastDay = lastDay
  }
}

/// How long a turn of an event loop takes, in the last minute.
package struct LoopLag: Equatable, Sendable {
  package var loop: Int
  package var sessions: Int
  package var medianMicroseconds: Int
  package var percentile99Microseconds: Int
  package var maximumMicroseconds: Int

  package init(
    loop: Int, sessions: Int, medianMicroseconds: Int, percentile99Microseconds: Int,
    maximumMicroseconds: Int
  ) {
    self.loop = loop
    self.sessions = sessions
    self.medianMicroseconds = medianMicroseconds
    self.percentile99Microseconds = percentile99Microseconds
    self.maximumMicroseconds = maximumMicroseconds
  }
}

package struct StoreState: Equatable, Sendable {
  package enum Service: String, Sendable {
    case accepting
    case stalled
    case closed
  }

  package var service: Service
  /// Why it is stalled.
  package var reason: String?
  package var keys: Int
  package var revokedKeys: Int
  package var journalBytes: UInt64
  /// The mean of all commits since the start; nil without one.
  package var commitMicroseconds: Int?
  package var lastSnapshotAt: UnixTime?

  package init(
    service: Service, reason: String? = nil, keys: Int, revokedKeys: Int, journalBytes: UInt64,
    commitMicroseconds: Int? = nil, lastSnapshotAt: UnixTime? = nil
  ) {
    self.service = service
    self.reason = reason
    self.keys = keys
    self.revokedKeys = revokedKeys
    self.journalBytes = journalBytes
    self.commitMicroseconds = commitMicroseconds
    self.lastSnapshotAt = lastSnapshotAt
  }
}

package struct CertificateEnd: Equatable, Sendable {
  /// Which one: the gate's own, the client CA's, a root.
  package var name: String
  package var endsAt: UnixTime

  package init(name: String, endsAt: UnixTime) {
    self.name = name
    self.endsAt = endsAt
  }
}

/// The last day, minute by minute.
package struct History: Sendable {
  package static let minutes = 1440

  package struct Minute: Equatable, Sendable {
    /// The most at once.
    package var players: Int
    package var admissions: Int
    package var refusals: Int
    /// Of all loops, the slowest turn's; the 99th percentile.
    package var lagMicroseconds: Int
    package var bytes: UInt64

    package init(players: Int, admissions: Int, refusals: Int, lagMicroseconds: Int, bytes: UInt64) {
      self.players = players
      self.admissions = admissions
      self.refusals = refusals
      self.lagMicroseconds = lagMicroseconds
      self.bytes = bytes
    }
  }

  /// Oldest first, the running one last, at most `minutes`; nil where the gate did not run.
  package var points: [Minute?]
  /// When the last point's minute began.
  package var end: UnixTime
  /// When the gate was started, within the time that `points` cover.
  package var starts: [UnixTime]

  package init(points: [Minute?], end: UnixTime, starts: [UnixTime]) {
    self.points = points
    self.end = end
    self.starts = starts
  }
}
