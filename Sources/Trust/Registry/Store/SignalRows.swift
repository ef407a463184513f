/// The rows of signals: one for each device that has asked for a code, with its last position and no other.
internal import Addresses
package import DeviceWire
package import Risk
internal import SQLite
package import System

extension SQLiteStore {
  /// Positions in tenths of a degree, `accuracy` in metres; the three are there together or not at all.
  static let signalTables = """
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

extension SQLiteStore: SignalTable {
  package func riskRecord(of device: DeviceID) throws(StoreFailure) -> RiskRecord? {
    try first(
      """
      SELECT at, latitude, longitude, accuracy, asn, country FROM signals WHERE device = \(Self.number)
      """, [.id(device)]
    ) { (row) throws(SQLiteError) in
      RiskRecord(
        at: UnixSeconds(try row.time(0)), position: try Self.position(row),
        place: Place(
          country: row.isNull(5) ? nil : try row.word(5) { CountryCode($0) },
          network: row.isNull(4) ? nil : try row.number(4) { UInt32(exactly: $0) }))
    }
  }

  private static func position(_ row: borrowing Row) throws(SQLiteError) -> Position? {
    guard !row.isNull(1) else { return nil }
    let (latitude, longitude) = (try row.integer(1), try row.integer(2))
    return try row.number(3) { Position(latitude: latitude, longitude: longitude, accuracy: $0) }
  }

  package func setRiskRecord(_ record: RiskRecord, of device: DeviceID) throws(StoreFailure) {
    try run(
      """
      INSERT OR REPLACE INTO signals (device, at, latitude, longitude, accuracy, asn, country)
      SELECT number, ?2, ?3, ?4, ?5, ?6, ?7 FROM devices WHERE id = ?1
      """,
      [
        .id(device), .integer(record.at.value * 1000), .integer(orNull: record.position?.latitude),
        .integer(orNull: record.position?.longitude), .integer(orNull: record.position?.accuracy),
        .integer(orNull: record.place.network.map(Int64.init)),
        .text(orNull: record.place.country?.description),
      ])
  }

  package func deleteRiskRecord(of device: DeviceID) throws(StoreFailure) {
    try run("DELETE FROM signals WHERE device = \(Self.number)", [.id(device)])
  }

  package func deleteRiskRecords(before time: UnixTime, limit: Int) throws(StoreFailure) -> Int {
    try run(
      "DELETE FROM signals WHERE device IN (SELECT device FROM signals WHERE at < ?1 ORDER BY at LIMIT ?2)",
      [.time(time), .integer(Int64(limit))])
  }

  package func oldestRiskRecord() throws(StoreFailure) -> UnixTime? {
    try first("SELECT at FROM signals ORDER BY at LIMIT 1") { (row) throws(SQLiteError) in try row.time(0) }
  }
}
