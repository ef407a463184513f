/// The devices that come in by their own keys, in memory, so that an upgrade waits for no registry: of each what the door
/// judges it by, in 88 bytes, and in 5 to 11 bytes where it is.
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import Registry
internal import Synchronization

final class ActiveDevices: Sendable {
  /// What the door knows of one.
  struct Device: Equatable, Sendable {
    let id: DeviceID
    let key: CompressedP256Point
    let level: Level
    let attestedKey: KeyIdentifier?
  }

  private final class Part: Sendable {
    let devices = Mutex(DeviceSlots())
  }

  /// Many, so that loops seldom wait for each other or for the registry, and so that a table that grows holds its lock
  /// only shortly.
  private let parts = (0..<256).map { _ in Part() }

  func find(_ id: DeviceID) -> Device? {
    let hash = Self.hash(id)
    return part(hash).devices.withLock { $0.find(id, hash) }
  }

  /// Enters it, or takes the place of what was known of it.
  func set(_ device: Device) {
    let hash = Self.hash(device.id)
    part(hash).devices.withLock { $0.set(device, hash, rehash: Self.hash) }
  }

  /// False when it is not there.
  @discardableResult
  func remove(_ id: DeviceID) -> Bool {
    let hash = Self.hash(id)
    return part(hash).devices.withLock { $0.remove(id, hash, rehash: Self.hash) }
  }

  var count: Int { parts.reduce(0) { $0 + $1.devices.withLock { $0.count } } }

  private func part(_ hash: UInt64) -> Part { parts[Int(hash >> 56)] }

  /// Keyed anew in each process (`Hasher`), so that nobody can aim at a place.
  private static func hash(_ id: DeviceID) -> UInt64 { UInt64(truncatingIfNeeded: id.hashValue) }
}

/// A part's devices without gaps, and by hash where each is.
private struct DeviceSlots: Sendable {
  private struct Slot: Sendable {
    let id: DeviceID
    let keyX: Bytes32
    let attestedKey: Bytes32
    let flags: UInt8
  }

  private var slots: [Slot] = []
  /// Open addressing with linear probing: one more than the slot's number, 0 for a free place.
  private var places: [UInt32] = []

  var count: Int { slots.count }

  func find(_ id: DeviceID, _ hash: UInt64) -> ActiveDevices.Device? {
    place(of: id, hash).map { device(slots[Int(places[$0]) - 1]) }
  }

  mutating func set(_ device: ActiveDevices.Device, _ hash: UInt64, rehash: (DeviceID) -> UInt64) {
    let slot = Self.slot(device)
    if let place = place(of: device.id, hash) {
      slots[Int(places[place]) - 1] = slot
      return
    }
    // An eighth more at a time: a table of a million does not hold memory for two.
    if slots.count == slots.capacity { slots.reserveCapacity(slots.count + max(8, slots.count / 8)) }
    slots.append(slot)
    if slots.count * 4 > places.count * 3 {
      places = [UInt32](repeating: 0, count: max(16, places.count * 2))
      for (index, slot) in slots.enumerated() { enter(index, rehash(slot.id)) }
    } else {
      enter(slots.count - 1, hash)
    }
  }

  mutating func remove(_ id: DeviceID, _ hash: UInt64, rehash: (DeviceID) -> UInt64) -> Bool {
    guard let place = place(of: id, hash) else { return false }
    let index = Int(places[place]) - 1
    free(place, rehash)
    // The last one fills the gap.
    let last = slots.removeLast()
    if index < slots.count {
      guard let place = self.place(ofSlot: slots.count, rehash(last.id)) else {
        fatalError("ActiveDevices: a device without a place")
      }
      slots[index] = last
      places[place] = UInt32(index + 1)
    }
    return true
  }

  // MARK: Places

  private func first(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash & UInt64(places.count - 1)) }
  private func next(_ place: Int) -> Int { (place + 1) & (places.count - 1) }

  private mutating func enter(_ index: Int, _ hash: UInt64) {
    var place = first(hash)
    while places[place] != 0 { place = next(place) }
    places[place] = UInt32(index + 1)
  }

  private func place(of id: DeviceID, _ hash: UInt64) -> Int? {
    guard !places.isEmpty else { return nil }
    var place = first(hash)
    while places[place] != 0 {
      if slots[Int(places[place]) - 1].id == id { return place }
      place = next(place)
    }
    return nil
  }

  private func place(ofSlot index: Int, _ hash: UInt64) -> Int? {
    var place = first(hash)
    while places[place] != 0 {
      if Int(places[place]) == index + 1 { return place }
      place = next(place)
    }
    return nil
  }

  /// Those behind it move up, as long as they are nearer to their own first place (Knuth, TAOCP 6.4, algorithm R).
  private mutating func free(_ freed: Int, _ rehash: (DeviceID) -> UInt64) {
    var gap = freed
    var place = next(freed)
    while places[place] != 0 {
      let home = first(rehash(slots[Int(places[place]) - 1].id))
      let mask = places.count - 1
      if (place - home) & mask >= (place - gap) & mask {
        places[gap] = places[place]
        gap = place
      }
      place = next(place)
    }
    places[gap] = 0
  }

  // MARK: Packing

  private static func slot(_ device: ActiveDevices.Device) -> Slot {
    let level: UInt8 =
      switch device.level {
      case .bare: 0
      case .appAttested: 1
      case .hardwareAttested: 2
      }
    return Slot(
      id: device.id, keyX: device.key.x, attestedKey: device.attestedKey?.digest ?? Bytes32(),
      flags: (device.key.isYOdd ? 1 : 0) | (device.attestedKey == nil ? 0 : 2) | level << 2)
  }

  private func device(_ slot: Slot) -> ActiveDevices.Device {
    let level: Level =
      switch slot.flags >> 2 {
      case 0: .bare
      case 1: .appAttested
      default: .hardwareAttested
      }
    return ActiveDevices.Device(
      id: slot.id, key: CompressedP256Point(x: slot.keyX, isYOdd: slot.flags & 1 != 0), level: level,
      attestedKey: slot.flags & 2 == 0 ? nil : KeyIdentifier(slot.attestedKey))
  }

  /// What one takes beside its place.
  static var slotBytes: Int { MemoryLayout<Slot>.stride }
}

extension ActiveDevices {
  static var bytesOfEach: Int { DeviceSlots.slotBytes }
}
