/// Revocations that were ordered and are not on the disk yet: what they take from whom holds meanwhile, and what is not
/// written when the process ends is known by name (docs/devices.md, "The store").
internal import DeviceWire
internal import Synchronization

/// Used by whoever orders one and by the registry's thread.
final class OrderedRevocations: Sendable {
  private struct Order {
    let devices: [DeviceID]
    let name: String
  }

  private struct State {
    var orders: [RequestHandle: Order] = [:]
    /// By how many orders each is to end.
    var devices: [DeviceID: Int] = [:]
  }

  private let state = Mutex(State())

  /// One that is there already stays as it is.
  func add(_ handle: RequestHandle, _ call: any RegistryCall) {
    let order = Order(devices: call.immediate.compactMap(\.gone), name: call.revokes)
    state.withLock { state in
      guard state.orders[handle] == nil else { return }
      state.orders[handle] = order
      for device in order.devices { state.devices[device, default: 0] += 1 }
    }
  }

  /// It is on the disk, or was refused.
  func settle(_ handle: RequestHandle) {
    state.withLock { state in
      guard let order = state.orders.removeValue(forKey: handle) else { return }
      for device in order.devices {
        state.devices[device] = state.devices[device].flatMap { $0 > 1 ? $0 - 1 : nil }
      }
    }
  }

  /// Whether the device's end was ordered, so that nothing that was true before lets it in again.
  func end(_ device: DeviceID) -> Bool { state.withLock { $0.devices[device] != nil } }

  /// What they revoke, in the order in which they came.
  var unwritten: [String] {
    state.withLock { state in
      state.orders.sorted { $0.key.number < $1.key.number }.map {
        $0.value.name.isEmpty ? "-" : $0.value.name
      }
    }
  }
}
