/// The rows of serials: those of the certificates in the chains of Android devices. They go with their devices.
///
/// Phones of one kind have all of them in common, or all but one. So the serials of a device are a path through a tree: each row
/// is a serial behind those of another row, and a device names the last one. A path has the serials of one device, in no order
/// that means anything; what many have goes first.
package import DeviceWire
internal import SQL

extension RegistryDatabase {
  /// A factory's certificate stands in the chains of a hundred thousand phones. The index has 8 bytes of a serial.
  static let androidTables = """
    CREATE TABLE android_chains (
      number INTEGER PRIMARY KEY,
      serial BLOB NOT NULL,
      rest INTEGER REFERENCES android_chains (number)
    ) STRICT;
    CREATE INDEX android_chains_by_serial ON android_chains (substr(serial, 1, 8), rest);
    CREATE INDEX android_chains_by_rest ON android_chains (rest) WHERE rest IS NOT NULL
    """

  private static let isSerial = "substr(serial, 1, 8) = substr(CAST(?1 AS BLOB), 1, 8) AND serial = ?1"

  /// In this order, and by this index: all devices would be gone through else.
  static let devicesOfSerial = """
    WITH RECURSIVE behind (number) AS (
      SELECT number FROM android_chains WHERE \(isSerial)
      UNION SELECT c.number FROM behind AS b JOIN android_chains AS c ON c.rest = b.number
    )
    SELECT d.id FROM behind AS b JOIN devices AS d \(SQLiteWords.found(by: "devices_by_chain")) ON d.chain = b.number
    WHERE d.state <> ?2 ORDER BY d.number
    """
}

extension RegistryDatabase {
  /// Beside those that the device has.
  package func insert(_ serials: Set<AndroidSerial>, of device: DeviceID) throws(CallFailure) {
    try setChain(try self.serials(of: device).union(serials), of: device)
  }

  package func deleteSerials(of device: DeviceID) throws(CallFailure) {
    try setChain([], of: device)
  }

  /// Those that are not revoked.
  package func devices(of serial: AndroidSerial) throws(CallFailure) -> [DeviceID] {
    // Of a list of many thousands nearly all are nobody's: that is soon known.
    guard try isKnown(serial) else { return [] }
    return try all(
      Self.devicesOfSerial,
      [.blob(serial.bytes), .integer(Int64(DeviceRecord.State.revoked.rawValue))]
    ) { (row) throws(SQLError) in try row.id(0) }
  }

  package func serials(of device: DeviceID) throws(CallFailure) -> Set<AndroidSerial> {
    Set(
      try all(
        """
        WITH RECURSIVE path (number) AS (
          SELECT chain FROM devices WHERE id = ?1
          UNION SELECT c.rest FROM path AS p JOIN android_chains AS c ON c.number = p.number
        )
        SELECT serial FROM path AS p JOIN android_chains AS c ON c.number = p.number
        """, [.id(device)]
      ) { (row) throws(SQLError) in AndroidSerial(try row.blob(0)) })
  }

  // MARK: Paths

  private func setChain(_ serials: Set<AndroidSerial>, of device: DeviceID) throws(CallFailure) {
    let before = try chain(of: device)
    let chain = try chain(with: serials)
    guard chain != before else { return }
    try run("UPDATE devices SET chain = ?2 WHERE id = ?1", [.id(device), .integer(orNull: chain)])
    try dropChain(before)
  }

  /// Nil where the device has none.
  func chain(of device: DeviceID) throws(CallFailure) -> Int64? {
    try first("SELECT chain FROM devices WHERE id = ?1 AND chain IS NOT NULL", [.id(device)]) {
      (row) throws(SQLError) in try row.integer(0)
    }
  }

  /// As far as there is a path of them it is gone along; what is left goes behind it, those last that nobody else has.
  private func chain(with serials: Set<AndroidSerial>) throws(CallFailure) -> Int64? {
    var left = serials.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    var end: Int64?
    var isOnPath = true
    while isOnPath {
      isOnPath = false
      for (index, serial) in left.enumerated() {
        guard let next = try chain(serial, behind: end) else { continue }
        end = next
        left.remove(at: index)
        isOnPath = true
        break
      }
    }
    var others: [AndroidSerial] = []
    for serial in left {
      if try isKnown(serial) { end = try append(serial, behind: end) } else { others.append(serial) }
    }
    for serial in others { end = try append(serial, behind: end) }
    return end
  }

  private func chain(_ serial: AndroidSerial, behind rest: Int64?) throws(CallFailure) -> Int64? {
    try first(
      "SELECT number FROM android_chains WHERE \(Self.isSerial) AND rest IS NOT DISTINCT FROM ?2",
      [.blob(serial.bytes), .integer(orNull: rest)]
    ) { (row) throws(SQLError) in try row.integer(0) }
  }

  private func isKnown(_ serial: AndroidSerial) throws(CallFailure) -> Bool {
    try first("SELECT 1 FROM android_chains WHERE \(Self.isSerial) LIMIT 1", [.blob(serial.bytes)]) { _ in
      true
    }
      ?? false
  }

  private func append(_ serial: AndroidSerial, behind rest: Int64?) throws(CallFailure) -> Int64? {
    try run(
      "INSERT INTO android_chains (serial, rest) VALUES (?1, ?2)",
      [.blob(serial.bytes), .integer(orNull: rest)])
    return try chain(serial, behind: rest)
  }

  /// With all before it that nobody has any more: a serial may be one phone's alone, and tell which it was.
  func dropChain(_ chain: Int64?) throws(CallFailure) {
    var next = chain
    while let number = next {
      let rest = try first(
        """
        SELECT rest FROM android_chains WHERE number = ?1
        AND NOT EXISTS (SELECT 1 FROM devices WHERE chain = ?1)
        AND NOT EXISTS (SELECT 1 FROM android_chains WHERE rest = ?1)
        """, [.integer(number)]
      ) { (row) throws(SQLError) in row.isNull(0) ? Int64?.none : try row.integer(0) }
      // Others have it.
      guard let rest else { return }
      try run("DELETE FROM android_chains WHERE number = ?1", [.integer(number)])
      next = rest
    }
  }
}
