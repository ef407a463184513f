/// What the registry asks of its store: transactions, and the tables of its parts. One thread uses it.
package protocol RegistryStore: AnyObject, AndroidTable, ApprovalTable, AuditTable, CodeTable, DeviceTable,
  FormerKeyTable, PairingTable,
  ServiceTable, SignalTable, TokenKeyTable
{
  /// Begins a group of calls.
  func begin() throws(StoreFailure)
  /// All calls of the group are durable when it returns.
  func commit() throws(StoreFailure)
  /// None of the group has happened.
  func abandon()

  /// Begins one call.
  func enter() throws(StoreFailure)
  /// The call is part of its group.
  func keep() throws(StoreFailure)
  /// The call has not happened.
  func undo() throws(StoreFailure)

  /// As of the last commit, and what became of rows since the start.
  func numbers() throws(StoreFailure) -> RegistryNumbers

  /// After a failure: opened anew and looked over.
  func reopen() throws(StoreFailure)
  func close()

  /// Takes room on the disk for what has to be written when there is no other; false when there is not enough.
  func keepReserve() -> Bool
  /// False when there was none.
  func giveUpReserve() -> Bool

  /// What was deleted is in the log no more; to be called while no group is open.
  func emptyLog() throws(StoreFailure)
  /// Empties the log, and overwrites what no row uses in the next pages of the file, from 0: a piece of milliseconds.
  /// - Returns: the page to go on from; nil after the last one, and then what was deleted before the first piece is in no file
  ///   of the store.
  func scrub(from page: Int) throws(StoreFailure) -> Int?

  /// Begins a copy of all but the gate's secrets in a new file of this name, beside its own; made while no group is open,
  /// piece by piece.
  func beginCopy(named name: String) throws(StoreFailure)
  /// True when the copy is whole and on the disk.
  func continueCopy() throws(StoreFailure) -> Bool
  /// Gives it up: nothing is left of it.
  func endCopy()

  /// What the registry keeps of itself, by name: its own identifier, its highest time, keys.
  func value(_ name: String) throws(StoreFailure) -> [UInt8]?
  func setValue(_ name: String, _ bytes: [UInt8]?) throws(StoreFailure)
}
