/// The rows of signals: one for each device that has asked for a code, with its last position and no other.
internal import Addresses
package import DeviceWire
package import Risk
internal import SQL
package import Time

extension RegistryDatabase {
  /// Positions in tenths of a degree, `accuracy` in metres. What is there has a time: the four of a position together, the
  /// two of network and country. `at` is the earliest of them.
  static let signalTables = """
    CREATE TABLE signals (
      device INTEGER PRIMARY KEY REFERENCES devices (number) ON DELETE CASCADE,
      at INTEGER NOT NULL,
      latitude INTEGER, longitude INTEGER, accuracy INTEGER,
      asn INTEGER, country TEXT, position_at INTEGER, asn_at INTEGER, country_at INTEGER
    ) STRICT;
    CREATE INDEX signals_by_time ON signals (at)
    """

  /// As they were before each part had its time.
  static let firstSignalTables = """
    CREATE TABLE signals (
      device INTEGER PRIMARY KEY REFERENCES devices (number) ON DELETE CASCADE,
      at INTEGER NOT NULL,
      latitude INTEGER, longitude INTEGER, accuracy INTEGER,
      asn INTEGER, country TEXT
    ) STRICT;
    CREATE INDEX signals_by_time ON signals (at)
    """

  private static let number = "(SELECT number FROM devices WHERE id = ?1)"
}

extension RegistryDatabase {
  package func riskRecord(of device: DeviceID) throws(CallFailure) -> RiskRecord? {
    try first(
      """
      SELECT position_at, latitude, longitude, accuracy, asn_at, asn, country_at, country
      FROM signals WHERE device = \(Self.number)
      """, [.id(device)]
    ) { (row) throws(SQLError) in
      RiskRecord(
        position: try Self.part(row, 0) { (row) throws(SQLError) in
          let (latitude, longitude) = (try row.integer(1), try row.integer(2))
          return try row.number(3) { Position(latitude: latitude, longitude: longitude, accuracy: $0) }
        },
        country: try Self.part(row, 6) { (row) throws(SQLError) in try row.word(7) { CountryCode($0) } },
        network: try Self.part(row, 4) { (row) throws(SQLError) in
          try row.number(5) { UInt32(exactly: $0) }
        })
    }
  }

  /// - Parameter time: the column that says whether it is there.
  private static func part<Value>(
    _ row: borrowing Row, _ time: Int, _ value: (borrowing Row) throws(SQLError) -> Value
  ) throws(SQLError) -> RiskRecord.Part<Value>? {
    guard !row.isNull(time) else { return nil }
    return RiskRecord.Part(try value(row), at: UnixSeconds(try row.time(time)))
  }

  /// In the place of the one before; goes with the device. One without parts is none.
  package func setRiskRecord(_ record: RiskRecord, of device: DeviceID) throws(CallFailure) {
    guard let oldest = record.oldest else { return try deleteRiskRecord(of: device) }
    let (position, network, country) = (record.position, record.network, record.country)
    try run(
      """
      INSERT INTO signals
      (device, at, position_at, latitude, longitude, accuracy, asn_at, asn, country_at, country)
      SELECT number, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 FROM devices WHERE id = ?1
      ON CONFLICT (device) DO UPDATE SET
      (at, position_at, latitude, longitude, accuracy, asn_at, asn, country_at, country)
      = (excluded.at, excluded.position_at, excluded.latitude, excluded.longitude, excluded.accuracy,
      excluded.asn_at, excluded.asn, excluded.country_at, excluded.country)
      """,
      [
        .id(device), .time(UnixTime(oldest)),
        .time(orNull: position.map { UnixTime($0.at) }), .integer(orNull: position?.value.latitude),
        .integer(orNull: position?.value.longitude), .integer(orNull: position?.value.accuracy),
        .time(orNull: network.map { UnixTime($0.at) }), .integer(orNull: network.map { Int64($0.value) }),
        .time(orNull: country.map { UnixTime($0.at) }), .text(orNull: country?.value.description),
      ])
  }

  package func deleteRiskRecord(of device: DeviceID) throws(CallFailure) {
    try run("DELETE FROM signals WHERE device = \(Self.number)", [.id(device)])
  }

  /// Of which devices some part is from before then, the oldest first.
  package func devices(
    withRiskRecordsBefore time: UnixTime, limit: Int
  ) throws(CallFailure) -> [DeviceID] {
    try all(
      """
      SELECT d.id FROM signals AS s JOIN devices AS d ON d.number = s.device
      WHERE s.at < ?1 ORDER BY s.at LIMIT ?2
      """, [.time(time), .integer(Int64(limit))]
    ) { (row) throws(SQLError) in try row.id(0) }
  }

  /// Of the oldest part of all.
  package func oldestRiskRecord() throws(CallFailure) -> UnixTime? {
    try first("SELECT at FROM signals ORDER BY at LIMIT 1") { (row) throws(SQLError) in try row.time(0) }
  }
}
