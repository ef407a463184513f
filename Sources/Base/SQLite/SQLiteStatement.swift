/// One prepared statement of SQLite's: bound, stepped through its rows, and ready to be used again.
internal import CSQLite
internal import SQL

/// The handle is private and finalised here alone; what it lends ends with the call.
@safe final class SQLiteStatement: SQLStatement {
  private let handle: OpaquePointer
  /// From the first parameter that is bound until all are let go.
  private(set) var isRunning = false

  init(_ sql: String, in database: OpaquePointer) throws(SQLError) {
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
      throw unsafe SQLError(lastOf: database, result)
    }
    unsafe self.handle = unsafe handle
  }

  deinit { unsafe sqlite3_finalize(handle) }

  func bind(_ values: [SQLValue]) throws(SQLError) {
    isRunning = true
    let expected = unsafe sqlite3_bind_parameter_count(handle)
    guard values.count == Int(expected) else {
      fatalError("\(values.count) values for a statement of \(expected) parameters")
    }
    for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
  }

  func step() throws(SQLError) -> Bool {
    switch unsafe sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let result: throw unsafe SQLError(lastOf: sqlite3_db_handle(handle), result)
    }
  }

  func reset() {
    isRunning = false
    unsafe sqlite3_reset(handle)
    unsafe sqlite3_clear_bindings(handle)
  }

  func run(_ values: [SQLValue]) throws(SQLError) -> Int {
    // The connection is open for as long as its statements are.
    let database = unsafe sqlite3_db_handle(handle)
    let before = unsafe sqlite3_total_changes64(database)
    defer { reset() }
    try bind(values)
    while try step() {}
    // Where nothing has changed, the other number is still of the statement before.
    return unsafe sqlite3_total_changes64(database) == before ? 0 : Int(sqlite3_changes64(database))
  }

  private func bind(_ value: SQLValue, at index: Int32) throws(SQLError) {
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
    guard result == SQLITE_OK else { throw unsafe SQLError(lastOf: sqlite3_db_handle(handle), result) }
  }

  // MARK: The row that it stands at

  func isNull(_ column: Int) -> Bool {
    unsafe sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL
  }

  func integer(_ column: Int) throws(SQLError) -> Int64 {
    try require(SQLITE_INTEGER, column)
    return unsafe sqlite3_column_int64(handle, Int32(column))
  }

  func text(_ column: Int) throws(SQLError) -> String {
    try require(SQLITE_TEXT, column)
    return unsafe String(decoding: buffer(column), as: UTF8.self)
  }

  /// Copied: SQLite's own bytes are gone with the next step.
  func blob(_ column: Int) throws(SQLError) -> [UInt8] {
    try require(SQLITE_BLOB, column)
    return unsafe Array(buffer(column))
  }

  func withBlob<Value>(_ column: Int, _ read: (Span<UInt8>) -> Value) throws(SQLError) -> Value {
    try require(SQLITE_BLOB, column)
    // They stay until the next step, and the span ends with the call.
    return read(unsafe buffer(column).span)
  }

  private func require(_ type: Int32, _ column: Int) throws(SQLError) {
    guard unsafe sqlite3_column_type(handle, Int32(column)) == type else {
      throw .unexpectedType(column: column)
    }
  }

  /// SQLite's own, until the next step.
  private func buffer(_ column: Int) -> UnsafeBufferPointer<UInt8> {
    // sqlite3_column_blob before sqlite3_column_bytes, as its documentation wants; nil when there are none.
    let start = unsafe sqlite3_column_blob(handle, Int32(column))
    let count = unsafe Int(sqlite3_column_bytes(handle, Int32(column)))
    return unsafe UnsafeBufferPointer(
      start: start?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : count)
  }
}
