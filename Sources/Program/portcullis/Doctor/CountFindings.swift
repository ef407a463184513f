/// The part of `portcullis doctor` that asks the running gate of these settings, where there is one, what it has counted of
/// headers that stand in the wrong place.
import Configuration
import Control

struct CountFindings {
  /// Nil where there are none, as on a client's machine.
  let configuration: GateConfiguration?

  func look(_ report: inout DoctorReport) {
    guard let configuration,
      case .statistics(let statistics)? = try? ControlClient.ask(
        .statistics, at: configuration.controlSocketPath, within: ControlClient.briefPatience)
    else {
      report.ok("counts", "no control socket answers here, so nothing is known of what the gate has counted")
      return
    }
    let (heads, fields) = (
      count("unexpectedProxyHeaders", statistics), count("strangersForwardedFor", statistics)
    )
    if heads > 0 {
      report.warning(
        "proxy_header", "\(heads) connections have begun with a PROXY header, where none is expected",
        why: "a balancer sends them, and none of its players gets in",
        mend:
          "set LISTEN_PROXY_PROTOCOL=true and TRUSTED_PROXIES to the balancer's addresses, or turn it off there"
      )
    }
    if fields > 0 {
      report.warning(
        "forwarded_for", "\(fields) requests had X-Forwarded-For from peers whose word does not count",
        why: "behind a balancer all players are one address for the limits; without one, somebody tries it",
        mend: "if it is your balancer, set TRUSTED_PROXIES to its addresses")
    }
    if heads == 0, fields == 0 { report.ok("counts", "the gate here has met no misplaced header") }
  }

  private func count(_ name: String, _ statistics: GateStatistics) -> Int {
    statistics.counters.first { $0.name == name }?.count ?? 0
  }
}
