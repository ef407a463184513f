/// Revocations that were ordered and are not on the disk yet: what they take from whom holds meanwhile, and what is not
/// written when the process ends is known by name (docs/devices-operating.md, "The store").
internal import DeviceWire
internal import Synchronization

/// Used by whoever orders one and by the registry's thread.
final class OrderedRevocations: Sendable {
  /// Whose end an order is.
  private enum End: Hashable {
    case device(DeviceID)
    case subject(Subject)

    init?(_ effect: RegistryEffect) {
      if case .subjectRevoked(let subject) = effect {
        self = .subject(subject)
      } else if let device = effect.gone {
        self = .device(device)
      } else {
        return nil
      }
    }
  }

  private struct Order {
    var ends: Set<End> = []
    /// Nil where nothing is lost with the process.
    let name: String?
  }

  private struct State {
    var orders: [RequestHandle: Order] = [:]
    /// By how many orders each is.
    var ends: [End: Int] = [:]

    mutating func hold(_ end: End, by handle: RequestHandle) {
      guard orders[handle]?.ends.insert(end).inserted == true else { return }
      ends[end, default: 0] += 1
    }

    mutating func release(_ end: End, by handle: RequestHandle) {
      guard orders[handle]?.ends.remove(end) != nil else { return }
      ends[end] = ends[end].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
  }

  private let state = Mutex(State())

  /// Of one that is there already, whom it is known to end by now.
  func add(_ handle: RequestHandle, _ call: any RegistryCall) {
    state.withLock { state in
      if state.orders[handle] == nil {
        state.orders[handle] = Order(name: call.isOrderedAnew ? nil : call.revokes)
      }
      for end in call.immediate.compactMap(End.init) { state.hold(end, by: handle) }
    }
  }

  /// What a call has brought about that goes on: whom it has sent away stays away until it says otherwise, or has come to its
  /// end.
  func note(_ effects: [RegistryEffect], of handle: RequestHandle) {
    state.withLock { state in
      for effect in effects {
        switch effect {
        case .deviceGone(let device): state.hold(.device(device), by: handle)
        case .deviceActive(let device): state.release(.device(device.id), by: handle)
        default: break
        }
      }
    }
  }

  /// It is on the disk, or was refused.
  func settle(_ handle: RequestHandle) {
    state.withLock { state in
      for end in state.orders[handle]?.ends ?? [] { state.release(end, by: handle) }
      state.orders[handle] = nil
    }
  }

  /// Whether the device's end was ordered, or that of whoever has it, so that nothing that was true before lets it in again.
  func end(_ device: DeviceID, of subject: Subject?) -> Bool {
    state.withLock { state in
      if state.ends.isEmpty { return false }
      return state.ends[.device(device)] != nil || subject.map { state.ends[.subject($0)] != nil } ?? false
    }
  }

  /// What they revoke, in the order in which they came, as far as the process takes it with it.
  var unwritten: [String] {
    state.withLock { state in
      state.orders.sorted { $0.key.number < $1.key.number }.compactMap(\.value.name).map {
        $0.isEmpty ? "-" : $0
      }
    }
  }
}
