/// The serials' part of a store: which certificates vouch for Android devices.
package import DeviceWire

package protocol AndroidTable {
  /// Beside those that the device has.
  func insert(_ serials: Set<AndroidSerial>, of device: DeviceID) throws(StoreFailure)
  func deleteSerials(of device: DeviceID) throws(StoreFailure)
  /// Those that are not revoked.
  func devices(of serial: AndroidSerial) throws(StoreFailure) -> [DeviceID]
  func serials(of device: DeviceID) throws(StoreFailure) -> Set<AndroidSerial>
}
