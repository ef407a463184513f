/// What loops know of devices and services without asking the registry: it is told by the registry's thread, and read by
/// all.
internal import Bytes
internal import Crypto
package import Logs
package import Registry
internal import Synchronization

package final class DeviceDoor: RegistryListener {
  private struct State: Sendable {
    var services: [Bytes32: ServiceID] = [:]
    var keySet: [UInt8] = Array(#"{"keys":[]}"#.utf8)
    weak var shared: Shared?
  }

  private let state = Mutex(State())
  private let log: GateLogger

  package init(log: GateLog) {
    self.log = GateLogger(log)
  }

  /// From now on there are loops to be told.
  func attach(to shared: Shared) {
    state.withLock { $0.shared = shared }
  }

  // MARK: Asked by loops

  /// The service whose token this is.
  func service(_ token: BearerToken) -> ServiceID? {
    let hash = SHA256.hash(Array(token.text.utf8).span)
    return state.withLock { $0.services[hash] }
  }

  /// The public keys of device tokens, as they are published.
  var keySet: [UInt8] { state.withLock { $0.keySet } }

  // MARK: Told by the registry

  package func hear(_ effect: RegistryEffect) {
    switch effect {
    case .services(let services): state.withLock { $0.services = services }
    case .keySet(let keys): state.withLock { $0.keySet = keys }
    case .deviceActive, .deviceGone, .attestedKeyRevoked, .approvalsOpen, .wake: break
    }
  }

  package func note(_ event: RegistryEvent) {
    log.registry(event)
  }
}
