/// The audit in SQLite: rows by their number, and whom they are about.
internal import Bytes
internal import DeviceWire
internal import SQL

extension RegistryDatabase {
  /// There is one gate, and one chain. `at` in seconds; of an erased row the text is NULL and the salt is the digest.
  /// Whom rows are about lies by blocks of 1,024 rows: new rows change the pages of the last block alone, and a search
  /// looks into each.
  static let auditTables = """
    CREATE TABLE audit (
      gate TEXT NOT NULL, seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, text TEXT, salt BLOB NOT NULL,
      hash BLOB NOT NULL) STRICT;
    CREATE TABLE audit_about (
      block INTEGER NOT NULL, about BLOB NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (block, about, seq)
    ) STRICT, WITHOUT ROWID
    """
}

extension RegistryDatabase {
  /// `registry.value`: eight bytes of sequence, big endian, and the hash.
  private static let beginning = "audit_beginning"

  /// An earlier program has thrown rows away, and its rows do not say which: so the gate says once where it found the
  /// beginning.
  static let unnamedBeginning = """
    INSERT INTO registry SELECT '\(StoreValue.unnamedBeginning)', value FROM registry WHERE name = '\(beginning)'
    """

  /// Where the chain stands.
  package func auditEnd() throws(CallFailure) -> AuditEnd {
    let last = try first("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1") { row throws(SQLError) in
      AuditEnd(sequence: try row.integer(0), hash: try row.hash(1))
    }
    if let last { return last }
    return try auditBeginning()
  }

  /// Where the rows that are kept begin: after the last one that was thrown away.
  package func auditBeginning() throws(CallFailure) -> AuditEnd {
    guard let bytes = try value(Self.beginning) else { return .beginning }
    guard let number = UInt64(bigEndian: bytes.prefix(8)), let sequence = Int64(exactly: number),
      let hash = Bytes32(Array(bytes.dropFirst(8)))
    else { throw .store(.broken("where the audit begins is not written in its form")) }
    return AuditEnd(sequence: sequence, hash: hash)
  }

  package func appendToAudit(_ row: AuditRow, about: [[UInt8]]) throws(CallFailure) {
    let (text, salt): (SQLValue, SQLValue) =
      switch row.content {
      case .text(let text, let salt): (.text(String(decoding: text, as: UTF8.self)), .blob(salt))
      case .erased(let digest): (.null, .hash(digest))
      }
    try run(
      "INSERT INTO audit (gate, seq, at, text, salt, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
      [.text(AuditHead.gate), .integer(row.sequence), .integer(row.at.value), text, salt, .hash(row.hash)])
    for key in about {
      try run(
        "INSERT INTO audit_about (block, about, seq) VALUES (CAST(?2 AS BIGINT) >> 10, ?1, ?2)",
        [.blob(key), .integer(row.sequence)])
    }
  }

  /// In their order, those behind `sequence`.
  package func auditRows(after sequence: Int64, limit: Int) throws(CallFailure) -> [AuditRow] {
    try all(
      "SELECT seq, at, text, salt, hash FROM audit WHERE seq > ?1 ORDER BY seq LIMIT ?2",
      [.integer(sequence), .integer(Int64(limit))], Self.auditRow)
  }

  /// Those before `sequence`, the latest first.
  package func auditRows(before sequence: Int64, limit: Int) throws(CallFailure) -> [AuditRow] {
    try all(
      "SELECT seq, at, text, salt, hash FROM audit WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2",
      [.integer(sequence), .integer(Int64(limit))], Self.auditRow)
  }

  private static func auditRow(_ row: borrowing Row) throws(SQLError) -> AuditRow {
    let content: AuditRow.Content =
      if let text = try row.textOrNil(2) {
        .text(Array(text.utf8), salt: try row.blob(3))
      } else {
        .erased(try row.hash(3))
      }
    return AuditRow(
      sequence: try row.integer(0), at: try row.number(1) { UnixSeconds($0) }, content: content,
      hash: try row.hash(4))
  }

  /// Takes the texts out of rows about it, of at most so many.
  /// - Returns: of how many.
  package func eraseAudit(about key: [UInt8], limit: Int) throws(CallFailure) -> Int {
    let rows = try all(
      """
      WITH RECURSIVE blocks (number) AS (
        SELECT min(block) FROM audit_about
        UNION ALL SELECT number + 1 FROM blocks WHERE number < (SELECT max(block) FROM audit_about)
      )
      SELECT seq, at, text, salt, hash FROM audit
      WHERE seq IN (SELECT seq FROM blocks JOIN audit_about ON block = number WHERE about = ?1)
        AND text IS NOT NULL
      LIMIT ?2
      """, [.blob(key), .integer(Int64(limit))], Self.auditRow)
    for row in rows {
      try run(
        "UPDATE audit SET text = NULL, salt = ?2 WHERE seq = ?1", [.integer(row.sequence), .hash(row.digest)])
      // Who else the row was about is not to be found by it either.
      try forgetWhom(row)
    }
    return rows.count
  }

  /// Where the chain stood after the last row of before `time`, but for the last row of all; nil where there is none.
  package func auditEnd(before time: Int64) throws(CallFailure) -> AuditEnd? {
    // Rows stand in the order of their times, as the registry's clock never goes back: a few looks find the last one.
    var (low, high) = (try auditBeginning().sequence, try auditEnd().sequence - 1)
    var found: AuditEnd?
    while low < high {
      let middle = low + (high - low + 1) / 2
      let row = try first(
        "SELECT seq, at, hash FROM audit WHERE seq <= ?1 ORDER BY seq DESC LIMIT 1", [.integer(middle)]
      ) { (row) throws(SQLError) in
        (end: AuditEnd(sequence: try row.integer(0), hash: try row.hash(2)), at: try row.integer(1))
      }
      guard let row, row.end.sequence > low else {
        // Rows are missing, which is for others to find.
        low = middle
        continue
      }
      if row.at < time {
        (low, found) = (middle, row.end)
      } else {
        high = row.end.sequence - 1
      }
    }
    return found
  }

  /// Throws the oldest rows away, at most so many, and none behind `sequence`.
  /// - Returns: how many.
  package func pruneAudit(through sequence: Int64, limit: Int) throws(CallFailure) -> Int {
    let rows = try auditRows(after: try auditBeginning().sequence, limit: limit).prefix {
      $0.sequence <= sequence
    }
    guard let last = rows.last else { return 0 }
    try setValue(Self.beginning, UInt64(last.sequence).bigEndianBytes + last.hash.array)
    for row in rows { try forgetWhom(row) }
    return try run("DELETE FROM audit WHERE seq <= ?1", [.integer(last.sequence)])
  }

  private func forgetWhom(_ row: AuditRow) throws(CallFailure) {
    guard case .text(let text, _) = row.content else { return }
    for key in AuditEntry.about(text: text) {
      try run(
        "DELETE FROM audit_about WHERE block = CAST(?2 AS BIGINT) >> 10 AND about = ?1 AND seq = ?2",
        [.blob(key.bytes), .integer(row.sequence)])
    }
  }
}
