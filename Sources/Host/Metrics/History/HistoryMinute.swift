/// What a minute of the gate has brought, as the overview draws it and as it outlives the process (docs/console.md,
/// "Console").
package import Time

/// What a minute, an hour or a day has brought.
package struct HistoryPeriod: Equatable, Sendable {
  /// The most at once, of those that were looked at each second.
  package var mostPlayers = 0
  package var admissions = 0
  package var registrations = 0
  package var refusals = 0
  package var bytesFromPlayers = 0
  package var bytesFromGame = 0
  /// The slowest loop's 99th percentile of a minute's turns.
  package var lagMicroseconds = 0

  package init() {}

  package mutating func add(_ other: HistoryPeriod) {
    mostPlayers = max(mostPlayers, other.mostPlayers)
    lagMicroseconds = max(lagMicroseconds, other.lagMicroseconds)
    admissions += other.admissions
    registrations += other.registrations
    refusals += other.refusals
    bytesFromPlayers += other.bytesFromPlayers
    bytesFromGame += other.bytesFromGame
  }
}

/// One minute, with its place in time.
package struct HistoryMinute: Equatable, Sendable {
  package static let ofADay = 1440
  /// Today's, and those of the day before, which today is drawn in front of.
  package static let kept = 2 * ofADay
  package static let milliseconds: Int64 = 60_000

  package var begin: UnixTime
  /// When a gate was started in it; the last of several.
  package var startedAt: UnixTime?
  package var period: HistoryPeriod
  /// In the order of `RefusalCode`, as many as there are codes; empty where nobody was refused.
  package var refusals: [UInt32]

  package init(begin: UnixTime, startedAt: UnixTime?, period: HistoryPeriod, refusals: [UInt32]) {
    self.begin = begin
    self.startedAt = startedAt
    self.period = period
    self.refusals = refusals
  }
}

/// All that is known of the last two days at one moment, oldest first; the running minute is the last.
package struct HistoryOnFile: Equatable, Sendable {
  /// When the gate was started, by the clock of this moment: it moves when the clock is set.
  package let startedAt: UnixTime
  package let minutes: [HistoryMinute]

  package init(startedAt: UnixTime, minutes: [HistoryMinute]) {
    self.startedAt = startedAt
    self.minutes = minutes
  }
}
