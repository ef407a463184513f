/// The rows of votes and leases, and of those who are barred.
internal import Bytes
package import DeviceWire
internal import SQL

extension RegistryDatabase {
  /// Times are Unix seconds, as they are signed; keys the 64 bytes of x and y. What lies in the order of the requests'
  /// numbers changes few pages in a group; of a random key each change is a page, so votes are found by no other.
  static let voteTables = """
    CREATE TABLE votes (
      approval INTEGER NOT NULL REFERENCES approvals (number) ON DELETE CASCADE,
      device BLOB NOT NULL, subject TEXT NOT NULL, key BLOB NOT NULL,
      decision INTEGER NOT NULL, match_code TEXT NOT NULL, issued_at INTEGER NOT NULL,
      level INTEGER NOT NULL, verification INTEGER NOT NULL, signature BLOB NOT NULL,
      PRIMARY KEY (approval, device)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE leases (
      id BLOB PRIMARY KEY NOT NULL,
      approval BLOB NOT NULL UNIQUE REFERENCES approvals (id) ON DELETE CASCADE,
      expires_at INTEGER NOT NULL, uses_left INTEGER NOT NULL CHECK (uses_left >= 0), ended_at INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX leases_open ON leases (expires_at) WHERE ended_at IS NULL;
    CREATE TABLE lease_uses (
      lease BLOB NOT NULL REFERENCES leases (id) ON DELETE CASCADE, use TEXT NOT NULL, uses_left INTEGER NOT NULL,
      PRIMARY KEY (lease, use)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE approval_bars (
      service BLOB NOT NULL, requester TEXT NOT NULL, subject TEXT NOT NULL, at INTEGER NOT NULL,
      PRIMARY KEY (service, requester, subject)
    ) STRICT, WITHOUT ROWID
    """

  static let endLeasesOfService = """
    UPDATE leases SET ended_at = ?2
    WHERE ended_at IS NULL AND expires_at > ?2 AND EXISTS (
      SELECT 1 FROM approvals WHERE approvals.id = leases.approval AND service = ?1)
    """
}

extension RegistryDatabase {
  package func votes(on approval: ApprovalID) throws(CallFailure) -> [VoteRecord] {
    try all(
      """
      SELECT device, subject, key, decision, match_code, issued_at, level, verification, signature
      FROM votes WHERE approval = (SELECT number FROM approvals WHERE id = ?1) ORDER BY issued_at, device
      """, [.id(approval)]
    ) { (row) throws(SQLError) in
      let code = try row.word(4) { MatchCode($0) }
      let vote = try row.number(3) { number in
        UInt8(exactly: number).flatMap { Decision(byte: $0) }.flatMap { Vote($0, matchCode: code) }
      }
      return VoteRecord(
        device: try row.id(0), subject: try row.word(1) { Subject(stored: $0) },
        key: try row.value(2) { P256Point(stored: $0) }, vote: vote,
        issuedAt: try row.number(5) { UnixSeconds($0) }, level: try row.number(6) { Level(stored: $0) },
        verification: try row.number(7) { UserVerification(stored: $0) },
        signature: try row.value(8) { DeviceSignature($0) })
    }
  }

  package func insert(_ vote: VoteRecord, on approval: ApprovalID) throws(CallFailure) {
    try run(
      """
      INSERT INTO votes
      (approval, device, subject, key, decision, match_code, issued_at, level, verification, signature)
      SELECT number, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 FROM approvals WHERE id = ?1
      """,
      [
        .id(approval), .id(vote.device), .text(vote.subject.name), .blob(vote.key.stored),
        .integer(Int64(vote.vote.decision.byte)), .text(vote.vote.matchCode.text),
        .integer(vote.issuedAt.value), .integer(vote.level.stored), .integer(vote.verification.stored),
        .blob(vote.signature.der),
      ])
  }

