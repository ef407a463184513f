/// The one-time codes' part of a store.
package import Bytes
package import DeviceWire
package import Time

package protocol CodeTable {
  func codeChallenge(_ id: CodeChallengeID) throws(StoreFailure) -> CodeChallenge?
  /// - Parameter nonces: what each phone that it is put to has to sign.
  func insert(_ challenge: CodeChallenge, nonces: [(DeviceID, Bytes32)]) throws(StoreFailure)
  /// Its state and its code. With the end its text and its nonces go.
  func update(_ challenge: CodeChallenge) throws(StoreFailure)
  /// Codes that phones have and nobody has typed; their logins stay open.
  func dropIssuedCodes() throws(StoreFailure)
  func countOpenChallenges(of holder: CodeHolder) throws(StoreFailure) -> Int
  func openChallenges(of service: ServiceID) throws(StoreFailure) -> [CodeChallengeID]
  func openChallenges(of holder: CodeHolder) throws(StoreFailure) -> [CodeChallengeID]
  /// Those whose time is over by then, the first to end first.
  func overdueChallenges(at now: UnixTime, limit: Int) throws(StoreFailure) -> [CodeChallengeID]
  /// When the first open one ends.
  func nextChallengeEnd() throws(StoreFailure) -> UnixTime?
  /// - Returns: how many.
  func deleteChallenges(endedBefore time: UnixTime, limit: Int) throws(StoreFailure) -> Int
  func deleteChallenges(of holder: CodeHolder) throws(StoreFailure)

  // MARK: Whom they are put to

  /// In the order of their places.
  func openChallenges(
    for device: DeviceID, after place: Int64
  ) throws(StoreFailure) -> [(place: Int64, challenge: CodeChallenge, nonce: Bytes32)]
  /// Of an open challenge.
  func nonce(of challenge: CodeChallengeID, for device: DeviceID) throws(StoreFailure) -> Bytes32?
  func setNonce(_ nonce: Bytes32, of challenge: CodeChallengeID, for device: DeviceID) throws(StoreFailure)
  /// Whether it was put to the device, open or not.
  func isPut(_ challenge: CodeChallengeID, to device: DeviceID) throws(StoreFailure) -> Bool
  /// It is put to the device no more, and codes that it has asked for are none.
  func withdrawChallenges(from device: DeviceID) throws(StoreFailure)
  /// Codes that it has asked for are none.
  func dropCodes(of device: DeviceID) throws(StoreFailure)
  /// Nothing says any more that it was put to the device.
  func forgetChallenges(putTo device: DeviceID) throws(StoreFailure)
  /// The place of the last one that was ever put.
  func lastChallengePlace() throws(StoreFailure) -> Int64

  // MARK: Wrong codes

  func wrongCodes(of holder: CodeHolder) throws(StoreFailure) -> WrongCodes
  /// Nothing is kept of none.
  func setWrongCodes(_ wrong: WrongCodes, of holder: CodeHolder) throws(StoreFailure)
}
