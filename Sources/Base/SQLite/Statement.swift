/// One prepared statement: bound, stepped through its rows, and ready to be used again.
internal import CSQLite

/// The handle is private and finalised here alone; a row cannot outlive the call that it is handed to.
@safe final class Statement {
  private let handle: OpaquePointer
  /// From the first parameter that is bound until all are let go.
  private(set) var isRunning = false

  init(_ sql: String, in database: OpaquePointer) throws(SQLiteError) {
    var handle: OpaquePointer?
    var sql = sql
    // The text lives for the length of the call, and its length is given. Statements are kept for as long as the
    // connection lives, which SQLite may know.
    let result = sql.withUTF8 { text in
      unsafe text.withMemoryRebound(to: CChar.self) { text in
        unsafe sqlite3_prepare_v3(
          database, text.baseAddress, Int32(clamping: text.count), UInt32(SQLITE_PREPARE_PERSISTENT), &handle,
          nil)
      }
    }
    guard result == SQLITE_OK, let handle = unsafe handle else {
      throw unsafe SQLiteError(lastOf: database, result)
    }
    unsafe self.handle = unsafe handle
  }

  deinit { unsafe sqlite3_finalize(handle) }

  /// Runs to the end, or to where `body` says that it has seen enough.
  /// - Parameter body: is lent each row; false ends it.
  func run(
    _ values: [SQLValue], _ body: (borrowing Row) throws(SQLiteError) -> Bool
  ) throws(SQLiteError) {
    isRunning = true
    // What is bound is let go at once: it may be a secret, and the next user binds all parameters anew.
    defer {
      isRunning = false
      unsafe sqlite3_reset(handle)
      unsafe sqlite3_clear_bindings(handle)
    }
    let expected = unsafe sqlite3_bind_parameter_count(handle)
    guard values.count == Int(expected) else {
      fatalError("\(values.count) values for a statement of \(expected) parameters")
    }
    for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
    while true {
      switch unsafe sqlite3_step(handle) {
      case SQLITE_ROW:
        let row = unsafe Row(of: handle)
        guard try body(row) else { return }
      case SQLITE_DONE: return
      case let result: throw unsafe SQLiteError(lastOf: sqlite3_db_handle(handle), result)
      }
    }
  }

  private func bind(_ value: SQLValue, at index: Int32) throws(SQLiteError) {
    // SQLite copies bytes before the calls return.
    let result =
      switch value {
      case .null: unsafe sqlite3_bind_null(handle, index)
      case .integer(let number): unsafe sqlite3_bind_int64(handle, index, number)
      case .text(var text):
        text.withUTF8 { bytes in
          unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
            unsafe portcullis_sqlite_bind_text(handle, index, bytes.baseAddress, Int64(bytes.count))
          }
        }
      case .blob(let bytes):
        unsafe bytes.withUnsafeBytes { bytes in
          unsafe portcullis_sqlite_bind_blob(handle, index, bytes.baseAddress, Int64(bytes.count))
        }
      }
    guard result == SQLITE_OK else { throw unsafe SQLiteError(lastOf: sqlite3_db_handle(handle), result) }
  }
}

/// The row that a statement stands at, for as long as it stands there. Columns are counted from 0; a value of another
/// type than was asked for is an error of the file, as all tables are STRICT.
@safe package struct Row: ~Copyable {
  private let statement: OpaquePointer

  fileprivate init(of statement: OpaquePointer) {
    unsafe self.statement = unsafe statement
  }

  package func isNull(_ column: Int) -> Bool {
    unsafe sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL
  }

  package func integer(_ column: Int) throws(SQLiteError) -> Int64 {
    try require(SQLITE_INTEGER, column)
    return unsafe sqlite3_column_int64(statement, Int32(column))
  }

  package func text(_ column: Int) throws(SQLiteError) -> String {
    try require(SQLITE_TEXT, column)
    return String(decoding: bytes(column), as: UTF8.self)
  }

  package func blob(_ column: Int) throws(SQLiteError) -> [UInt8] {
    try require(SQLITE_BLOB, column)
    return bytes(column)
  }

  /// Lends the bytes of a blob, which are SQLite's own, without a copy.
  package func withBlob<Value>(
    _ column: Int, _ read: (Span<UInt8>) -> Value
  ) throws(SQLiteError) -> Value {
    try require(SQLITE_BLOB, column)
    // They stay until the next step, and the span ends with the call.
    return read(unsafe buffer(column).span)
  }

  package func flag(_ column: Int) throws(SQLiteError) -> Bool { try integer(column) != 0 }

  /// Nil for NULL.
  package func integerOrNil(_ column: Int) throws(SQLiteError) -> Int64? {
    isNull(column) ? nil : try integer(column)
  }

  package func textOrNil(_ column: Int) throws(SQLiteError) -> String? {
    isNull(column) ? nil : try text(column)
  }
  package func blobOrNil(_ column: Int) throws(SQLiteError) -> [UInt8]? {
    isNull(column) ? nil : try blob(column)
  }

  private func require(_ type: Int32, _ column: Int) throws(SQLiteError) {
    guard unsafe sqlite3_column_type(statement, Int32(column)) == type else {
      throw .unexpectedType(column: column)
    }
  }

  /// Of text or blob, copied: SQLite's own are gone with the next step.
  private func bytes(_ column: Int) -> [UInt8] { unsafe Array(buffer(column)) }

  /// SQLite's own, until the next step.
  private func buffer(_ column: Int) -> UnsafeBufferPointer<UInt8> {
    // sqlite3_column_blob before sqlite3_column_bytes, as its documentation wants; nil when there are none.
    let start = unsafe sqlite3_column_blob(statement, Int32(column))
    let count = unsafe Int(sqlite3_column_bytes(statement, Int32(column)))
    return unsafe UnsafeBufferPointer(
      start: start?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : count)
  }
}

extension SQLiteError {
  /// What the last call on this connection ended with.
  init(lastOf database: OpaquePointer?, _ result: Int32) {
    let extended = unsafe sqlite3_extended_errcode(database)
    // After a call that failed before it reached the connection, the connection tells of an older one.
    let code = extended & 0xff == result & 0xff ? extended : result
    let text = unsafe sqlite3_errmsg(database).map { unsafe String(cString: $0) } ?? ""
    unsafe self.init(code: code, systemError: sqlite3_system_errno(database), message: text)
  }
}
