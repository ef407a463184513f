/// The services' part of a store.
package import Bytes

package protocol ServiceTable {
  /// Of those that are not revoked.
  func service(withToken hash: Bytes32) throws(StoreFailure) -> ServiceRecord?
  func service(named name: ServiceName) throws(StoreFailure) -> ServiceRecord?
  /// In the order of their making; revoked ones as well.
  func services() throws(StoreFailure) -> [ServiceRecord]
  func insert(_ service: ServiceRecord) throws(StoreFailure)
  func update(_ service: ServiceRecord) throws(StoreFailure)
}
