/// What every number that the gate shows of itself is read from (docs/metrics.md).
internal import KeyStore
internal import Registry

/// A count is read when its number is asked for: some of them take a lock that loops take as well.
struct Numbers: Sendable {
  /// By loop.
  let counters: [Counters]
  /// Connections of all kinds.
  let occupancy: Count
  /// Connections that are not admitted yet.
  let pending: Count
  /// Those with a connection.
  let sessions: Count
  /// Those without one, with those whose stay is over and whose last messages wait.
  let away: Count
  /// Those of them whose stay is over.
  let concluded: Count
  let lingering: Count
  /// Bytes of messages that all sessions keep.
  let buffers: Sum
  let register: SessionRegister
  let pool: RegistrationPool
  let certificates: CertificateWatch
  let keptSessions: Int
  /// What was not kept; nil where nothing is.
  let keepingFailures: Count?
  let store: KeyStoreStatistics
  let registry: RegistryNumbers

  /// Over all loops.
  func sum(_ counter: (Counters) -> Counter) -> Int {
    counters.reduce(0) { $0 + counter($1).value }
  }
}
