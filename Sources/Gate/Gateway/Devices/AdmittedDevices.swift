/// What loops know of devices and services without asking the registry: it is told by the registry's thread, and read by
/// all.
internal import Admission
internal import Bytes
internal import Crypto
package import DeviceWire
internal import HTTPWire
internal import KeyStore
package import Logs
package import Registry
internal import Requests
internal import Scheduling
internal import Synchronization
internal import Time
internal import Telemetry

package final class AdmittedDevices: RegistryListener {
  private struct State: Sendable {
    var services: [Bytes32: ServiceID] = [:]
    var keySet: [UInt8] = Array(#"{"keys":[]}"#.utf8)
    weak var shared: Shared?
    /// App Attest keys that went with their devices before there were loops to be told.
    var revoked: [KeyIdentifier] = []
  }

  private let level: Level?
  private let active = ActiveDevices()
  private let former = FormerKeys()
  private let state = Mutex(State())
  private let trouble = Mutex<String?>(nil)
  let log: GateLogger

  /// - Parameter level: from which on devices come in to play; nil when none does.
  package init(level: Level? = nil, log: GateLog) {
    self.level = level
    self.log = GateLogger(log)
  }

  /// From now on there are loops to be told. None of them serves yet, so that nobody comes in by a key that was revoked
  /// before.
  func attach(to shared: Shared) {
    let revoked = state.withLock { state in
      state.shared = shared
      return exchange(&state.revoked, with: []).filter { !shared.store.isRevoked($0) }
    }
    let refused = CountDownLatch(count: revoked.count)
    for keyID in revoked { shared.revocations.revoke(keyID) { _ in refused.countDown() } }
    _ = refused.wait(within: CommitResult.deadline)
  }

  // MARK: Asked by loops

  /// Whether devices come in by keys of their own.
  var isOpen: Bool { level != nil }

  /// One that may come in now.
  func device(_ id: DeviceID) -> ActiveDevices.Device? { active.find(id) }

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
    case .deviceActive(let device): know(device, isActive: true)
    case .deviceWaits(let device): know(device, isActive: false)
    case .formerKey(let keyID, let device, let subject): former.add(keyID, of: device, subject)
    case .deviceExpired(let device):
      active.remove(device)
      former.remove(device)
    case .deviceGone(let device):
      shutOut(device)
      former.remove(device)
    case .deviceRevoked(let device): revoke(device)
    case .subjectRevoked(let subject):
      Set(active.devices(of: subject) + former.devices(of: subject)).forEach(revoke)
    case .attestedKeyRevoked(let keyID): revoke(keyID)
    case .approvalsOpen(let device, let keyID, let count): tell(device, keyID, .approvals(open: count))
    case .codeWanted(let device, let keyID): tell(device, keyID, .codeWanted)
    case .services(let services): state.withLock { $0.services = services }
    case .keySet(let keys): state.withLock { $0.keySet = keys }
    case .doubted(let report): log.doubts(report)
    case .serviceBarred(let name, let reports): log.serviceBarred(name, reports: reports)
    case .strangeMembers(let device, let found): log.strangeMembers(device, found)
    case .near, .desktopEnded, .wake, .wakeAll, .erased: break
    }
  }

  package func told() {
    guard let shared else { return }
    shared.revocations.told()
    shared.mailboxes.forEach { $0.call() }
  }

  /// Why the registry promises nothing just now; nil while it does.
  package var registryTrouble: String? { trouble.withLock { $0 } }

  package func note(_ event: RegistryEvent) {
    switch event {
    case .unavailable(let reason): trouble.withLock { $0 = reason }
    case .available: trouble.withLock { $0 = nil }
    case .opened, .clockBehind, .auditHead, .revocationsLost: break
    }
    log.registry(event)
  }

  private var shared: Shared? { state.withLock { $0.shared } }

  /// Before the registry has looked into its store, and whether it can: with the App Attest keys that the device is known by.
  private func revoke(_ device: DeviceID) {
    let current = shutOut(device)?.attestedKey
    for keyID in [current].compactMap({ $0 }) + former.remove(device) { revoke(keyID) }
  }

  private func revoke(_ keyID: KeyIdentifier) {
    let shared = state.withLock { state in
      if state.shared == nil { state.revoked.append(keyID) }
      return state.shared
    }
    shared?.revocations.revoke(keyID)
  }

  /// Its key may have become another one, and its level too low. One that does not come in is known for its App Attest key,
  /// which goes with it.
  private func know(_ device: ActiveDevice, isActive: Bool) {
    former.note(device.subject, of: device.id)
    let comesIn = isActive && level.map { device.level >= $0 } ?? false
    guard comesIn || device.attestedKey != nil else {
      shutOut(device.id)
      return
    }
    active.set(
      ActiveDevices.Device(
        id: device.id, key: CompressedP256Point(device.key), level: device.level,
        attestedKey: device.attestedKey),
      of: device.subject, comesIn: comesIn)
    if !comesIn { endSessions(of: device.id) }
  }

  /// Those of its sessions that are carried by a connection: by its own key, or by the App Attest key that vouches for it.
  private func tell(_ device: DeviceID, _ keyID: KeyIdentifier?, _ notice: DeviceNotice) {
    guard let shared else { return }
    let owners = [Credential.owner(device), keyID].compactMap { $0 }
    for session in Set(owners.flatMap(shared.register.sessions)) {
      shared.leave(.notice(Token(rawValue: session.token), notice), for: session)
    }
  }

  /// Out of the table first, and then the register is read: see `SessionRegister`.
  @discardableResult
  private func shutOut(_ device: DeviceID) -> ActiveDevices.Device? {
    let known = active.remove(device)
    endSessions(of: device)
    return known
  }

  private func endSessions(of device: DeviceID) {
    if level != nil { shared?.revocations.endSessions(of: Credential.owner(device)) }
  }
}
