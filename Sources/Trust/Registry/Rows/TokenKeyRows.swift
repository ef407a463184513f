/// The rows of token keys. One that signs no more stays with its public half, a few a year: whoever has a signed head of
/// the audit can have it judged for as long as the store lives.
package import Bytes
internal import Crypto
package import DeviceTokens
internal import DeviceWire
internal import SQL

extension RegistryDatabase {
  /// `scalar` is the private half, 32 bytes; NULL once it has gone, as `role` is.
  static let tokenKeyTables = """
    CREATE TABLE token_keys (
      thumbprint BLOB PRIMARY KEY NOT NULL,
      point BLOB NOT NULL,
      role TEXT,
      since INTEGER NOT NULL,
      scalar BLOB
    ) STRICT, WITHOUT ROWID
    """

  /// All that sign or are published.
  package func tokenKeys() throws(CallFailure) -> [TokenKeyRing.Member] {
    try all("SELECT role, since, scalar FROM token_keys WHERE scalar IS NOT NULL") {
      (row) throws(SQLError) in
      TokenKeyRing.Member(
        role: try row.word(0) { TokenKeyRing.Role(rawValue: $0) }, key: try row.value(2, Self.key),
        since: try row.number(1) { UnixSeconds($0) })
    }
  }

  private static func key(_ scalar: [UInt8]) -> TokenKey? {
    try? TokenKey.read(scalar: PrivateKeyText(copying: scalar.span))
  }

  /// In the place of those; what is left out loses its private half.
  package func setTokenKeys(_ members: [TokenKeyRing.Member]) throws(CallFailure) {
    try run("UPDATE token_keys SET role = NULL, scalar = NULL WHERE scalar IS NOT NULL")
    for member in members {
      guard let text = try? member.key.scalar() else {
        throw .store(.broken("a token key cannot be written"))
      }
      // The buffer is the text's own, and copied.
      let scalar = unsafe text.withPointer { unsafe Array(UnsafeBufferPointer(start: $0, count: text.count)) }
      try run(
        """
        INSERT INTO token_keys (thumbprint, point, role, since, scalar) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (thumbprint) DO UPDATE SET role = ?3, since = ?4, scalar = ?5
        """,
        [
          .hash(member.key.thumbprint.hash), .blob(member.key.point.stored), .text(member.role.rawValue),
          .integer(member.since.value), .blob(scalar),
        ])
    }
  }

  /// Of any key that ever signed here.
  package func tokenKey(_ thumbprint: KeyThumbprint) throws(CallFailure) -> P256Point? {
    try first("SELECT point FROM token_keys WHERE thumbprint = ?1", [.hash(thumbprint.hash)]) {
      (row) throws(SQLError) in try row.value(0) { P256Point(stored: $0) }
    }
  }
}
