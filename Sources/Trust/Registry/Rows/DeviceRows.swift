/// The rows of devices: one each, kept small, as there may be a million.
package import Bytes
package import DeviceWire
internal import SQL
package import Time

extension RegistryDatabase {
  /// Keys are points of 64 bytes, their indexes hold 16 of them: who finds a second key for one of those has only kept
  /// himself out. Times are Unix milliseconds.
  static let deviceTables = """
    CREATE TABLE devices (
      number INTEGER PRIMARY KEY,
      id BLOB NOT NULL UNIQUE,
      state INTEGER NOT NULL,
      subject TEXT, name TEXT,
      platform INTEGER NOT NULL,
      device_key BLOB NOT NULL, approval_key BLOB,
      level INTEGER NOT NULL, verification INTEGER NOT NULL,
      attested_key BLOB,
      created_at INTEGER NOT NULL, activated_at INTEGER, revoked_at INTEGER, seen_at INTEGER,
      attested_at INTEGER, attestation_failed_at INTEGER,
      app_version TEXT, patch_level TEXT,
      is_rooted INTEGER NOT NULL,
      exception_until INTEGER, exception_reason TEXT,
      replaces BLOB,
      token_series INTEGER NOT NULL,
      play_attested_at INTEGER,
      exception_of INTEGER,
      chain INTEGER REFERENCES android_chains (number),
      play_level INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX devices_by_key ON devices (substr(device_key, 1, 16));
    CREATE UNIQUE INDEX devices_by_approval_key ON devices (substr(approval_key, 1, 16))
      WHERE approval_key IS NOT NULL;
    CREATE UNIQUE INDEX devices_by_attested_key ON devices (substr(attested_key, 1, 16))
      WHERE attested_key IS NOT NULL;
    CREATE INDEX devices_by_subject ON devices (subject) WHERE subject IS NOT NULL;
    CREATE INDEX devices_pending ON devices (created_at) WHERE state = 0;
    CREATE INDEX devices_revoked ON devices (revoked_at) WHERE state = 2;
    \(devicesByChain)
    """
  /// Of Android phones, in which serials of theirs end (`AndroidRows.swift`).
  static let devicesByChain = "CREATE INDEX devices_by_chain ON devices (chain) WHERE chain IS NOT NULL"

  /// All but the row's number and chain, in the order in which they are bound and read.
  package static let deviceColumns = """
    id, state, subject, name, platform, device_key, approval_key, level, verification, attested_key, created_at, \
    activated_at, revoked_at, seen_at, attested_at, attestation_failed_at, app_version, patch_level, is_rooted, \
    exception_until, exception_reason, replaces, token_series, play_attested_at, exception_of, play_level
    """
  private static let insertDevice = """
    INSERT INTO devices (\(deviceColumns)) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, \
    ?26)
    """
  /// Without the keys, each of which has an index with a page to be written, and the time of its making.
  private static let updateDevice = """
    UPDATE devices SET (state, subject, name, platform, level, verification, activated_at, revoked_at, seen_at, \
    attested_at, attestation_failed_at, app_version, patch_level, is_rooted, exception_until, exception_reason, \
    replaces, token_series, play_attested_at, exception_of, play_level) = (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, \
    ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22) WHERE id = ?1
    """
  private static let updateKeys =
    "UPDATE devices SET (device_key, approval_key, attested_key) = (?2, ?3, ?4) WHERE id = ?1"
}

extension RegistryDatabase {
  package func device(_ id: DeviceID) throws(CallFailure) -> DeviceRecord? {
    try device(where: "id = ?1", .id(id))
  }

  /// By its device key; one device has it.
  package func device(withKey key: DevicePublicKey) throws(CallFailure) -> DeviceRecord? {
    try device(
      where: "substr(device_key, 1, 16) = substr(CAST(?1 AS BLOB), 1, 16) AND device_key = ?1",
      .blob(key.stored))
  }

  package func device(attestedBy key: KeyIdentifier) throws(CallFailure) -> DeviceRecord? {
    try device(
      where:
        "attested_key IS NOT NULL AND substr(attested_key, 1, 16) = substr(CAST(?1 AS BLOB), 1, 16) AND attested_key = ?1",
      .hash(key.digest))
  }

