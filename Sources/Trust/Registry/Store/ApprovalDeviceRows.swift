/// The rows of whom requests for approvals were put to.
package import DeviceWire
internal import SQLite

extension SQLiteStore {
  package func devices(of approval: ApprovalID) throws(StoreFailure) -> [DeviceID] {
    try ids(
      """
      SELECT device FROM approval_devices
      WHERE approval = (SELECT number FROM approvals WHERE id = ?1) AND is_open = 1
      """, [.id(approval)])
  }

  package func isPut(_ approval: ApprovalID, to device: DeviceID) throws(StoreFailure) -> Bool {
    try count(
      """
      SELECT count(*) FROM approval_devices
      WHERE approval = (SELECT number FROM approvals WHERE id = ?1) AND device = ?2
      """, [.id(approval), .id(device)]) > 0
  }

  package func openApprovals(
    for device: DeviceID, after place: Int64
  ) throws(StoreFailure) -> [(place: Int64, approval: ApprovalRecord)] {
    try all(
      """
      SELECT \(Self.readColumns), number FROM approval_devices JOIN approvals ON number = approval
      WHERE device = ?1 AND is_open = 1 AND number > ?2 ORDER BY number
      """, [.id(device), .integer(place)]
    ) { (row) throws(SQLiteError) in
      (place: try row.integer(27), approval: try Self.approval(row))
    }
  }

  package func openApprovals(putTo device: DeviceID) throws(StoreFailure) -> [ApprovalID] {
    // Also those that it has voted on, of which no index knows: few devices are revoked.
    try ids(
      """
      SELECT id FROM approvals JOIN approval_devices ON approval = number
      WHERE state = 0 AND device = ?1
      """, [.id(device)])
  }

  package func countOpen(for device: DeviceID) throws(StoreFailure) -> Int {
    try count("SELECT count(*) FROM approval_devices WHERE device = ?1 AND is_open = 1", [.id(device)])
  }

  package func countOpen(
    for device: DeviceID, of service: ServiceID?, requester: String?
  ) throws(StoreFailure) -> Int {
    try count(
      """
      SELECT count(*) FROM approval_devices JOIN approvals ON number = approval
      WHERE device = ?1 AND is_open = 1 AND service = ?2 AND (?3 IS NULL OR requester = ?3)
      """, [.id(device), .service(service), .text(orNull: requester)])
  }

  package func lastPlace() throws(StoreFailure) -> Int64 {
    try first("SELECT seq FROM sqlite_sequence WHERE name = 'approvals'") { (row) throws(SQLiteError) in
      try row.integer(0)
    } ?? 0
  }

  package func close(_ approval: ApprovalID, for device: DeviceID?) throws(StoreFailure) {
    try run(
      """
      UPDATE approval_devices SET is_open = 0
      WHERE approval = (SELECT number FROM approvals WHERE id = ?1) AND (?2 IS NULL OR device = ?2) AND is_open = 1
      """, [.id(approval), .id(orNull: device)])
  }

  package func open(_ approval: ApprovalID, for device: DeviceID) throws(StoreFailure) {
    try run(
      """
      UPDATE approval_devices SET is_open = 1
      WHERE approval = (SELECT number FROM approvals WHERE id = ?1 AND state = 0) AND device = ?2
      """, [.id(approval), .id(device)])
  }

  package func countTry(of device: DeviceID, on approval: ApprovalID) throws(StoreFailure) -> Int {
    let values: [SQLValue] = [.id(approval), .id(device)]
    let place = "approval = (SELECT number FROM approvals WHERE id = ?1) AND device = ?2"
    try run("UPDATE approval_devices SET wrong_codes = wrong_codes + 1 WHERE \(place)", values)
    return try count("SELECT wrong_codes FROM approval_devices WHERE \(place)", values)
  }

  package func subjects(
    beginningWith prefix: [UInt8], after: Subject?, limit: Int
  ) throws(StoreFailure) -> [Subject] {
    // As bytes, which is how the index is sorted; a prefix may end within a character.
    let start = after.map { Array($0.name.utf8) } ?? prefix
    let found = try all(
      """
      SELECT DISTINCT subject FROM devices
      WHERE subject IS NOT NULL AND subject >= CAST(?1 AS TEXT) AND subject <> ?2 AND state = 1
      ORDER BY subject LIMIT ?3
      """, [.blob(start), .text(after?.name ?? ""), .integer(Int64(limit))]
    ) { (row) throws(SQLiteError) in try row.word(0) { Subject(stored: $0) } }
    return Array(found.prefix { $0.name.utf8.starts(with: prefix) })
  }
}
