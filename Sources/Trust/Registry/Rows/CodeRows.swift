/// The rows of one-time codes: of logins that wait for one, of whom they are put to, and of wrong ones.
package import Bytes
package import DeviceWire
internal import SQL
package import Time

extension RegistryDatabase {
  /// Times are Unix milliseconds. `holder` is a subject or a device. Text, nonces and code are gone with the end.
  static let codeTables = """
    CREATE TABLE code_challenges (
      number INTEGER PRIMARY KEY,
      id BLOB NOT NULL UNIQUE,
      service BLOB NOT NULL, holder BLOB NOT NULL, login BLOB NOT NULL, text TEXT NOT NULL,
      created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
      state INTEGER NOT NULL, ended_at INTEGER,
      code BLOB, code_device BLOB, code_expires_at INTEGER, wrong INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX code_challenges_open ON code_challenges (expires_at) WHERE state = 0;
    CREATE INDEX code_challenges_open_of ON code_challenges (holder) WHERE state = 0;
    CREATE INDEX code_challenges_ended ON code_challenges (ended_at) WHERE ended_at IS NOT NULL;
    CREATE TABLE code_devices (
      challenge INTEGER NOT NULL REFERENCES code_challenges (number) ON DELETE CASCADE,
      device BLOB NOT NULL, nonce BLOB,
      PRIMARY KEY (challenge, device)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX code_devices_open ON code_devices (device) WHERE nonce IS NOT NULL;
    CREATE TABLE wrong_codes (
      holder BLOB PRIMARY KEY NOT NULL, count INTEGER NOT NULL, locked_at INTEGER
    ) STRICT, WITHOUT ROWID
    """

  private static let columns = """
    id, service, holder, login, text, created_at, expires_at, state, ended_at, code, code_device, code_expires_at, wrong
    """
  private static let insertChallenge = """
    INSERT INTO code_challenges (\(columns), number)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
    """
  private static let number = "(SELECT number FROM code_challenges WHERE id = ?1)"
}

extension RegistryDatabase {
  package func codeChallenge(_ id: CodeChallengeID) throws(CallFailure) -> CodeChallenge? {
    try first("SELECT \(Self.columns) FROM code_challenges WHERE id = ?1", [.id(id)], Self.challenge)
  }

  /// - Parameter nonces: what each phone that it is put to has to sign.
  package func insert(
    _ challenge: CodeChallenge, nonces: [(DeviceID, Bytes32)]
  ) throws(CallFailure) {
    let number = try nextNumber(StoreValue.codeNumber)
    try run(Self.insertChallenge, Self.values(of: challenge) + [.integer(number)])
    for (device, nonce) in nonces {
      try run(
        "INSERT INTO code_devices (challenge, device, nonce) VALUES (?1, ?2, ?3)",
        [.integer(number), .id(device), .hash(nonce)])
    }
  }

  /// Its state and its code. With the end its text and its nonces go.
  package func update(_ challenge: CodeChallenge) throws(CallFailure) {
    try run(
      """
      UPDATE code_challenges SET (state, ended_at, code, code_device, code_expires_at, wrong)
      = (?2, ?3, ?4, ?5, ?6, ?7) WHERE id = ?1
      """, [.id(challenge.id)] + Self.changing(challenge))
    guard challenge.state != .open else { return }
    try run("UPDATE code_challenges SET text = '' WHERE id = ?1", [.id(challenge.id)])
    try run("UPDATE code_devices SET nonce = NULL WHERE challenge = \(Self.number)", [.id(challenge.id)])
  }

  /// Codes that phones have and nobody has typed; their logins stay open.
  package func dropIssuedCodes() throws(CallFailure) {
    try run(
      """
      UPDATE code_challenges SET code = NULL, code_device = NULL, code_expires_at = NULL
      WHERE state = 0 AND code IS NOT NULL
      """)
  }

