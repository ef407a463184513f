/// The rows of App Attest keys that devices had before. They go with their devices.
package import Bytes
package import DeviceWire
internal import SQL

extension RegistryDatabase {
  static let formerKeyTables = """
    CREATE TABLE former_keys (
      key BLOB PRIMARY KEY NOT NULL,
      device INTEGER NOT NULL REFERENCES devices (number) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX former_keys_by_device ON former_keys (device)
    """

  private static func number(_ parameter: Int) -> String {
    "(SELECT number FROM devices WHERE id = ?\(parameter))"
  }
}

extension RegistryDatabase {
  package func insert(former key: KeyIdentifier, of device: DeviceID) throws(CallFailure) {
    try run(
      """
      INSERT INTO former_keys (key, device) VALUES (?1, \(Self.number(2)))
      ON CONFLICT (key) DO UPDATE SET device = excluded.device
      """, [.hash(key.digest), .id(device)])
  }

  package func delete(former key: KeyIdentifier) throws(CallFailure) {
    try run("DELETE FROM former_keys WHERE key = ?1", [.hash(key.digest)])
  }

  package func deviceThatHad(_ key: KeyIdentifier) throws(CallFailure) -> DeviceID? {
    try first(
      "SELECT d.id FROM former_keys AS f JOIN devices AS d ON d.number = f.device WHERE f.key = ?1",
      [.hash(key.digest)]
    ) { (row) throws(SQLError) in try row.id(0) }
  }

  package func formerKeys(of device: DeviceID) throws(CallFailure) -> [KeyIdentifier] {
    try all("SELECT key FROM former_keys WHERE device = \(Self.number(1)) ORDER BY key", [.id(device)]) {
      (row) throws(SQLError) in KeyIdentifier(try row.hash(0))
    }
  }

  /// All of them are another device's from then on.
  package func passFormerKeys(of device: DeviceID, to other: DeviceID) throws(CallFailure) {
    try run(
      "UPDATE former_keys SET device = \(Self.number(2)) WHERE device = \(Self.number(1))",
      [.id(device), .id(other)])
  }

  /// Of the next so many behind one, those whose devices are not revoked.
  /// - Returns: the last of them; nil when there are no more.
  package func forEachFormerKey(
    after key: KeyIdentifier?, limit: Int, _ body: (KeyIdentifier, DeviceID, Subject?) -> Void
  ) throws(CallFailure) -> KeyIdentifier? {
    var last: KeyIdentifier?
    try each(
      """
      SELECT f.key, d.id, d.subject, d.state FROM former_keys AS f JOIN devices AS d ON d.number = f.device
      WHERE f.key > ?1 ORDER BY f.key LIMIT ?2
      """, [.blob(key?.digest.array ?? []), .integer(Int64(limit))]
    ) { (row) throws(SQLError) in
      let key = KeyIdentifier(try row.hash(0))
      last = key
      guard try row.number(3, { DeviceRecord.State(rawValue: Int($0)) }) != .revoked else { return }
      body(key, try row.id(1), try row.textOrNil(2).flatMap { Subject(stored: $0) })
    }
    return last
  }

  /// Whose App Attest key it is, or was before it had another.
  func holder(of key: KeyIdentifier) throws(CallFailure) -> DeviceRecord? {
    if let device = try device(attestedBy: key) { return device }
    guard let id = try deviceThatHad(key) else { return nil }
    return try device(id)
  }
}