  /// Of those that are pending: nobody has voted then.
  package func deleteOpenVotes(of device: DeviceID) throws(CallFailure) {
    try run(
      "DELETE FROM votes WHERE device = ?1 AND approval IN (SELECT number FROM approvals WHERE state = 0)",
      [.id(device)])
  }

  /// All that was put to it and all that it said, for a device that is forgotten.
  package func deleteVotes(of device: DeviceID) throws(CallFailure) {
    // Reads all of the smaller table.
    try run(
      """
      DELETE FROM votes
      WHERE (approval, device) IN (SELECT approval, device FROM approval_devices WHERE device = ?1)
      """, [.id(device)])
    try run("DELETE FROM approval_devices WHERE device = ?1", [.id(device)])
  }

  // MARK: Leases

  package func lease(_ id: LeaseID) throws(CallFailure) -> LeaseRecord? {
    try lease(where: "id = ?1", .id(id))
  }

  package func lease(of approval: ApprovalID) throws(CallFailure) -> LeaseRecord? {
    try lease(where: "approval = ?1", .id(approval))
  }

  package func insert(_ lease: LeaseRecord) throws(CallFailure) {
    try run(
      "INSERT INTO leases (id, approval, expires_at, uses_left, ended_at) VALUES (?1, ?2, ?3, ?4, ?5)",
      [
        .id(lease.id), .id(lease.approval), .integer(lease.expiresAt.value), .integer(Int64(lease.usesLeft)),
        .integer(orNull: lease.endedAt?.value),
      ])
  }

  package func update(_ lease: LeaseRecord) throws(CallFailure) {
    try run(
      "UPDATE leases SET uses_left = ?2, ended_at = ?3 WHERE id = ?1",
      [.id(lease.id), .integer(Int64(lease.usesLeft)), .integer(orNull: lease.endedAt?.value)])
  }

  /// How many uses were left after this one; nil when it was not made.
  package func usesLeft(after use: String, of lease: LeaseID) throws(CallFailure) -> Int? {
    try first(
      "SELECT uses_left FROM lease_uses WHERE lease = ?1 AND use = ?2", [.id(lease), .text(use)]
    ) { (row) throws(SQLError) in Int(try row.integer(0)) }
  }

  package func insert(use: String, of lease: LeaseID, usesLeft: Int) throws(CallFailure) {
    try run(
      "INSERT INTO lease_uses (lease, use, uses_left) VALUES (?1, ?2, ?3)",
      [.id(lease), .text(use), .integer(Int64(usesLeft))])
  }

  /// Ends those that rest on an approving vote of the device.
  package func endLeases(of device: DeviceID, at now: UnixSeconds) throws(CallFailure) {
    try run(
      """
      UPDATE leases SET ended_at = ?2
      WHERE ended_at IS NULL AND expires_at > ?2 AND EXISTS (
        SELECT 1 FROM approvals JOIN votes ON votes.approval = number
        WHERE approvals.id = leases.approval AND device = ?1 AND decision = 1)
      """, [.id(device), .integer(now.value)])
  }

  package func endAllLeases(at now: UnixSeconds) throws(CallFailure) {
    try run("UPDATE leases SET ended_at = ?1 WHERE ended_at IS NULL", [.integer(now.value)])
  }

  package func endLeases(of service: ServiceID, at now: UnixSeconds) throws(CallFailure) {
    try run(Self.endLeasesOfService, [.id(service), .integer(now.value)])
  }

  private func lease(where condition: String, _ value: SQLValue) throws(CallFailure) -> LeaseRecord? {
    try first(
      "SELECT id, approval, expires_at, uses_left, ended_at FROM leases WHERE \(condition)", [value]
    ) { (row) throws(SQLError) in
      var lease = LeaseRecord(
        id: try row.id(0), approval: try row.id(1), expiresAt: try row.number(2) { UnixSeconds($0) },
        usesLeft: Int(try row.integer(3)))
      lease.endedAt = try row.integerOrNil(4).flatMap { UnixSeconds($0) }
      return lease
    }
  }
}
