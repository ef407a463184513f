/// The row that a statement stands at, for as long as it stands there. Columns are counted from 0.

package struct Row: ~Copyable {
  private let statement: any SQLStatement

  init(of statement: any SQLStatement) {
    self.statement = statement
  }

  package func isNull(_ column: Int) -> Bool { statement.isNull(column) }
  package func integer(_ column: Int) throws(SQLError) -> Int64 { try statement.integer(column) }
  package func text(_ column: Int) throws(SQLError) -> String { try statement.text(column) }

  package func blob(_ column: Int) throws(SQLError) -> [UInt8] { try statement.blob(column) }

  /// Lends the bytes of a blob without a copy.
  package func withBlob<Value>(
    _ column: Int, _ read: (Span<UInt8>) -> Value
  ) throws(SQLError) -> Value {
    try statement.withBlob(column, read)
  }

  package func flag(_ column: Int) throws(SQLError) -> Bool { try integer(column) != 0 }

  /// Nil for NULL.
  package func integerOrNil(_ column: Int) throws(SQLError) -> Int64? {
    isNull(column) ? nil : try integer(column)
  }

  package func textOrNil(_ column: Int) throws(SQLError) -> String? {
    isNull(column) ? nil : try text(column)
  }
  package func blobOrNil(_ column: Int) throws(SQLError) -> [UInt8]? {
    isNull(column) ? nil : try blob(column)
  }
}
