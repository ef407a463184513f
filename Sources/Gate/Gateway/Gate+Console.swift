/// What the operator's pages show of the running gate out of memory (docs/console.md, "Console"), from any thread but a
/// loop's, and without waiting for one.
package import Metrics
internal import Scheduling
internal import Synchronization
package import Time
package import Telemetry
internal import Upstream

extension Gate {
  /// The latest first, a thousand at most.
  package var latestRefusals: [RefusalEntry] { shared.refusals.latest }

  /// The last day.
  package var history: HistoryReading { shared.history.reading(at: SystemClock().monotonic()) }

  /// The last day as it is to outlive the process.
  package func historyOnFile(wall: UnixTime) -> HistoryOnFile {
    shared.history.onFile(wall: wall, now: SystemClock().monotonic())
  }

  /// What earlier processes have left of it; to be called once.
  package func goOn(after earlier: [HistoryMinute], wall: UnixTime) {
    shared.history.goOn(after: earlier, wall: wall, now: SystemClock().monotonic())
  }

  /// Of all kinds, from accept to the last byte.
  package var connectionCount: Int { shared.occupancy.value }

  /// Sessions that outlive a restart.
  package var keptCount: Int { shared.storeClient?.used ?? 0 }

  /// Sessions on each loop, those included that are on their way to their `101`.
  package var sessionsByLoop: [Int] { shared.sessionsByLoop.map(\.value) }

  package struct CertificateDates: Equatable, Sendable {
    /// `server` or `client_ca`.
    package let role: String
    package let subject: String
    package let notAfter: UnixTime
  }

  /// Those in use.
  package var certificates: [CertificateDates] {
    shared.certificates.watched.map {
      CertificateDates(role: $0.role.rawValue, subject: $0.subject, notAfter: $0.notAfter)
    }
  }
}
