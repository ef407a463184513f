/// Revocations that were ordered and are not on the disk yet: what they take from whom holds meanwhile, and what is not
/// written when the process ends is known by name (docs/devices.md, "The store").
internal import DeviceWire
internal import Synchronization

/// Used by whoever orders one and by the registry's thread.
final class OrderedRevocations: Sendable {
  private struct Order {
    var devices: Set<DeviceID> = []
    /// Nil where nothing is lost with the process.
    let name: String?
  }

  private struct State {
    var orders: [RequestHandle: Order] = [:]
    /// By how many orders each is to end.
    var devices: [DeviceID: Int] = [:]

    mutating func hold(_ device: DeviceID, by handle: RequestHandle) {
      guard orders[handle]?.devices.insert(device).inserted == true else { return }
      devices[device, default: 0] += 1
    }

    mutating func release(_ device: DeviceID, by handle: RequestHandle) {
      guard orders[handle]?.devices.remove(device) != nil else { return }
      devices[device] = devices[device].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
  }

  private let state = Mutex(State())

  /// Of one that is there already, whom it is known to end by now.
  func add(_ handle: RequestHandle, _ call: any RegistryCall) {
    state.withLock { state in
      if state.orders[handle] == nil {
        state.orders[handle] = Order(name: call.isOrderedAnew ? nil : call.revokes)
      }
      for device in call.immediate.compactMap(\.gone) { state.hold(device, by: handle) }
    }
  }

  /// What a call has brought about that goes on: whom it has sent away stays away until it says otherwise, or has come to its
  /// end.
  func note(_ effects: [RegistryEffect], of handle: RequestHandle) {
    state.withLock { state in
      for effect in effects {
        switch effect {
        case .deviceGone(let device): state.hold(device, by: handle)
        case .deviceActive(let device): state.release(device.id, by: handle)
        default: break
        }
      }
    }
  }

  /// It is on the disk, or was refused.
  func settle(_ handle: RequestHandle) {
    state.withLock { state in
      for device in state.orders[handle]?.devices ?? [] { state.release(device, by: handle) }
      state.orders[handle] = nil
    }
  }

  /// Whether the device's end was ordered, so that nothing that was true before lets it in again.
  func end(_ device: DeviceID) -> Bool { state.withLock { $0.devices[device] != nil } }

  /// What they revoke, in the order in which they came, as far as the process takes it with it.
  var unwritten: [String] {
    state.withLock { state in
      state.orders.sorted { $0.key.number < $1.key.number }.compactMap(\.value.name).map {
        $0.isEmpty ? "-" : $0
      }
    }
  }
}
