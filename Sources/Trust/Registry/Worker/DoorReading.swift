/// What a door has to know before anybody comes to it, read from the store: who is revoked, services, devices that come in, and
/// App Attest keys that go with devices. Whoever can read the tables can read it, with or without the registry's thread.
internal import Bytes
internal import DeviceWire
internal import System
internal import Time

struct DoorReading {
  /// Of devices by their rows' numbers, and then of keys that devices had before; nil when the devices are through.
  private var place: Int64? = 0
  private var former: KeyIdentifier?
  /// From which on devices come in; nil where none does.
  private let level: Level?
  private var count = 0

  private static let rowsOfPiece: Int64 = 4096
  /// Tables that grew to this size have left holes behind.
  private static let largeCount = 10_000

  init(from level: Level?) {
    self.level = level
  }

  /// What nobody is served without.
  /// - Returns: how many devices come in; nil where none does.
  func begin(_ store: RegistryDatabase, tell: (RegistryEffect) -> Void) throws(CallFailure) -> Int? {
    tell(.services(try ServiceToken.holding(store)))
    // Keys have a store of their own, which may not have been written before this process's predecessor died.
    try store.forEachRevokedKey { tell(.attestedKeyRevoked($0)) }
    guard let level else { return nil }
    var count = 0
    try store.forEachActiveDevice(from: level) { device in
      tell(.deviceActive(device))
      count += 1
    }
    if count > Self.largeCount { FreeMemory.giveBack() }
    return count
  }

  /// The next piece of the keys that go with devices, beside those of devices that come in: a millisecond or less.
  /// - Returns: whether there may be more.
  mutating func goOn(
    _ store: RegistryDatabase, tell: (RegistryEffect) -> Void
  ) throws(CallFailure) -> Bool {
    var found = 0
    if let place {
      self.place = try store.forEachKeyHolder(after: place, rows: Self.rowsOfPiece, below: level) {
        tell($0)
        found += 1
      }
      count += found
      return true
    }
    former = try store.forEachFormerKey(after: former, limit: Int(Self.rowsOfPiece)) {
      tell(.formerKey($0, of: $1, subject: $2))
      found += 1
    }
    count += found
    if former != nil { return true }
    if count > Self.largeCount { FreeMemory.giveBack() }
    return false
  }
}
