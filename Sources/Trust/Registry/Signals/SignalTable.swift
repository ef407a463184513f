/// The signals' part of a store: of each device where it was last, as far as phone and address say so.
package import DeviceWire
package import Risk
package import Time

package protocol SignalTable {
  func riskRecord(of device: DeviceID) throws(StoreFailure) -> RiskRecord?
  /// In the place of the one before; goes with the device. One without parts is none.
  func setRiskRecord(_ record: RiskRecord, of device: DeviceID) throws(StoreFailure)
  func deleteRiskRecord(of device: DeviceID) throws(StoreFailure)
  /// Of which devices some part is from before then, the oldest first.
  func devices(withRiskRecordsBefore time: UnixTime, limit: Int) throws(StoreFailure) -> [DeviceID]
  /// Of the oldest part of all.
  func oldestRiskRecord() throws(StoreFailure) -> UnixTime?
}
