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

  private let orders = Mutex<[RequestHandle: Order]>([:])

  func add(_ handle: RequestHandle, _ call: any RegistryCall) {
    let order = Order(devices: call.immediate.compactMap(\.gone), name: call.revokes)
    orders.withLock { $0[handle] = order }
  }

  /// It is on the disk, or was refused.
  func settle(_ handle: RequestHandle) {
    orders.withLock { $0[handle] = nil }
  }

  /// Whether the device's end was ordered, so that nothing that was true before lets it in again.
  func end(_ device: DeviceID) -> Bool {
    orders.withLock { orders in orders.values.contains { $0.devices.contains(device) } }
  }

  /// What they revoke, in the order in which they came.
  var unwritten: [String] {
    orders.withLock { orders in
      orders.sorted { $0.key.number < $1.key.number }.map { $0.value.name.isEmpty ? "-" : $0.value.name }
    }
  }
}
