/// The tables of the store's file, and how a file of an older form comes to have them.

extension RegistryDatabase {
  /// All tables as they are now. Each part of the registry has its own in a file of its own.
  static let newestForm = [
    registryTables,
    auditTables,
    deviceTables,
    formerKeyTables,
    androidTables,
    tokenKeyTables,
    pairingTables,
    serviceTables,
    approvalTables,
    voteTables,
    reportTables,
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
      """
      CREATE TABLE android_serials (
        serial BLOB NOT NULL,
        device INTEGER NOT NULL REFERENCES devices (number) ON DELETE CASCADE,
        PRIMARY KEY (serial, device)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX android_serials_by_device ON android_serials (device)
      """,
      codeTables,
      firstSignalTables,
    ].joined(separator: ";\n"),
    // How many rows of which state there are.
    [tallyTable, firstTallies].joined(separator: ";\n"),
    // What a device is excepted from.
    "ALTER TABLE devices ADD COLUMN exception_of INTEGER",
    // The serials of a device as a path that others may share: what many have goes first.
    """
    CREATE TABLE android_chains (
      number INTEGER PRIMARY KEY,
      serial BLOB NOT NULL,
      rest INTEGER REFERENCES android_chains (number)
    ) STRICT;
    CREATE INDEX android_chains_by_serial ON android_chains (substr(serial, 1, 8), rest);
    CREATE INDEX android_chains_by_rest ON android_chains (rest) WHERE rest IS NOT NULL;
    ALTER TABLE devices ADD COLUMN chain INTEGER REFERENCES android_chains (number);
    CREATE INDEX devices_by_chain ON devices (chain) WHERE chain IS NOT NULL;
    CREATE TABLE old_places (
      device INTEGER NOT NULL, place INTEGER NOT NULL, serial BLOB NOT NULL, path TEXT NOT NULL,
      PRIMARY KEY (device, place)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO old_places
    SELECT device, place, serial, group_concat(hex(serial), ' ') OVER (PARTITION BY device ORDER BY place)
    FROM (
      SELECT s.device, s.serial, row_number() OVER (PARTITION BY s.device ORDER BY k.count DESC, s.serial) AS place
      FROM android_serials AS s
      JOIN (SELECT serial, count(*) AS count FROM android_serials GROUP BY serial) AS k ON k.serial = s.serial
    );
    CREATE TABLE old_paths (
      number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, serial BLOB NOT NULL, rest TEXT
    ) STRICT;
    INSERT INTO old_paths (path, serial, rest)
    SELECT p.path, p.serial, q.path
    FROM old_places AS p LEFT JOIN old_places AS q ON q.device = p.device AND q.place = p.place - 1
    GROUP BY p.path ORDER BY min(p.place);
    INSERT INTO android_chains
    SELECT p.number, p.serial, q.number FROM old_paths AS p LEFT JOIN old_paths AS q ON q.path = p.rest
    ORDER BY p.number;
    UPDATE devices SET chain = (
      SELECT o.number FROM old_places AS l JOIN old_paths AS o ON o.path = l.path
      WHERE l.device = devices.number ORDER BY l.place DESC LIMIT 1)
    WHERE number IN (SELECT device FROM android_serials);
    DROP TABLE old_places;
    DROP TABLE old_paths;
    DROP TABLE android_serials
    """,
    // App Attest keys that devices had before, and an audit whose beginning has no name.
    [formerKeyTables, unnamedBeginning].joined(separator: ";\n"),
    // When each part of where a phone was is from. What is of a position's time may be from later.
    """
    ALTER TABLE signals ADD COLUMN position_at INTEGER;
    ALTER TABLE signals ADD COLUMN asn_at INTEGER;
    ALTER TABLE signals ADD COLUMN country_at INTEGER;
    DELETE FROM signals WHERE coalesce(latitude, asn, country) IS NULL;
    UPDATE signals SET
      position_at = CASE WHEN latitude IS NULL THEN NULL ELSE at END,
      asn_at = CASE WHEN asn IS NULL THEN NULL ELSE at END,
      country_at = CASE WHEN country IS NULL THEN NULL ELSE at END
    """,
    // Summaries that are cut to their hashes, reports of services, and how far Play Integrity trusted a phone.
    """
    ALTER TABLE approvals ADD COLUMN summary_hash BLOB;
    ALTER TABLE approvals ADD COLUMN operation TEXT;
    \(wholeApprovals);
    \(reportTables);
    ALTER TABLE devices ADD COLUMN play_level INTEGER
    """,
    // The last numbers of requests and codes as values of the registry, in tables that count no more by themselves; and a
    // column's name that is no word of SQL's.
    """
    INSERT INTO registry SELECT 'approval_number', CAST(CAST(seq AS TEXT) AS BLOB)
    FROM sqlite_sequence WHERE name = 'approvals';
    INSERT INTO registry SELECT 'code_number', CAST(CAST(seq AS TEXT) AS BLOB)
    FROM sqlite_sequence WHERE name = 'code_challenges';
    CREATE TABLE new_approvals (
      number INTEGER PRIMARY KEY,
      id BLOB NOT NULL UNIQUE,
      service BLOB NOT NULL, host_user INTEGER, requester TEXT NOT NULL, subject TEXT,
      summary BLOB NOT NULL,
      factors INTEGER NOT NULL, level INTEGER NOT NULL, verification INTEGER NOT NULL, quorum INTEGER NOT NULL,
      distinct_subjects INTEGER NOT NULL, bars_requester INTEGER NOT NULL, presence INTEGER NOT NULL,
      approvers TEXT, lease_seconds INTEGER, lease_uses INTEGER,
      match_code TEXT NOT NULL,
      created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
      idempotency_key TEXT, idempotency_hash BLOB,
      state INTEGER NOT NULL, ended_at INTEGER, lacks_devices INTEGER NOT NULL, operator INTEGER,
      summary_hash BLOB, operation TEXT
    ) STRICT;
    INSERT INTO new_approvals SELECT * FROM approvals;
    DROP TABLE approvals;
    ALTER TABLE new_approvals RENAME TO approvals;
    CREATE INDEX approvals_open ON approvals (expires_at) WHERE state = 0;
    CREATE INDEX approvals_open_of ON approvals (service, requester) WHERE state = 0;
    CREATE INDEX approvals_ended ON approvals (ended_at) WHERE ended_at IS NOT NULL;
    CREATE INDEX approvals_by_key ON approvals (service, idempotency_key) WHERE idempotency_key IS NOT NULL;
    CREATE INDEX approvals_whole ON approvals (ended_at) WHERE ended_at IS NOT NULL AND summary_hash IS NULL;
    CREATE TABLE new_code_challenges (
      number INTEGER PRIMARY KEY,
      id BLOB NOT NULL UNIQUE,
      service BLOB NOT NULL, holder BLOB NOT NULL, login BLOB NOT NULL, text TEXT NOT NULL,
      created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
      state INTEGER NOT NULL, ended_at INTEGER,
      code BLOB, code_device BLOB, code_expires_at INTEGER, wrong INTEGER NOT NULL
    ) STRICT;
    INSERT INTO new_code_challenges SELECT * FROM code_challenges;
    DROP TABLE code_challenges;
    ALTER TABLE new_code_challenges RENAME TO code_challenges;
    CREATE INDEX code_challenges_open ON code_challenges (expires_at) WHERE state = 0;
    CREATE INDEX code_challenges_open_of ON code_challenges (holder) WHERE state = 0;
    CREATE INDEX code_challenges_ended ON code_challenges (ended_at) WHERE ended_at IS NOT NULL
    """,
  ]

  static let registryTables = """
    CREATE TABLE registry (name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT, WITHOUT ROWID
    """
}
