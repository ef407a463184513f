/// Every number that `portcullis stats` shows of the running gate (docs/metrics.md, "Numbers of portcullis stats"): one row
/// each, with its name, unit and meaning, and where it is read. The control socket's answer, and with it text and JSON of
/// `portcullis stats`, are made of these rows; families and series of `GateMetrics` that are the same quantity take their
/// help and their value from here.
///
/// Beside them stand refusals, whose rows are `RefusalCode`, and turns, of which each loop has its own; and what only
/// Prometheus has, by its labels and as histograms (`GateMetrics.rows`).
internal import Admission
internal import KeyStore
internal import Scheduling
internal import System
internal import Time

package struct OperatorNumber: Sendable {
  package enum Group: String, CaseIterable, Sendable {
    /// What there is at this moment.
    case now
    /// What has happened, over all loops.
    case sinceStart
    /// Of the key store, both kinds.
    case store
  }

  package enum Unit: String, Sendable {
    case count
    case bytes
    case milliseconds
  }

  package let name: String
  package let group: Group
  package let unit: Unit
  /// Never falls while the gate runs, so that the difference of two readings is what was between them.
  package let onlyRises: Bool
  /// What is counted, without a full stop.
  package let help: String
  package let read: @Sendable (Numbers) -> Int

  /// As Prometheus has it.
  package var sentence: String { "\(help.prefix(1).uppercased())\(help.dropFirst())." }

  // MARK: Those that metrics show as well

  package static let detached = now(
    "detached", "sessions without a connection, and the last messages of some that are over"
  ) { $0.away.value }
  package static let buffered = now(
    "buffered", in: .bytes,
    "messages kept for apps until they are acknowledged, and what games have said that is none yet"
  ) { $0.buffers.value }
  package static let kept = now("kept", "sessions that outlive a restart or a crash of the gate") {
    $0.keptSessions
  }
  package static let registrations = sum("registrations", "keys registered", \.registrations)
  package static let admitted = sum("admitted", "sessions begun", \.admitted)
  package static let resumed = sum("resumed", "connections that went on with a session", \.resumed)
  package static let bytesFromPlayers = sum(
    "bytesFromPlayers", in: .bytes, "payload from players", \.bytesFromPlayers)
  package static let bytesFromGame = sum(
    "bytesFromGame", in: .bytes, "payload from the game", \.bytesFromGame)
  package static let keys = store("keys", "keys in the store", \.keys)
  package static let revokedKeys = store("revokedKeys", "keys that are revoked", \.revokedKeys)
  package static let journalBytes = store(
    "journalBytes", in: .bytes, "the size of the key store's journal", \.journalBytes)

  // MARK: All of them

  package static let all: [OperatorNumber] = [
    now("loops", "event loops, each a thread") { $0.counters.count },
    now("connections", "connections of all kinds, from accept to the last byte") {
      $0.occupancy.value
    },
    now("pending", "connections that are not admitted yet") { $0.pending.value },
    now("sessions", "players' sessions that have a connection") { $0.sessions.value },
    detached,
    now("concluded", "those of them that are over") { $0.concluded.value },
    buffered,
    kept,
    now("lingering", "connections that only wait for their peer's end") { $0.lingering.value },
    now("newcomersWaiting", "handshakes and requests that wait for their turn") { numbers in
      numbers.counters.reduce(0) { $0 + $1.newcomersWaiting.value }
    },
    now("registrationsWaiting", "attestations that wait for a thread") { $0.pool.waitingCount },

    sum("accepted", "connections accepted", \.accepted),
    sum(
      "closedAtDoor", "connections closed before the handshake, too many of all or of one address",
      \.closedAtDoor),
    sum("gaveWay", "unadmitted connections that were closed to make room for newer ones", \.evicted),
    sum("handshakes", "TLS handshakes that succeeded", of: \.handshakes),
    sum("handshakesResumed", "those among them that resumed an earlier session", of: \.handshakesResumed),
    sum("handshakesFailed", "TLS handshakes that failed", \.handshakesFailed),
    sum(
      "unexpectedProxyHeaders", "those among them that began with a PROXY header, where none is expected",
      \.unexpectedProxyHeaders),
    sum(
      "strangersForwardedFor", "requests with X-Forwarded-For of peers that are not in TRUSTED_PROXIES",
      \.strangersForwardedFor),
    sum("challenges", "challenges issued", \.challenges),
    registrations,
    admitted,
    resumed,
    OperatorNumber(
      name: "keepingFailed", group: .sinceStart, unit: .count, onlyRises: true,
      help: "descriptors that whoever keeps them for the gate did not take, or not let go of"
    ) { $0.keepingFailures?.value ?? 0 },
    sum("messagesLeftOut", "messages of apps and of games that could not be passed on", \.messagesLeftOut),
    sum("sessionsEnded", "sessions ended", \.sessionsEnded),
    sum(
      "tlsRefused", "connections ended for TLS messages without data, or attempts to renegotiate",
      \.tlsRefused),
    bytesFromPlayers,
    bytesFromGame,

    keys,
    revokedKeys,
    now("keysWithSessions", of: .store, "keys that have a session") { $0.register.keyCount },
    store("commits", rises: true, "changes made durable", \.commits),
    store("batches", rises: true, "syncs of the journal that this took", \.batches),
    store("waitingBytes", in: .bytes, "changes that wait for the journal", \.waitingBytes),
    journalBytes,
    store("snapshots", rises: true, "snapshots written", \.snapshots),
    store("snapshotBytes", in: .bytes, "the last snapshot's size", \.snapshotBytes),
    store("lastSnapshotMilliseconds", in: .milliseconds, "how long the last snapshot took") {
      $0.lastSnapshotDuration.wholeMilliseconds
    },
  ]

  // MARK: Rows

  private static func now(
    _ name: String, of group: Group = .now, in unit: Unit = .count, _ help: String,
    _ read: @escaping @Sendable (Numbers) -> Int
  ) -> OperatorNumber {
    OperatorNumber(name: name, group: group, unit: unit, onlyRises: false, help: help, read: read)
  }

  private static func sum(
    _ name: String, in unit: Unit = .count, _ help: String,
    _ counter: @escaping @Sendable (Counters) -> Counter
  ) -> OperatorNumber {
    sum(name, in: unit, help, of: { counter($0).value })
  }

  private static func sum(
    _ name: String, in unit: Unit = .count, _ help: String, of number: @escaping @Sendable (Counters) -> Int
  ) -> OperatorNumber {
    OperatorNumber(name: name, group: .sinceStart, unit: unit, onlyRises: true, help: help) { numbers in
      numbers.counters.reduce(0) { $0 + number($1) }
    }
  }

  private static func store<Number: BinaryInteger & SendableMetatype>(
    _ name: String, in unit: Unit = .count, rises: Bool = false, _ help: String,
    _ number: @escaping @Sendable (KeyStoreStatistics) -> Number
  ) -> OperatorNumber {
    OperatorNumber(name: name, group: .store, unit: unit, onlyRises: rises, help: help) { numbers in
      Int(clamping: number(numbers.store))
    }
  }
}