  /// Whose device key or approval key it is, or was before it was revoked.
  package func isKeyTaken(_ key: DevicePublicKey) throws(CallFailure) -> Bool {
    try first(
      """
      SELECT 1 FROM devices WHERE substr(device_key, 1, 16) = substr(CAST(?1 AS BLOB), 1, 16)
      UNION ALL SELECT 1 FROM devices
      WHERE approval_key IS NOT NULL AND substr(approval_key, 1, 16) = substr(CAST(?1 AS BLOB), 1, 16)
      """, [.blob(key.stored)]
    ) { (_) throws(SQLError) in true } ?? false
  }

  package func insert(_ device: DeviceRecord) throws(CallFailure) {
    try run(Self.insertDevice, Self.values(of: device))
  }

  package func update(_ device: DeviceRecord) throws(CallFailure) {
    try run(Self.updateDevice, Self.changing(device))
    guard device.hasOtherKeys else { return }
    let (keys, attestedKey) = (device.keys, device.attestedKey)
    try run(
      Self.updateKeys,
      [
        .id(device.id), .blob(keys.device.stored), .blob(orNull: keys.approval?.stored),
        .hash(orNull: attestedKey?.digest),
      ])
  }

  package func delete(_ id: DeviceID) throws(CallFailure) {
    let chain = try chain(of: id)
    try run("DELETE FROM devices WHERE id = ?1", [.id(id)])
    try dropChain(chain)
  }

  /// No device that waits is to take this one's place any more.
  package func keepPlace(of id: DeviceID) throws(CallFailure) {
    // There are ten thousand at the most.
    try run(
      "UPDATE devices \(SQLiteWords.found(by: "devices_pending")) SET replaces = NULL WHERE state = 0 AND replaces = ?1",
      [.id(id)])
  }

  /// Those that may vote for a subject.
  package func activeDevices(of subject: Subject) throws(CallFailure) -> [DeviceRecord] {
    try devices(
      where: "subject = ?1 AND state = ?2 ORDER BY number",
      [.text(subject.name), .integer(Int64(DeviceRecord.State.active.rawValue))])
  }

  package func count(_ state: DeviceRecord.State) throws(CallFailure) -> Int {
    let sql =
      state == .pending
      ? "SELECT count(*) FROM devices WHERE state = 0 AND ?1 = 0"
      : "SELECT count(*) FROM devices WHERE state = ?1"
    return try count(sql, [.integer(Int64(state.rawValue))])
  }

  /// In the order of their making, a page at a time.
  package func devices(
    of subject: Subject?, in state: DeviceRecord.State?, after: DeviceID?, limit: Int
  ) throws(CallFailure) -> [DeviceRecord] {
    // Whatever is asked has its index: an operator's list does not read a million rows.
    let index: String? =
      switch state {
      case .pending where subject == nil: "devices_pending"
      case .revoked where subject == nil: "devices_revoked"
      default: nil
      }
    var conditions = ["number > coalesce((SELECT number FROM devices WHERE id = ?1), 0)"]
    var values: [SQLValue] = [.id(orNull: after), .integer(Int64(limit))]
    if let state { conditions.append("state = \(state.rawValue)") }
    if let subject {
      conditions.append("subject = ?3")
      values.append(.text(subject.name))
    }
    return try devices(
      where: conditions.joined(separator: " AND ") + " ORDER BY number LIMIT ?2", values, by: index)
  }

  /// All that may come in at this level or above, for the door.
  package func forEachActiveDevice(
    from level: Level, _ body: (ActiveDevice) -> Void
  ) throws(CallFailure) {
    try each(
      "SELECT \(Self.doorColumns) FROM devices WHERE state = 1 AND level >= ?1 ORDER BY number",
      [.integer(level.stored)]
    ) { (row) throws(SQLError) in body(try Self.activeDevice(row)) }
  }

  /// Of the next so many rows behind a place, those others that are not revoked and have an App Attest key.
  /// - Parameter level: from which on active ones are left out; nil for none.
  /// - Returns: the place of the last of these rows; nil when there are no more.
  package func forEachKeyHolder(
    after place: Int64, rows: Int64, below level: Level?, _ body: (RegistryEffect) -> Void
  ) throws(CallFailure) -> Int64? {
    let last = try first("SELECT max(number) FROM devices") { (row) throws(SQLError) in
      try row.integerOrNil(0)
    }
    guard let last = last ?? nil, place < last else { return nil }
    // By numbers, so that a piece is small however few of its rows have a key.
    try each(
      """
      SELECT \(Self.doorColumns), state FROM devices
      WHERE number > ?1 AND number <= ?1 + ?2 AND attested_key IS NOT NULL AND state <> 2
      AND (state = 0 OR level < ?3)
      """, [.integer(place), .integer(rows), .integer(level?.stored ?? .max)]
    ) { (row) throws(SQLError) in
      let device = try Self.activeDevice(row)
      body(try row.integer(5) == 0 ? .deviceWaits(device) : .deviceActive(device))
    }
    return place + rows
  }

