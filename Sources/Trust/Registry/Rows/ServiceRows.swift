/// The rows of services.
internal import ApprovalPolicy
package import Bytes
internal import DeviceWire
internal import SQL
internal import System

extension RegistryDatabase {
  /// Times are Unix milliseconds. A revoked service keeps its row: what it asked for names it.
  static let serviceTables = """
    CREATE TABLE services (
      number INTEGER PRIMARY KEY,
      id BLOB NOT NULL UNIQUE,
      name TEXT NOT NULL,
      token_hash BLOB NOT NULL UNIQUE,
      scopes INTEGER NOT NULL,
      site TEXT,
      subjects BLOB NOT NULL,
      created_at INTEGER NOT NULL, rotated_at INTEGER, revoked_at INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX services_by_name ON services (name) WHERE revoked_at IS NULL
    """

  private static let serviceColumns = """
    id, name, token_hash, scopes, site, subjects, created_at, rotated_at, revoked_at
    """
}

extension RegistryDatabase {
  /// Of those that are not revoked.
  package func service(withToken hash: Bytes32) throws(CallFailure) -> ServiceRecord? {
    try services(where: "token_hash = ?1 AND revoked_at IS NULL", [.hash(hash)]).first
  }

  package func service(named name: ServiceName) throws(CallFailure) -> ServiceRecord? {
    try services(where: "name = ?1 AND revoked_at IS NULL", [.text(name.text)]).first
  }

  /// In the order of their making; revoked ones as well.
  package func services() throws(CallFailure) -> [ServiceRecord] {
    try services(where: "TRUE ORDER BY number", [])
  }

  package func insert(_ service: ServiceRecord) throws(CallFailure) {
    try run(
      "INSERT INTO services (\(Self.serviceColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
      [
        .id(service.id), .text(service.name.text), .hash(service.tokenHash),
        .integer(service.scopes.rawValue), .text(orNull: service.site), .blob(service.subjects.text),
        .time(service.createdAt), .time(orNull: service.rotatedAt), .time(orNull: service.revokedAt),
      ])
  }

  package func update(_ service: ServiceRecord) throws(CallFailure) {
    try run(
      "UPDATE services SET token_hash = ?2, rotated_at = ?3, revoked_at = ?4 WHERE id = ?1",
      [
        .id(service.id), .hash(service.tokenHash), .time(orNull: service.rotatedAt),
        .time(orNull: service.revokedAt),
      ])
  }

  private func services(
    where condition: String, _ values: [SQLValue]
  ) throws(CallFailure) -> [ServiceRecord] {
    try all("SELECT \(Self.serviceColumns) FROM services WHERE \(condition)", values) {
      (row) throws(SQLError) in
      var service = ServiceRecord(
        id: try row.id(0), name: try row.word(1) { ServiceName($0) }, tokenHash: try row.hash(2),
        scopes: ServiceScopes(rawValue: try row.integer(3)), site: try row.textOrNil(4),
        subjects: Glob(try row.blob(5)), createdAt: try row.time(6))
      service.rotatedAt = try row.timeOrNil(7)
      service.revokedAt = try row.timeOrNil(8)
      return service
    }
  }
}
