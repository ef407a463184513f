/// What every number that the gate shows of itself is read from (docs/metrics.md).
package import Admission
package import KeyStore
package import Registry
package import Scheduling

/// A count is read when its number is asked for: some of them take a lock that loops take as well.
package struct Numbers: Sendable {
  /// By loop.
  package let counters: [Counters]
  /// Connections of all kinds.
  package let occupancy: Count
  /// Connections that are not admitted yet.
  package let pending: Count
  /// Those with a connection.
  package let sessions: Count
  /// Those without one, with those whose stay is over and whose last messages wait.
  package let away: Count
  /// Those of them whose stay is over.
  package let concluded: Count
  package let lingering: Count
  /// Bytes of messages that all sessions keep.
  package let buffers: Sum
  package let register: SessionRegister
  package let pool: RegistrationPool
  package let certificates: CertificateWatch
  package let keptSessions: Int
  /// What was not kept; nil where nothing is.
  package let keepingFailures: Count?
  package let store: KeyStoreStatistics
  package let registry: RegistryNumbers

  package init(
    counters: [Counters], occupancy: Count, pending: Count, sessions: Count, away: Count, concluded: Count,
    lingering: Count, buffers: Sum, register: SessionRegister, pool: RegistrationPool,
    certificates: CertificateWatch, keptSessions: Int, keepingFailures: Count?, store: KeyStoreStatistics,
    registry: RegistryNumbers
  ) {
    self.counters = counters
    self.occupancy = occupancy
    self.pending = pending
    self.sessions = sessions
    self.away = away
    self.concluded = concluded
    self.lingering = lingering
    self.buffers = buffers
    self.register = register
    self.pool = pool
    self.certificates = certificates
    self.keptSessions = keptSessions
    self.keepingFailures = keepingFailures
    self.store = store
    self.registry = registry
  }

  /// Over all loops.
  package func sum(_ counter: (Counters) -> Counter) -> Int {
    counters.reduce(0) { $0 + counter($1).value }
  }
}