  package func countOpenChallenges(of holder: CodeHolder) throws(CallFailure) -> Int {
    try count(
      "SELECT count(*) FROM code_challenges WHERE state = 0 AND holder = ?1", [.blob(holder.bytes)])
  }

  package func openChallenges(of service: ServiceID) throws(CallFailure) -> [CodeChallengeID] {
    try codeIDs("SELECT id FROM code_challenges WHERE state = 0 AND service = ?1", [.id(service)])
  }

  package func openChallenges(of holder: CodeHolder) throws(CallFailure) -> [CodeChallengeID] {
    try codeIDs("SELECT id FROM code_challenges WHERE state = 0 AND holder = ?1", [.blob(holder.bytes)])
  }

  /// Those whose time is over by then, the first to end first.
  package func overdueChallenges(at now: UnixTime, limit: Int) throws(CallFailure) -> [CodeChallengeID] {
    try codeIDs(
      "SELECT id FROM code_challenges WHERE state = 0 AND expires_at <= ?1 ORDER BY expires_at LIMIT ?2",
      [.time(now), .integer(Int64(limit))])
  }

  /// When the first open one ends.
  package func nextChallengeEnd() throws(CallFailure) -> UnixTime? {
    try first("SELECT expires_at FROM code_challenges WHERE state = 0 ORDER BY expires_at LIMIT 1") {
      (row) throws(SQLError) in try row.time(0)
    }
  }

  /// - Returns: how many.
  package func deleteChallenges(endedBefore time: UnixTime, limit: Int) throws(CallFailure) -> Int {
    try run(
      """
      DELETE FROM code_challenges WHERE number IN
      (SELECT number FROM code_challenges WHERE ended_at IS NOT NULL AND ended_at < ?1 ORDER BY ended_at LIMIT ?2)
      """, [.time(time), .integer(Int64(limit))])
  }

  package func deleteChallenges(of holder: CodeHolder) throws(CallFailure) {
    try run("DELETE FROM code_challenges WHERE holder = ?1", [.blob(holder.bytes)])
  }

  // MARK: Whom they are put to

  /// In the order of their places.
  package func openChallenges(
    for device: DeviceID, after place: Int64
  ) throws(CallFailure) -> [(place: Int64, challenge: CodeChallenge, nonce: Bytes32)] {
    try all(
      """
      SELECT \(Self.columns), number, nonce FROM code_devices JOIN code_challenges ON number = challenge
      WHERE device = ?1 AND nonce IS NOT NULL AND number > ?2 ORDER BY number
      """, [.id(device), .integer(place)]
    ) { (row) throws(SQLError) in
      (place: try row.integer(13), challenge: try Self.challenge(row), nonce: try row.hash(14))
    }
  }

  /// Of an open challenge.
  package func nonce(
    of challenge: CodeChallengeID, for device: DeviceID
  ) throws(CallFailure) -> Bytes32? {
    let found = try first(
      "SELECT nonce FROM code_devices WHERE challenge = \(Self.number) AND device = ?2",
      [.id(challenge), .id(device)]
    ) { (row) throws(SQLError) in try row.hashOrNil(0) }
    return found.flatMap { $0 }
  }

  package func setNonce(
    _ nonce: Bytes32, of challenge: CodeChallengeID, for device: DeviceID
  ) throws(CallFailure) {
    try run(
      """
      UPDATE code_devices SET nonce = ?3
      WHERE challenge = \(Self.number) AND device = ?2 AND nonce IS NOT NULL
      """, [.id(challenge), .id(device), .hash(nonce)])
  }

  /// Whether it was put to the device, open or not.
  package func isPut(_ challenge: CodeChallengeID, to device: DeviceID) throws(CallFailure) -> Bool {
    try count(
      "SELECT count(*) FROM code_devices WHERE challenge = \(Self.number) AND device = ?2",
      [.id(challenge), .id(device)]) > 0
  }

