/// The signals' part of a store: of each device where it was last, as far as phone and address say so.
package import DeviceWire
package import Risk
package import System

package protocol SignalTable {
  func riskRecord(of device: DeviceID) throws(StoreFailure) -> RiskRecord?
  /// In the place of the one before; goes with the device.
  func setRiskRecord(_ record: RiskRecord, of device: DeviceID) throws(StoreFailure)
  func deleteRiskRecord(of device: DeviceID) throws(StoreFailure)
  /// - Returns: how many.
  func deleteRiskRecords(before time: UnixTime, limit: Int) throws(StoreFailure) -> Int
  /// Of the oldest one.
  func oldestRiskRecord() throws(StoreFailure) -> UnixTime?
}