  private static let doorColumns = "id, device_key, level, attested_key, subject"

  private static func activeDevice(_ row: borrowing Row) throws(SQLError) -> ActiveDevice {
    ActiveDevice(
      id: try row.id(0), key: try row.point(1), level: try row.number(2) { Level(stored: $0) },
      attestedKey: try row.hashOrNil(3).map { KeyIdentifier($0) },
      subject: try row.textOrNil(4).flatMap { Subject(stored: $0) })
  }

  /// Those of the keys by which there is a device that is not revoked.
  package func attestedKeys(among keys: [KeyIdentifier]) throws(CallFailure) -> [KeyIdentifier] {
    var found: [KeyIdentifier] = []
    for key in keys {
      let state = try first(
        "SELECT state FROM devices WHERE attested_key IS NOT NULL "
          + "AND substr(attested_key, 1, 16) = substr(CAST(?1 AS BLOB), 1, 16) AND attested_key = ?1 AND state <> 2",
        [.hash(key.digest)]
      ) { (row) throws(SQLError) in try row.integer(0) }
      if state != nil { found.append(key) }
    }
    return found
  }

  /// App Attest keys that devices have, or had, which are revoked: nobody comes in by them.
  package func forEachRevokedKey(_ body: (KeyIdentifier) -> Void) throws(CallFailure) {
    try each(
      """
      SELECT attested_key FROM devices \(SQLiteWords.found(by: "devices_revoked"))
      WHERE state = 2 AND attested_key IS NOT NULL
      """
    ) { (row) throws(SQLError) in body(KeyIdentifier(try row.hash(0))) }
    try each(
      """
      SELECT f.key FROM devices AS d \(SQLiteWords.found(by: "devices_revoked"))
      JOIN former_keys AS f ON f.device = d.number WHERE d.state = 2
      """
    ) { (row) throws(SQLError) in body(KeyIdentifier(try row.hash(0))) }
  }

  /// Pending ones made before, in the order of their making.
  package func pendingDevices(madeBefore time: UnixTime, limit: Int) throws(CallFailure) -> [DeviceRecord] {
    try devices(
      where: "state = 0 AND created_at < ?1 ORDER BY created_at LIMIT ?2",
      [.time(time), .integer(Int64(limit))])
  }

  // MARK: Rows

  private func device(where condition: String, _ value: SQLValue) throws(CallFailure) -> DeviceRecord? {
    try devices(where: condition, [value]).first
  }

  private func devices(
    where condition: String, _ values: [SQLValue], by index: String? = nil
  ) throws(CallFailure) -> [DeviceRecord] {
    let source = index.map { "devices \(SQLiteWords.found(by: $0))" } ?? "devices"
    return try all("SELECT \(Self.deviceColumns) FROM \(source) WHERE \(condition)", values) {
      (row) throws(SQLError) in
      try deviceRecord(row)
    }
  }

  /// All but the keys and the time of its making.
  private static func changing(_ device: DeviceRecord) -> [SQLValue] {
    let values = values(of: device)
    return Array(values[..<5] + values[7..<9] + values[11...])
  }

  private static func values(of device: DeviceRecord) -> [SQLValue] {
    [
      .id(device.id), .integer(Int64(device.state.rawValue)), .text(orNull: device.subject?.name),
      .text(orNull: device.name?.text), .integer(device.platform == .ios ? 0 : 1),
      .blob(device.keys.device.stored), .blob(orNull: device.keys.approval?.stored),
      .integer(device.level.stored), .integer(device.verification.stored),
      .hash(orNull: device.attestedKey?.digest), .time(device.createdAt),
      .time(orNull: device.activatedAt), .time(orNull: device.revokedAt),
      .time(orNull: device.seenAt), .time(orNull: device.attestedAt),
      .time(orNull: device.attestationFailedAt), .text(orNull: device.appVersion),
      .text(orNull: device.patchLevel), .flag(device.isRooted),
      .time(orNull: device.exception?.until), .text(orNull: device.exception?.reason),
      .id(orNull: device.replaces), .integer(Int64(device.tokenSeries)),
      .time(orNull: device.playAttestedAt), .integer(orNull: device.exception.flatMap(\.lacks.stored)),
      .integer(orNull: device.playTrust.map { $0 == .strong ? 2 : 1 }),
    ]
  }