  /// It is put to the device no more, and codes that it has asked for are none.
  package func withdrawChallenges(from device: DeviceID) throws(CallFailure) {
    try run("UPDATE code_devices SET nonce = NULL WHERE device = ?1 AND nonce IS NOT NULL", [.id(device)])
    try dropCodes(of: device)
  }

  /// Codes that it has asked for are none.
  package func dropCodes(of device: DeviceID) throws(CallFailure) {
    // Through those that are open, which are few at any time.
    try run(
      """
      UPDATE code_challenges SET code = NULL, code_device = NULL, code_expires_at = NULL, wrong = 0
      WHERE state = 0 AND code_device = ?1
      """, [.id(device)])
  }

  /// Nothing says any more that it was put to the device.
  package func forgetChallenges(putTo device: DeviceID) throws(CallFailure) {
    try withdrawChallenges(from: device)
    // No index knows of those that have ended: few devices are forgotten.
    try run("DELETE FROM code_devices WHERE device = ?1", [.id(device)])
  }

  /// The place of the last one that was ever put.
  package func lastChallengePlace() throws(CallFailure) -> Int64 {
    try lastNumber(StoreValue.codeNumber)
  }

  // MARK: Wrong codes

  package func wrongCodes(of holder: CodeHolder) throws(CallFailure) -> WrongCodes {
    try first("SELECT count, locked_at FROM wrong_codes WHERE holder = ?1", [.blob(holder.bytes)]) {
      (row) throws(SQLError) in
      WrongCodes(count: try row.number(0) { Int(exactly: $0) }, lockedAt: try row.timeOrNil(1))
    } ?? WrongCodes()
  }

  /// Nothing is kept of none.
  package func setWrongCodes(_ wrong: WrongCodes, of holder: CodeHolder) throws(CallFailure) {
    if wrong == WrongCodes() {
      try run("DELETE FROM wrong_codes WHERE holder = ?1", [.blob(holder.bytes)])
    } else {
      try run(
        """
        INSERT INTO wrong_codes (holder, count, locked_at) VALUES (?1, ?2, ?3)
        ON CONFLICT (holder) DO UPDATE SET count = excluded.count, locked_at = excluded.locked_at
        """,
        [.blob(holder.bytes), .integer(Int64(wrong.count)), .time(orNull: wrong.lockedAt)])
    }
  }

  // MARK: Rows

  private func codeIDs(_ sql: String, _ values: [SQLValue]) throws(CallFailure) -> [CodeChallengeID] {
    try all(sql, values) { (row) throws(SQLError) in try row.id(0) }
  }

  private static func values(of challenge: CodeChallenge) -> [SQLValue] {
    [
      .id(challenge.id), .id(challenge.service), .blob(challenge.holder.bytes), .hash(challenge.login),
      .text(challenge.text), .time(challenge.createdAt), .time(challenge.expiresAt),
    ] + changing(challenge)
  }

  private static func changing(_ challenge: CodeChallenge) -> [SQLValue] {
    [
      .integer(Int64(challenge.state.rawValue)), .time(orNull: challenge.endedAt),
      .hash(orNull: challenge.code?.mac), .id(orNull: challenge.code?.device),
      .time(orNull: challenge.code?.expiresAt), .integer(Int64(challenge.code?.wrong ?? 0)),
    ]
  }

  private static func challenge(_ row: borrowing Row) throws(SQLError) -> CodeChallenge {
    var challenge = CodeChallenge(
      id: try row.id(0), service: try row.id(1), holder: try row.value(2) { CodeHolder($0) },
      login: try row.hash(3), text: try row.text(4), createdAt: try row.time(5), expiresAt: try row.time(6))
    challenge.state = try row.number(7) { CodeChallenge.State(rawValue: Int($0)) }
    challenge.endedAt = try row.timeOrNil(8)
    if !row.isNull(9) {
      challenge.code = LiveCode(
        device: try row.id(10), mac: try row.hash(9), expiresAt: try row.time(11),
        wrong: try row.number(12) { Int(exactly: $0) })
    }
    return challenge
  }
}
