/// The tables of the store's file, and how a file of an older form comes to have them.

extension SQLiteStore {
  /// All tables as they are now. Each part of the registry has its own in a file of its own.
  static let newestForm = [
    registryTables,
    auditTables,
    deviceTables,
    androidTables,
    tokenKeyTables,
    pairingTables,
    serviceTables,
    approvalTables,
    voteTables,
    codeTables,
    signalTables,
    tallyTable,
  ].joined(separator: ";\n")

  /// Step n leads from form n + 1 to the next. A step does not change any more.
  static let steps = [
    // Votes by their requests' numbers, whom the audit is about by blocks, leases that are open.
    """
    CREATE TABLE new_votes (
      approval INTEGER NOT NULL REFERENCES approvals (number) ON DELETE CASCADE,
      device BLOB NOT NULL, subject TEXT NOT NULL, key BLOB NOT NULL,
      decision INTEGER NOT NULL, match_code TEXT NOT NULL, issued_at INTEGER NOT NULL,
      level INTEGER NOT NULL, verification INTEGER NOT NULL, signature BLOB NOT NULL,
      PRIMARY KEY (approval, device)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO new_votes
    SELECT a.number, device, v.subject, key, decision, v.match_code, issued_at, v.level, v.verification, signature
    FROM votes AS v JOIN approvals AS a ON a.id = v.approval;
    DROP TABLE votes;
    ALTER TABLE new_votes RENAME TO votes;
    CREATE INDEX leases_open ON leases (expires_at) WHERE ended_at IS NULL;
    CREATE TABLE new_about (
      block INTEGER NOT NULL, about BLOB NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (block, about, seq)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO new_about SELECT seq >> 10, about, seq FROM audit_about ORDER BY seq;
    DROP TABLE audit_about;
    ALTER TABLE new_about RENAME TO audit_about
    """,
    // Codes, what Android brings, and where phones were last.
    [
      "ALTER TABLE devices ADD COLUMN play_attested_at INTEGER",
      androidTables,
      codeTables,
      signalTables,
    ].joined(separator: ";\n"),
    // How many rows of which state there are.
    [tallyTable, firstTallies].joined(separator: ";\n"),
    // What a device is excepted from.
    "ALTER TABLE devices ADD COLUMN exception_of INTEGER",
  ]

  static let registryTables = """
    CREATE TABLE registry (name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT, WITHOUT ROWID
    """
}
