/// The rows of serials: of each certificate in the chains of Android devices, whose it is. They go with their devices.
package import DeviceWire
internal import SQLite

extension SQLiteStore {
  /// A factory's certificate stands in the chains of a hundred thousand phones.
  static let androidTables = """
    CREATE TABLE android_serials (
      serial BLOB NOT NULL,
      device INTEGER NOT NULL REFERENCES devices (number) ON DELETE CASCADE,
      PRIMARY KEY (serial, device)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX android_serials_by_device ON android_serials (device)
    """

  private static let number = "(SELECT number FROM devices WHERE id = ?1)"
}

extension SQLiteStore: AndroidTable {
  package func insert(_ serials: Set<AndroidSerial>, of device: DeviceID) throws(StoreFailure) {
    for serial in serials {
      try run(
        "INSERT OR IGNORE INTO android_serials (device, serial) VALUES (\(Self.number), ?2)",
        [.id(device), .blob(serial.bytes)])
    }
  }

  package func deleteSerials(of device: DeviceID) throws(StoreFailure) {
    try run("DELETE FROM android_serials WHERE device = \(Self.number)", [.id(device)])
  }

  package func devices(of serial: AndroidSerial) throws(StoreFailure) -> [DeviceID] {
    try all(
      """
      SELECT d.id FROM android_serials AS s JOIN devices AS d ON d.number = s.device
      WHERE s.serial = ?1 AND d.state <> ?2 ORDER BY s.device
      """, [.blob(serial.bytes), .integer(Int64(DeviceRecord.State.revoked.rawValue))]
    ) { (row) throws(SQLiteError) in try row.id(0) }
  }

  package func serials(of device: DeviceID) throws(StoreFailure) -> Set<AndroidSerial> {
    Set(
      try all("SELECT serial FROM android_serials WHERE device = \(Self.number)", [.id(device)]) {
        (row) throws(SQLiteError) in AndroidSerial(try row.blob(0))
      })
  }
}
