/// Secrets of the gate's own in the store's file, and how a copy comes to have none (docs/security.md, "When something is
/// lost").
internal import SQL

extension RegistryDatabase {
  /// The tables of secrets that last are made anew, so that none of their old pages is left as it was: a row that was moved
  /// may have left its bytes where no row is. Codes and nonces of pairings end with the next start, whatever they are.
  static let stripping = """
    CREATE TABLE kept AS SELECT thumbprint, point, since FROM token_keys;
    DROP TABLE token_keys;
    \(tokenKeyTables);
    INSERT INTO token_keys (thumbprint, point, since) SELECT thumbprint, point, since FROM kept;
    DROP TABLE kept;
    CREATE TABLE kept AS SELECT name, value FROM registry WHERE name <> '\(StoreValue.secret)';
    DROP TABLE registry;
    \(registryTables);
    INSERT INTO registry SELECT name, value FROM kept;
    DROP TABLE kept;
    UPDATE pairings SET secret = NULL WHERE secret IS NOT NULL
    """

  private static let secrets = """
    SELECT (SELECT count(*) FROM token_keys WHERE scalar IS NOT NULL)
      + (SELECT count(*) FROM registry WHERE name = '\(StoreValue.secret)')
      + (SELECT count(*) FROM pairings WHERE secret IS NOT NULL)
    """

  /// For a store that takes another's place: keys that somebody may have copied sign nothing for it.
  func strip() throws(CallFailure) {
    guard try count(Self.secrets) > 0 else { return }
    try begin()
    do throws(CallFailure) {
      try use { engine throws(SQLError) in try engine.execute(Self.stripping) }
      try commit()
    } catch {
      abandon()
      throw error
    }
  }
}
