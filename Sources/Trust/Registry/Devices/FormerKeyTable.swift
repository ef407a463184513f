/// App Attest keys that devices had before the ones that vouch for them now: whose they are.
package import Bytes
package import DeviceWire

package protocol FormerKeyTable {
  func insert(former key: KeyIdentifier, of device: DeviceID) throws(StoreFailure)
  func delete(former key: KeyIdentifier) throws(StoreFailure)
  func deviceThatHad(_ key: KeyIdentifier) throws(StoreFailure) -> DeviceID?
  func formerKeys(of device: DeviceID) throws(StoreFailure) -> [KeyIdentifier]
  /// All of them are another device's from then on.
  func passFormerKeys(of device: DeviceID, to other: DeviceID) throws(StoreFailure)
  /// Of the next so many behind one, those whose devices are not revoked.
  /// - Returns: the last of them; nil when there are no more.
  func forEachFormerKey(
    after key: KeyIdentifier?, limit: Int, _ body: (KeyIdentifier, DeviceID, Subject?) -> Void
  ) throws(StoreFailure) -> KeyIdentifier?
}

extension RegistryStore {
  /// Whose App Attest key it is, or was before it had another.
  func holder(of key: KeyIdentifier) throws(StoreFailure) -> DeviceRecord? {
    if let device = try device(attestedBy: key) { return device }
    guard let id = try deviceThatHad(key) else { return nil }
    return try device(id)
  }
}
