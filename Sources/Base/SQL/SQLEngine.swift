/// A database as tables use it: statements by their text, and one transaction with savepoints in it. SQLite is one
/// (`Database`); another may take its place, as the statements are in a form that both have.

/// Used by one thread at a time. Its errors say what has to be done: after `constraint` the savepoint is rolled back and the
/// transaction goes on; after any other it is at its end.
package protocol SQLEngine: AnyObject {
  /// Prepared once and kept by its text. A text whose rows are being read gets a statement of its own for this time.
  func statement(_ sql: String) throws(SQLError) -> any SQLStatement
  /// One or several statements without parameters and without rows that matter.
  func execute(_ sql: String) throws(SQLError)

  func begin() throws(SQLError)
  /// After this returned, what was changed is on the disk.
  func commit() throws(SQLError)
  /// Does nothing where no transaction is open.
  func rollBack() throws(SQLError)

  /// Marks a place in a transaction that the changes from here on can be taken back to.
  func openSavepoint() throws(SQLError)
  /// Keeps what was changed since, in the transaction.
  func releaseSavepoint() throws(SQLError)
  /// Takes back what was changed since, and the mark as well.
  func rollBackSavepoint() throws(SQLError)
}

/// A prepared statement: bound, stepped through its rows, and reset. Of the row that it stands at it says what is in the
/// columns, counted from 0; a value of another type than was asked for is an error of what is stored.
package protocol SQLStatement: AnyObject {
  /// - Parameter values: of the parameters `?1`, `?2` …, in their order.
  func bind(_ values: [SQLValue]) throws(SQLError)
  /// Whether it stands at a row now; false after the last.
  func step() throws(SQLError) -> Bool
  /// Lets go at once of all that was bound, which may be secret, and of the rows.
  func reset()

  /// Binds, and runs to the end.
  /// - Returns: how many rows it changed itself; what follows from that by foreign keys or triggers is not counted.
  func run(_ values: [SQLValue]) throws(SQLError) -> Int

  func isNull(_ column: Int) -> Bool
  func integer(_ column: Int) throws(SQLError) -> Int64
  func text(_ column: Int) throws(SQLError) -> String
  func blob(_ column: Int) throws(SQLError) -> [UInt8]
  /// Lends the bytes of a blob, which are the engine's own.
  func withBlob<Value>(_ column: Int, _ read: (Span<UInt8>) -> Value) throws(SQLError) -> Value
}

extension SQLEngine {
  /// A statement that changes rows.
  /// - Returns: how many it changed itself.
  @discardableResult
  package func run(_ sql: String, _ values: [SQLValue] = []) throws(SQLError) -> Int {
    try statement(sql).run(values)
  }

  /// The first row, or nil when there is none.
  package func first<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ read: (borrowing Row) throws(SQLError) -> Value
  ) throws(SQLError) -> Value? {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(values)
    return try statement.step() ? try read(Row(of: statement)) : nil
  }

  package func all<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ read: (borrowing Row) throws(SQLError) -> Value
  ) throws(SQLError) -> [Value] {
    var found: [Value] = []
    try each(sql, values) { row throws(SQLError) in found.append(try read(row)) }
    return found
  }

  package func each(
    _ sql: String, _ values: [SQLValue] = [], _ body: (borrowing Row) throws(SQLError) -> Void
  ) throws(SQLError) {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(values)
    let row = Row(of: statement)
    while try statement.step() { try body(row) }
  }
}
