/// The pairings' part of a store.
package import DeviceWire
package import Time

package protocol PairingTable {
  func pairing(_ id: PairingID) throws(StoreFailure) -> PairingRecord?
  func insert(_ pairing: PairingRecord) throws(StoreFailure)
  func update(_ pairing: PairingRecord) throws(StoreFailure)
  /// How many are open of a service's, or of the host's.
  func openPairings(of service: ServiceID?) throws(StoreFailure) -> Int
  /// Open ones of a service, or of anybody, whose time is over by then; the first to end first.
  func openPairings(
    of service: ServiceID?, endingBy time: UnixTime, limit: Int
  ) throws(StoreFailure) -> [PairingRecord]
  /// All, open or ended, that a device has come by, or that were for a subject.
  func pairings(of device: DeviceID) throws(StoreFailure) -> [PairingRecord]
  func pairings(of subject: Subject) throws(StoreFailure) -> [PairingRecord]
  func delete(_ id: PairingID) throws(StoreFailure)
  /// When the first open one ends.
  func nextPairingEnd() throws(StoreFailure) -> UnixTime?
  /// - Returns: how many.
  func deletePairings(endedBefore time: UnixTime, limit: Int) throws(StoreFailure) -> Int
}
