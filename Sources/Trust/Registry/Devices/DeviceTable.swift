/// The devices' part of a store.
package import Bytes
package import DeviceTokens
package import DeviceWire
package import Time

package protocol DeviceTable {
  func device(_ id: DeviceID) throws(StoreFailure) -> DeviceRecord?
  /// By its device key; one device has it.
  func device(withKey key: DevicePublicKey) throws(StoreFailure) -> DeviceRecord?
  /// Whose device key or approval key it is, or was before it was revoked.
  func isKeyTaken(_ key: DevicePublicKey) throws(StoreFailure) -> Bool
  func device(attestedBy key: KeyIdentifier) throws(StoreFailure) -> DeviceRecord?
  func insert(_ device: DeviceRecord) throws(StoreFailure)
  func update(_ device: DeviceRecord) throws(StoreFailure)
  func delete(_ id: DeviceID) throws(StoreFailure)
  /// No device that waits is to take this one's place any more.
  func keepPlace(of id: DeviceID) throws(StoreFailure)

  /// Those that may vote for a subject.
  func activeDevices(of subject: Subject) throws(StoreFailure) -> [DeviceRecord]
  func count(_ state: DeviceRecord.State) throws(StoreFailure) -> Int
  /// In the order of their making, a page at a time.
  func devices(
    of subject: Subject?, in state: DeviceRecord.State?, after: DeviceID?, limit: Int
  ) throws(StoreFailure) -> [DeviceRecord]
  /// All that may come in at this level or above, for the door.
  func forEachActiveDevice(from level: Level, _ body: (ActiveDevice) -> Void) throws(StoreFailure)
  /// Of the next so many rows behind a place, those others that are not revoked and have an App Attest key.
  /// - Parameter level: from which on active ones are left out; nil for none.
  /// - Returns: the place of the last of these rows; nil when there are no more.
  func forEachKeyHolder(
    after place: Int64, rows: Int64, below level: Level?, _ body: (RegistryEffect) -> Void
  ) throws(StoreFailure) -> Int64?
  /// Those of the keys by which there is a device that is not revoked.
  func attestedKeys(among keys: [KeyIdentifier]) throws(StoreFailure) -> [KeyIdentifier]
  /// App Attest keys that devices have, or had, which are revoked: nobody comes in by them.
  func forEachRevokedKey(_ body: (KeyIdentifier) -> Void) throws(StoreFailure)
  /// Pending ones made before, in the order of their making.
  func pendingDevices(madeBefore time: UnixTime, limit: Int) throws(StoreFailure) -> [DeviceRecord]
}

/// The keys of device tokens, those that sign no more by their public halves: what they have signed can still be judged.
package protocol TokenKeyTable {
  /// All that sign or are published.
  func tokenKeys() throws(StoreFailure) -> [TokenKeyRing.Member]
  /// In the place of those; what is left out loses its private half.
  func setTokenKeys(_ members: [TokenKeyRing.Member]) throws(StoreFailure)
  /// Of any key that ever signed here.
  func tokenKey(_ thumbprint: KeyThumbprint) throws(StoreFailure) -> P256Point?
}
