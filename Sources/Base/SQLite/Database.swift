/// One connection to one SQLite file (sqlite.org/pragma.html), which no other process has at the same time.
///
/// A connection is used by one thread at a time. Values come out of it as values; nothing of SQLite's is handed out.
internal import CSQLite
package import SQL

@safe package final class Database: SQLEngine {
  let handle: OpaquePointer
  /// By their text, which is looked up once for each use: it is long, and a request takes some twenty.
  private var statements: [String: SQLiteStatement] = [:]

  private init(owning handle: OpaquePointer) {
    unsafe self.handle = unsafe handle
  }

  deinit {
    // Statements before the connection: with one left, SQLite would keep it open.
    statements = [:]
    unsafe sqlite3_close_v2(handle)
  }

  // MARK: Opening

  /// Opens a file, makes it if it is not there, and takes it for this process alone: `busy` when another has it.
  /// - Parameters:
  ///   - path: in a folder that is there. The folder may be reached by links, the file itself may not be one.
  ///   - fileSystem: the name of a registered VFS instead of the system's, which then has to see to the file's mode.
  package static func open(_ path: String, fileSystem: String? = nil) throws(SQLError) -> Database {
    try SQLiteLibrary.start()
    var path = path
    if fileSystem == nil { path = try DatabaseFile.prepare(path) }
    let database = try connect(path, fileSystem: fileSystem)
    try database.configure()
    return database
  }

  static func connect(_ path: String, fileSystem: String? = nil) throws(SQLError) -> Database {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
    // Both texts are read during the call alone. A handle comes even with an error, and has to be closed.
    let result =
      if let fileSystem {
        unsafe sqlite3_open_v2(path, &handle, flags, fileSystem)
      } else {
        unsafe sqlite3_open_v2(path, &handle, flags, nil)
      }
    guard let handle = unsafe handle else {
      throw SQLError(code: result, message: "no memory for a connection")
    }
    let database = unsafe Database(owning: handle)
    guard result == SQLITE_OK else { throw unsafe SQLError(lastOf: handle, result) }
    return database
  }

  /// The order counts: the lock is to be kept before the file is looked into, as only then the log needs no memory
  /// shared with other processes.
  private func configure() throws(SQLError) {
    let result = unsafe portcullis_sqlite_defend(handle)
    guard result == SQLITE_OK else { throw unsafe SQLError(lastOf: handle, result) }
    try execute("PRAGMA locking_mode = EXCLUSIVE")
    let mode = try first("PRAGMA journal_mode = WAL") { row throws(SQLError) in try row.text(0) }
    guard mode == "wal" else {
      throw SQLError(.io, code: SQLITE_CANTOPEN, "the file cannot have a write-ahead log")
    }
    for setting in Self.settings { try execute("PRAGMA " + setting) }
    // Takes the lock now rather than at the first change, which may be much later.
    try begin()
    try commit()
  }

  private static let settings = [
    // Every commit is on the disk before it returns.
    "synchronous = FULL",
    // Large sorts would go to files elsewhere, where nothing may be written.
    "temp_store = MEMORY", "mmap_size = 0",
    "trusted_schema = OFF", "foreign_keys = ON", "cell_size_check = ON",
    // What is deleted is overwritten.
    "secure_delete = ON",
    "cache_size = -8192",
    // In pages: of 4,000, one takes so long that votes wait for tens of milliseconds.
    "wal_autocheckpoint = 1000",
    // In bytes, after a log that has grown.
    "journal_size_limit = 4194304",
  ]

  // MARK: Statements

  /// The texts of those that are kept.
  package var prepared: [String] { Array(statements.keys) }

  package func execute(_ sql: String) throws(SQLError) {
    // The text is read during the call alone; no callback, no message taken.
    let result = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    guard result == SQLITE_OK else { throw unsafe SQLError(lastOf: handle, result) }
  }

  package func statement(_ sql: String) throws(SQLError) -> any SQLStatement {
    let kept = statements[sql]
    // Within the rows of one, another of the same text gets a statement of its own, for this time.
    if let kept, !kept.isRunning { return kept }
    let statement = unsafe try SQLiteStatement(sql, in: handle)
    if kept == nil { statements[sql] = statement }
    return statement
  }

  // MARK: Transactions

  /// Whether a transaction is open. SQLite ends one by itself after some errors.
  package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  package func begin() throws(SQLError) { try run("BEGIN IMMEDIATE") }
  package func commit() throws(SQLError) { try run("COMMIT") }

  package func rollBack() throws(SQLError) {
    if isInTransaction { try run("ROLLBACK") }
  }

  package func openSavepoint() throws(SQLError) { try run("SAVEPOINT request") }
  package func releaseSavepoint() throws(SQLError) { try run("RELEASE request") }
  package func rollBackSavepoint() throws(SQLError) {
    try run("ROLLBACK TO request")
    try run("RELEASE request")
  }

  // MARK: The file

  /// Brings the file to the newest form of its tables, all or nothing at each step. Forms are numbered from 1
  /// (`PRAGMA user_version`).
  /// - Parameters:
  ///   - identifier: of the program that the file belongs to (`PRAGMA application_id`).
  ///   - newest: makes the tables in an empty file.
  ///   - steps: the first leads from form 1 to form 2.
  package func migrate(identifier: Int32, newest: String, steps: [String] = []) throws(SQLError) {
    let version = try pragma("user_version")
    let owner = try pragma("application_id")
    guard owner == Int64(identifier) || owner == 0 && version == 0 else {
      throw SQLError(.corrupt, code: SQLITE_NOTADB, "the file is another program's")
    }
    let form = steps.count + 1
    guard version <= form else {
      throw SQLError(
        .other, code: SQLITE_MISMATCH, "the file has form \(version) and this program knows \(form)")
    }
    if version == 0 { return try change(newest, identifier: identifier, form: form) }
    if version == form { return }
    // A step may drop a table and make it anew: what refers to its rows does not go with it (sqlite.org/lang_altertable.html,
    // "Making Other Kinds Of Table Schema Changes"). Inside of a transaction it cannot be set.
    try execute("PRAGMA foreign_keys = OFF")
    for (index, step) in steps.enumerated().dropFirst(Int(version) - 1) {
      try change(step, identifier: identifier, form: index + 2)
    }
    try execute("PRAGMA foreign_keys = ON")
  }

  private func change(_ script: String, identifier: Int32, form: Int) throws(SQLError) {
    try begin()
    do throws(SQLError) {
      try execute(script)
      let orphan = try first("PRAGMA foreign_key_check") { row throws(SQLError) in try row.text(0) }
      if let orphan {
        throw SQLError(.corrupt, code: SQLITE_CORRUPT, "rows of \(orphan) belong to nothing")
      }
      try execute("PRAGMA user_version = \(form); PRAGMA application_id = \(identifier)")
      try commit()
    } catch {
      try? rollBack()
      throw error
    }
  }

  /// Reads all of the file: `corrupt` when it is not in order.
  package func quickCheck() throws(SQLError) {
    let answer = try first("PRAGMA quick_check(1)") { row throws(SQLError) in try row.text(0) }
    guard answer == "ok" else { throw SQLError(.corrupt, code: SQLITE_CORRUPT, answer ?? "no answer") }
  }

  /// Moves what is in the log to the file itself, and makes the log a file of no bytes. The statement itself succeeds where
  /// somebody keeps it from doing so, and says that in its row.
  package func checkpoint() throws(SQLError) {
    let isBusy = try first("PRAGMA wal_checkpoint(TRUNCATE)") { row throws(SQLError) in try row.flag(0) }
    guard isBusy == false else {
      throw SQLError(.io, code: SQLITE_BUSY, "the write-ahead log cannot be emptied")
    }
  }

  private func pragma(_ name: String) throws(SQLError) -> Int64 {
    try first("PRAGMA " + name) { row throws(SQLError) in try row.integer(0) } ?? 0
  }
}
