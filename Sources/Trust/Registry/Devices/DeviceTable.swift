/// The devices' part of a store.
package import Bytes
package import DeviceWire
package import System

package protocol DeviceTable {
  func device(_ id: DeviceID) throws(StoreFailure) -> DeviceRecord?
  /// By the hash of its device key; one device has it.
  func device(withKey hash: Bytes32) throws(StoreFailure) -> DeviceRecord?
  func device(attestedBy key: KeyIdentifier) throws(StoreFailure) -> DeviceRecord?
  func insert(_ device: DeviceRecord) throws(StoreFailure)
  func update(_ device: DeviceRecord) throws(StoreFailure)
  func delete(_ id: DeviceID) throws(StoreFailure)

  /// Those that may vote for a subject.
  func activeDevices(of subject: Subject) throws(StoreFailure) -> [DeviceRecord]
  func count(_ state: DeviceRecord.State) throws(StoreFailure) -> Int
  /// In the order of their making, a page at a time.
  func devices(
    subject: Subject?, state: DeviceRecord.State?, after: DeviceID?, limit: Int
  ) throws(StoreFailure) -> [DeviceRecord]
  /// All that may come in at this level or above, for the door.
  func forEachActiveDevice(from level: Level, _ body: (ActiveDevice) -> Void) throws(StoreFailure)
  /// Pending ones made before, in the order of their making.
  func pendingDevices(madeBefore: UnixTime, limit: Int) throws(StoreFailure) -> [DeviceID]
}
