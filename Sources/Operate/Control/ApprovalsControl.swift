/// Answers `APPROVALS_SOCKET`: those of the host who ask for approvals and confirm them, and nothing else of the gate
/// (docs/running.md, "Approvals socket").
import Bytes
import Registry
package import Sockets

package final class ApprovalsControl: ControlHandler {
  private static let verbs: Set<OperatorVerb> = [
    .approvalsRequest, .approvalsList, .approvalsShow, .approvalsLook, .approvalsApprove, .approvalsDeny,
    .approvalsCancel, .barsList, .barsLift,
  ]

  /// More users than one, none of whom is to keep the others out.
  package static var limits: ControlServer.Limits {
    var limits = ControlServer.Limits()
    limits.requestBytes = 64 << 10
    limits.time = .seconds(2)
    limits.threadsPerUser = 2
    limits.keepsClients = false
    limits.audience = "a user whom the gate can tell from others"
    return limits
  }

  private let registry: RegistryControl

  package init(_ registry: RegistryControl) {
    self.registry = registry
  }

  package func answer(_ request: ControlRequest, from peer: UnixPeer?) -> ControlAnswer {
    guard case .registry(let order) = request, Self.verbs.contains(order.verb) else {
      return .refused(
        ControlRefusal(
          .notPermitted,
          "this socket is for approvals alone: request, list, show, approve, deny, cancel, bars"))
    }
    return registry.answer(order, from: peer)
  }
}
