/// What serves, until `close`: the gate, its stores and the sockets of those who give orders.
package import Assembly
internal import Configuration
package import Console
package import Control
internal import Crypto
package import Gateway
internal import Requests
internal import KeyStore
internal import Registry
internal import TLS

package final class OpenGate {
  package let gate: Gate
  package let control: GateControl
  let controlServer: ControlServer
  /// The certificate that was made for this run, while none is configured.
  var made: TLSMaterial?
  /// Nil in a gate without devices.
  let devices: Gateway.Devices?
  var registry: Registry? { devices?.registry }
  /// Those that the registry was last told of by a reload.
  var pins: [PublicKeyPin]?
  let approvalUsers: ApprovalUsers
  /// What is set, and the result of the last reload.
  package let settings: SettingsInForce
  /// Nil where there is no admin listener.
  package let admin: OpenAdmin?
  private let approvalsServer: ControlServer?
  private let store: KeyStore

  init(
    gate: Gate, control: GateControl, servers: (control: ControlServer, approvals: ControlServer?),
    admin: OpenAdmin?, made: TLSMaterial?, devices: Gateway.Devices?, approvalUsers: ApprovalUsers,
    store: KeyStore, settings: SettingsInForce
  ) {
    self.settings = settings
    self.admin = admin
    self.gate = gate
    self.control = control
    controlServer = servers.control
    approvalsServer = servers.approvals
    self.made = made
    self.devices = devices
    self.approvalUsers = approvalUsers
    self.store = store
  }

  /// No order is taken any more; those that are being worked on are still answered.
  package func beginStop() {
    controlServer.beginStop()
    approvalsServer?.beginStop()
  }

  /// When the gate has stopped.
  /// - Returns: whether all that was revoked is on the disk; the log has the names of what is not.
  @discardableResult
  package func close() -> Bool {
    admin?.stop()
    approvalsServer?.stop()
    controlServer.stop()
    let isWritten = registry?.stop().isEmpty ?? true
    let isClean = store.close()
    return isWritten && (isClean || store.unwrittenRevocations.isEmpty)
  }
}
