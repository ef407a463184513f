/// The rows of whom requests for approvals were put to.
package import DeviceWire
internal import SQL

extension RegistryDatabase {
  /// Those whose vote it waits for.
  package func devices(of approval: ApprovalID) throws(CallFailure) -> [DeviceID] {
    try ids(
      """
      SELECT device FROM approval_devices
      WHERE approval = (SELECT number FROM approvals WHERE id = ?1) AND is_open = 1
      """, [.id(approval)])
  }

  package func isPut(_ approval: ApprovalID, to device: DeviceID) throws(CallFailure) -> Bool {
    try count(
      """
      SELECT count(*) FROM approval_devices
      WHERE approval = (SELECT number FROM approvals WHERE id = ?1) AND device = ?2
      """, [.id(approval), .id(device)]) > 0
  }

  /// Those that wait for this device's vote, in the order in which they came, each with its place in that order.
  package func openApprovals(
    for device: DeviceID, after place: Int64
  ) throws(CallFailure) -> [(place: Int64, approval: ApprovalRecord)] {
    try all(
      """
      SELECT \(Self.readColumns), number FROM approval_devices JOIN approvals ON number = approval
      WHERE device = ?1 AND is_open = 1 AND number > ?2 ORDER BY number
      """, [.id(device), .integer(place)]
    ) { (row) throws(SQLError) in
      (place: try row.integer(27), approval: try Self.approval(row))
    }
  }

  /// Pending ones that were put to the device, whether it has voted or not.
  package func openApprovals(putTo device: DeviceID) throws(CallFailure) -> [ApprovalID] {
    // Also those that it has voted on, of which no index knows: few devices are revoked.
    try ids(
      """
      SELECT id FROM approvals JOIN approval_devices ON approval = number
      WHERE state = 0 AND device = ?1
      """, [.id(device)])
  }

  package func countOpen(for device: DeviceID) throws(CallFailure) -> Int {
    try count("SELECT count(*) FROM approval_devices WHERE device = ?1 AND is_open = 1", [.id(device)])
  }

  /// Those of one service, or of one user of the host by the name that he is known by.
  package func countOpen(
    for device: DeviceID, of service: ServiceID?, requester: String?
  ) throws(CallFailure) -> Int {
    try count(
      """
      SELECT count(*) FROM approval_devices JOIN approvals ON number = approval
      WHERE device = ?1 AND is_open = 1 AND service = ?2 AND (CAST(?3 AS TEXT) IS NULL OR requester = ?3)
      """, [.id(device), .service(service), .text(orNull: requester)])
  }

  /// The last place that was given to any.
  package func lastPlace() throws(CallFailure) -> Int64 {
    try lastNumber(StoreValue.approvalNumber)
  }

  /// Nothing of the approval waits for the device's vote any more; nil: for anybody's.
  package func close(_ approval: ApprovalID, for device: DeviceID?) throws(CallFailure) {
    try run(
      """
      UPDATE approval_devices SET is_open = 0
      WHERE approval = (SELECT number FROM approvals WHERE id = ?1) AND (CAST(?2 AS BLOB) IS NULL OR device = ?2)
        AND is_open = 1
      """, [.id(approval), .id(orNull: device)])
  }

  /// It waits for the device's vote again, which it was put to before.
  package func open(_ approval: ApprovalID, for device: DeviceID) throws(CallFailure) {
    try run(
      """
      UPDATE approval_devices SET is_open = 1
      WHERE approval = (SELECT number FROM approvals WHERE id = ?1 AND state = 0) AND device = ?2
      """, [.id(approval), .id(device)])
  }

  /// One more wrong code, and how many they are.
  package func countTry(of device: DeviceID, on approval: ApprovalID) throws(CallFailure) -> Int {
    let values: [SQLValue] = [.id(approval), .id(device)]
    let place = "approval = (SELECT number FROM approvals WHERE id = ?1) AND device = ?2"
    try run("UPDATE approval_devices SET wrong_codes = wrong_codes + 1 WHERE \(place)", values)
    return try count("SELECT wrong_codes FROM approval_devices WHERE \(place)", values)
  }

  /// Subjects of active devices that begin with `prefix`, in order.
  package func subjects(
    beginningWith prefix: [UInt8], after: Subject?, limit: Int
  ) throws(CallFailure) -> [Subject] {
    // As bytes, which is how the index is sorted; a prefix may end within a character.
    let start = after.map { Array($0.name.utf8) } ?? prefix
    let found = try all(
      """
      SELECT DISTINCT subject FROM devices
      WHERE subject IS NOT NULL AND subject >= \(SQLiteWords.text(of: "?1")) AND subject <> ?2 AND state = 1
      ORDER BY subject LIMIT ?3
      """, [.blob(start), .text(after?.name ?? ""), .integer(Int64(limit))]
    ) { (row) throws(SQLError) in try row.word(0) { Subject(stored: $0) } }
    return Array(found.prefix { $0.name.utf8.starts(with: prefix) })
  }
}