  private func deviceRecord(_ row: borrowing Row) throws(SQLError) -> DeviceRecord {
    var device = DeviceRecord(
      id: try row.id(0), state: try row.number(1) { DeviceRecord.State(rawValue: Int($0)) },
      subject: try row.textOrNil(2).flatMap { Subject(stored: $0) },
      name: try row.textOrNil(3).flatMap { DeviceName(stored: $0) },
      platform: try row.integer(4) == 0 ? .ios : .android, keys: try keys(row, 5, 6),
      level: try row.number(7) { Level(stored: $0) },
      verification: try row.number(8) { UserVerification(stored: $0) },
      attestedKey: try row.hashOrNil(9).map { KeyIdentifier($0) }, createdAt: try row.time(10))
    device.activatedAt = try row.timeOrNil(11)
    device.revokedAt = try row.timeOrNil(12)
    device.seenAt = try row.timeOrNil(13)
    device.attestedAt = try row.timeOrNil(14)
    device.attestationFailedAt = try row.timeOrNil(15)
    device.appVersion = try row.textOrNil(16)
    device.patchLevel = try row.textOrNil(17)
    device.isRooted = try row.flag(18)
    if let until = try row.timeOrNil(19), let reason = try row.textOrNil(20) {
      let lacks = try row.integerOrNil(24).map { DeviceLacks(rawValue: $0) } ?? .all
      device.exception = DeviceRecord.Exception(reason: reason, until: until, lacks: lacks)
    }
    device.replaces = try row.idOrNil(21)
    device.tokenSeries = try row.number(22) { UInt32(exactly: $0) }
    device.playAttestedAt = try row.timeOrNil(23)
    device.playTrust = try row.integerOrNil(25).map { $0 >= 2 ? .strong : .device }
    return device
  }

  /// Looked at once more: what a file holds may have been changed.
  private func keys(
    _ row: borrowing Row, _ device: Int, _ approval: Int
  ) throws(SQLError) -> DeviceKeys {
    func key(_ bytes: [UInt8]) -> DevicePublicKey? {
      P256Point(stored: bytes).flatMap { DevicePublicKey($0, checkedBy: verifier) }
    }
    let deviceKey = try row.value(device, key)
    let approvalKey = row.isNull(approval) ? nil : try row.value(approval, key)
    guard let keys = DeviceKeys(device: deviceKey, approval: approvalKey) else {
      throw .malformed(column: approval)
    }
    return keys
  }
}

extension Row {
  /// Of a million rows at a start: without an array for each.
  fileprivate func point(_ column: Int) throws(SQLError) -> P256Point {
    let point = try withBlob(column) { bytes -> P256Point? in
      guard bytes.count == 64, let x = Bytes32(bytes.extracting(..<32)),
        let y = Bytes32(bytes.extracting(32...))
      else { return nil }
      return P256Point(x: x, y: y)
    }
    guard let point else { throw .malformed(column: column) }
    return point
  }
}

extension DevicePublicKey {
  /// x and y, 64 bytes.
  fileprivate var stored: [UInt8] { point.stored }
}

extension P256Point {
  /// x and y, 64 bytes.
  var stored: [UInt8] { x.array + y.array }

  init?(stored bytes: [UInt8]) {
    guard bytes.count == 64, let x = Bytes32(Array(bytes[..<32])), let y = Bytes32(Array(bytes[32...])) else {
      return nil
    }
    self.init(x: x, y: y)
  }
}

extension DeviceLacks {
  /// Nothing where it is everything, which it was before anything had a name.
  fileprivate var stored: Int64? { self == .all ? nil : rawValue }
}

extension Level {
  /// In their order, so that rows can be compared.
  var stored: Int64 {
    switch self {
    case .bare: 0
    case .appAttested: 1
    case .hardwareAttested: 2
    }
  }

  init?(stored: Int64) {
    guard let level = Self.allCases.first(where: { $0.stored == stored }) else { return nil }
    self = level
  }
}

extension UserVerification {
  var stored: Int64 {
    switch self {
    case .none: 0
    case .app: 1
    case .hardware: 2
    }
  }

  init?(stored: Int64) {
    guard let verification = Self.allCases.first(where: { $0.stored == stored }) else { return nil }
    self = verification
  }
}
