/// The forms that the store's file has had, each as the statements that lead to it from the one before.

extension SQLiteStore {
  /// A form that was released does not change any more. Each room has its tables in a file of its own.
  static let forms: [String] = [
    [
      registryTables,
      auditTables,
      deviceTables,
      tokenKeyTables,
      pairingTables,
      serviceTables,
      approvalTables,
      voteTables,
    ].joined(separator: ";\n")
  ]

  static let registryTables = """
    CREATE TABLE registry (name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT, WITHOUT ROWID
    """
}
