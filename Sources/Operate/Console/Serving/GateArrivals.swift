/// What holds for an address at the admin listener's port: `HANDSHAKE_RATE`, in a table of its own, so that players and
/// operators of one address do not use up each other's handshakes.
import Addresses
import Admin
internal import Admission
package import Configuration
import Gateway
import Logging
package import Logs
import Synchronization
import Time

package final class GateArrivals: AdminArrivals {
  private let rates = RateTable()
  private let allowance: Mutex<RateTable.Allowance>
  private let log: GateLog

  package init(_ configuration: GateConfiguration, _ log: GateLog) {
    allowance = Mutex(Self.allowance(configuration))
    self.log = log
  }

  func reload(_ configuration: GateConfiguration) {
    let made = Self.allowance(configuration)
    allowance.withLock { $0 = made }
  }

  private static func allowance(_ configuration: GateConfiguration) -> RateTable.Allowance {
    let rate = configuration.limits.handshakeRate
    return RateTable.Allowance(count: rate.count, per: rate.per, burst: rate.burst)
  }

  func mayShakeHands(_ peer: Endpoint, now: MonotonicTime) -> Bool {
    rates.take(peer.address.accountingPrefix, allowance.withLock { $0 }, now: now) == nil
  }

  func note(turnedAway peer: Endpoint, because reason: AdminTurningAway) {
    log.decision(
      "turned_away", code: "",
      fields: ["source": "\(peer.peerDescription)", "result": "refused", "step": "\(reason.rawValue)"])
  }
}
