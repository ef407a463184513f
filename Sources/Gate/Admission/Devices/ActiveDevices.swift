/// The devices that come in by their own keys, in memory, so that an upgrade waits for no registry; and those whose App Attest
/// keys come in, so that a revocation waits for no disk. Of each what the door judges it by, in 88 bytes, and in 5 to 11
/// bytes where it is.
package import Bytes
package import Crypto
package import DeviceWire
package import Registry
internal import Synchronization

package final class ActiveDevices: Sendable {
  /// What the door knows of one that comes in.
  package struct Device: Equatable, Sendable {
    package let id: DeviceID
    package let key: CompressedP256Point
    package let level: Level
    package let attestedKey: KeyIdentifier?

    package init(id: DeviceID, key: CompressedP256Point, level: Level, attestedKey: KeyIdentifier?) {
      self.id = id
      self.key = key
      self.level = level
      self.attestedKey = attestedKey
    }
  }

  private final class Part: Sendable {
    let devices = Mutex(DeviceSlots())
  }

  /// Many, so that loops seldom wait for each other or for the registry, and so that a table that grows holds its lock
  /// only shortly.
  private let parts = (0..<256).map { _ in Part() }

  package init() {}

  /// Nil for one that does not come in by its own key.
  package func find(_ id: DeviceID) -> Device? {
    let hash = Self.hash(id)
    return part(hash).devices.withLock { $0.find(id, hash) }
  }

  /// All that are known, in one look at each: for an order of an operator's.
  package func devices(of subject: Subject) -> [DeviceID] {
    let mark = DeviceSlots.mark(of: subject)
    return parts.flatMap { part in part.devices.withLock { $0.devices(marked: mark) } }
  }

  /// Enters it, or takes the place of what was known of it.
  /// - Parameter comesIn: by its own key.
  package func set(_ device: Device, of subject: Subject? = nil, comesIn: Bool = true) {
    let hash = Self.hash(device.id)
    let mark = subject.map(DeviceSlots.mark) ?? 0
    part(hash).devices.withLock { $0.set(device, mark, comesIn: comesIn, hash, rehash: Self.hash) }
  }

  /// - Returns: what was known of it, whether it came in or not.
  @discardableResult
  package func remove(_ id: DeviceID) -> Device? {
    let hash = Self.hash(id)
    return part(hash).devices.withLock { $0.remove(id, hash, rehash: Self.hash) }
  }

  package var count: Int { parts.reduce(0) { $0 + $1.devices.withLock { $0.count } } }

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
    /// Eight bits of flags, and 56 of the subject's hash.
    let mark: UInt64
  }

  private static let isYOdd: UInt64 = 1
  private static let hasAttestedKey: UInt64 = 2
  /// And the next.
  private static let levelShift: UInt64 = 2
  private static let comesIn: UInt64 = 16
  private static let subjects: UInt64 = ~0xFF

  private var slots: [Slot] = []
  /// Open addressing with linear probing: one more than the slot's number, 0 for a free place.
  private var places: [UInt32] = []

  var count: Int { slots.count }

  func find(_ id: DeviceID, _ hash: UInt64) -> ActiveDevices.Device? {
    guard let place = place(of: id, hash) else { return nil }
    let slot = slots[Int(places[place]) - 1]
    return slot.mark & Self.comesIn == 0 ? nil : device(slot)
  }

  func devices(marked mark: UInt64) -> [DeviceID] {
    slots.compactMap { $0.mark & Self.subjects == mark ? $0.id : nil }
  }

  /// Of a subject's name, keyed anew in each process: two have the same by accident alone, once in 2^55. Never 0.
  static func mark(of subject: Subject) -> UInt64 {
    UInt64(truncatingIfNeeded: subject.hashValue) & subjects | 1 << 63
  }

  mutating func set(
    _ device: ActiveDevices.Device, _ mark: UInt64, comesIn: Bool, _ hash: UInt64,
    rehash: (DeviceID) -> UInt64
  ) {
    let slot = Self.slot(device, mark, comesIn: comesIn)
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

  mutating func remove(
    _ id: DeviceID, _ hash: UInt64, rehash: (DeviceID) -> UInt64
  ) -> ActiveDevices.Device? {
    guard let place = place(of: id, hash) else { return nil }
    let index = Int(places[place]) - 1
    let removed = device(slots[index])
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
    return removed
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

  private static func slot(_ device: ActiveDevices.Device, _ mark: UInt64, comesIn: Bool) -> Slot {
    let level: UInt64 =
      switch device.level {
      case .bare: 0
      case .appAttested: 1
      case .hardwareAttested: 2
      }
    let flags =
      (device.key.isYOdd ? isYOdd : 0) | (device.attestedKey == nil ? 0 : hasAttestedKey)
      | level << levelShift | (comesIn ? Self.comesIn : 0)
    return Slot(
      id: device.id, keyX: device.key.x, attestedKey: device.attestedKey?.digest ?? Bytes32(),
      mark: mark | flags)
  }

  private func device(_ slot: Slot) -> ActiveDevices.Device {
    let level: Level =
      switch slot.mark >> Self.levelShift & 3 {
      case 0: .bare
      case 1: .appAttested
      default: .hardwareAttested
      }
    return ActiveDevices.Device(
      id: slot.id, key: CompressedP256Point(x: slot.keyX, isYOdd: slot.mark & Self.isYOdd != 0),
      level: level, attestedKey: attestedKey(slot))
  }

  private func attestedKey(_ slot: Slot) -> KeyIdentifier? {
    slot.mark & Self.hasAttestedKey == 0 ? nil : KeyIdentifier(slot.attestedKey)
  }

  /// What one takes beside its place.
  static var slotBytes: Int { MemoryLayout<Slot>.stride }
}

extension ActiveDevices {
  static var bytesOfEach: Int { DeviceSlots.slotBytes }
}
