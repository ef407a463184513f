/// The rows of pairings: few, and short-lived.
internal import Bytes
package import DeviceWire
internal import SQL
package import Time

extension RegistryDatabase {
  /// Times are Unix milliseconds. Secret and random bytes are gone with the end.
  static let pairingTables = """
    CREATE TABLE pairings (
      id BLOB PRIMARY KEY NOT NULL, state INTEGER NOT NULL,
      service BLOB, subject TEXT, name TEXT,
      secret BLOB, server_key BLOB NOT NULL,
      created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, ended_at INTEGER,
      device BLOB, message_hash BLOB, commitment BLOB, s BLOB, r BLOB,
      wrong_macs INTEGER NOT NULL, wrong_digits INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX pairings_open ON pairings (expires_at) WHERE ended_at IS NULL;
    CREATE INDEX pairings_ended ON pairings (ended_at) WHERE ended_at IS NOT NULL
    """

  private static let columns = """
    id, state, service, subject, name, secret, server_key, created_at, expires_at, ended_at, device, message_hash, \
    commitment, s, r, wrong_macs, wrong_digits
    """
  private static let places = (1...17).map { "?\($0)" }.joined(separator: ", ")
  private static let insertPairing = "INSERT INTO pairings (\(columns)) VALUES (\(places))"
  private static let updatePairing = "UPDATE pairings SET (\(columns)) = (\(places)) WHERE id = ?1"
}

extension RegistryDatabase {
  package func pairing(_ id: PairingID) throws(CallFailure) -> PairingRecord? {
    try first("SELECT \(Self.columns) FROM pairings WHERE id = ?1", [.id(id)], Self.pairing)
  }

  package func insert(_ pairing: PairingRecord) throws(CallFailure) {
    try run(Self.insertPairing, Self.values(of: pairing))
  }

  package func update(_ pairing: PairingRecord) throws(CallFailure) {
    try run(Self.updatePairing, Self.values(of: pairing))
  }

  /// How many are open of a service's, or of the host's.
  package func openPairings(of service: ServiceID?) throws(CallFailure) -> Int {
    try count(
      "SELECT count(*) FROM pairings WHERE ended_at IS NULL AND service IS NOT DISTINCT FROM ?1",
      [.id(orNull: service)])
  }

  /// Open ones of a service, or of anybody, whose time is over by then; the first to end first.
  package func openPairings(
    of service: ServiceID?, endingBy time: UnixTime, limit: Int
  ) throws(CallFailure) -> [PairingRecord] {
    try all(
      """
      SELECT \(Self.columns) FROM pairings
      WHERE ended_at IS NULL AND expires_at <= ?1 AND (CAST(?2 AS BLOB) IS NULL OR service = ?2)
      ORDER BY expires_at LIMIT ?3
      """, [.time(time), .id(orNull: service), .integer(Int64(limit))], Self.pairing)
  }

  /// All, open or ended, that a device has come by, or that were for a subject.
  package func pairings(of device: DeviceID) throws(CallFailure) -> [PairingRecord] {
    try all("SELECT \(Self.columns) FROM pairings WHERE device = ?1", [.id(device)], Self.pairing)
  }

  package func pairings(of subject: Subject) throws(CallFailure) -> [PairingRecord] {
    try all("SELECT \(Self.columns) FROM pairings WHERE subject = ?1", [.text(subject.name)], Self.pairing)
  }

  package func delete(_ id: PairingID) throws(CallFailure) {
    try run("DELETE FROM pairings WHERE id = ?1", [.id(id)])
  }

  /// When the first open one ends.
  package func nextPairingEnd() throws(CallFailure) -> UnixTime? {
    try first("SELECT expires_at FROM pairings WHERE ended_at IS NULL ORDER BY expires_at LIMIT 1") {
      (row) throws(SQLError) in try row.time(0)
    }
  }

  /// - Returns: how many.
  package func deletePairings(endedBefore time: UnixTime, limit: Int) throws(CallFailure) -> Int {
    try run(
      """
      DELETE FROM pairings WHERE id IN
        (SELECT id FROM pairings WHERE ended_at IS NOT NULL AND ended_at < ?1 ORDER BY ended_at LIMIT ?2)
      """, [.time(time), .integer(Int64(limit))])
  }

  // MARK: Rows

  private static func values(of pairing: PairingRecord) -> [SQLValue] {
    [
      .id(pairing.id), .integer(Int64(pairing.state.rawValue)), .id(orNull: pairing.service),
      .text(orNull: pairing.subject?.name), .text(orNull: pairing.name?.text),
      .blob(orNull: pairing.secret?.bytes), .hash(pairing.serverKeyHash), .time(pairing.createdAt),
      .time(pairing.expiresAt), .time(orNull: pairing.endedAt), .id(orNull: pairing.answer?.device),
      .hash(orNull: pairing.answer?.messageHash), .hash(orNull: pairing.answer?.commit),
      .hash(orNull: pairing.answer?.s), .hash(orNull: pairing.r), .integer(Int64(pairing.wrongMACs)),
      .integer(Int64(pairing.wrongDigits)),
    ]
  }

  private static func pairing(_ row: borrowing Row) throws(SQLError) -> PairingRecord {
    var pairing = PairingRecord(
      id: try row.id(0),
      state: try row.number(1) { PairingRecord.State(rawValue: Int($0)) },
      service: try row.idOrNil(2),
      subject: row.isNull(3) ? nil : try row.word(3) { Subject(stored: $0) },
      name: row.isNull(4) ? nil : try row.word(4) { DeviceName(stored: $0) },
      secret: row.isNull(5) ? nil : try row.value(5) { PairingSecret($0) },
      serverKeyHash: try row.hash(6), createdAt: try row.time(7), expiresAt: try row.time(8))
    pairing.endedAt = try row.timeOrNil(9)
    if !row.isNull(10) {
      pairing.answer = PairingRecord.Answer(
        device: try row.id(10), messageHash: try row.hash(11), commit: try row.hash(12), s: try row.hash(13))
    }
    pairing.r = try row.hashOrNil(14)
    pairing.wrongMACs = Int(try row.integer(15))
    pairing.wrongDigits = Int(try row.integer(16))
    return pairing
  }
}
