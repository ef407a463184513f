/// The audit's part of a store.

package protocol AuditTable {
  /// Where the chain stands.
  func auditEnd() throws(StoreFailure) -> AuditEnd
  /// Where the rows that are kept begin: after the last one that was thrown away.
  func auditBeginning() throws(StoreFailure) -> AuditEnd
  func appendToAudit(_ row: AuditRow, about: [[UInt8]]) throws(StoreFailure)
  /// In their order, those behind `sequence`.
  func auditRows(after sequence: Int64, limit: Int) throws(StoreFailure) -> [AuditRow]
  /// Those before `sequence`, the latest first.
  func auditRows(before sequence: Int64, limit: Int) throws(StoreFailure) -> [AuditRow]
  /// Takes the texts out of rows about it, of at most so many.
  /// - Returns: of how many.
  func eraseAudit(about: [UInt8], limit: Int) throws(StoreFailure) -> Int
  /// Where the chain stood after the last row of before `time`, but for the last row of all; nil where there is none.
  func auditEnd(before time: Int64) throws(StoreFailure) -> AuditEnd?
  /// Throws the oldest rows away, at most so many, and none behind `sequence`.
  /// - Returns: how many.
  func pruneAudit(through sequence: Int64, limit: Int) throws(StoreFailure) -> Int
}
