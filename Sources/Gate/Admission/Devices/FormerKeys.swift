/// App Attest keys that devices had before, and which go with them all the same: of the few whose app was installed again.
package import Bytes
package import DeviceWire
package import Registry
internal import Synchronization

package final class FormerKeys: Sendable {
  private struct Known {
    var subject: Subject?
    var keys: Set<KeyIdentifier> = []
  }

  private let devices = Mutex<[DeviceID: Known]>([:])

  package init() {}

  package func add(_ key: KeyIdentifier, of device: DeviceID, _ subject: Subject?) {
    devices.withLock { devices in
      var known = devices[device] ?? Known()
      known.subject = subject
      known.keys.insert(key)
      devices[device] = known
    }
  }

  /// Whose it is now, where any are known.
  package func note(_ subject: Subject?, of device: DeviceID) {
    devices.withLock { $0[device]?.subject = subject }
  }

  package func devices(of subject: Subject) -> [DeviceID] {
    devices.withLock { devices in devices.filter { $0.value.subject == subject }.map(\.key) }
  }

  /// - Returns: those that were known.
  @discardableResult
  package func remove(_ device: DeviceID) -> Set<KeyIdentifier> {
    devices.withLock { $0.removeValue(forKey: device)?.keys ?? [] }
  }
}
