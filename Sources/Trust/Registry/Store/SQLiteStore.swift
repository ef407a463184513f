/// The registry's store in one SQLite file: groups, calls within them, and what is done after a failure. The tables lie in
/// files of their own beside this one (docs/devices-operating.md, "The store").
internal import Crypto
internal import SQLite
internal import System

/// Used by one thread at a time.
package final class SQLiteStore: RegistryStore {
  /// `PRAGMA application_id`: "PTCL".
  static let identifier: Int32 = 0x5054_434C

  let path: String
  private let fileSystem: String?
  private let reserve: any StoreReserve
  private var database: Database?
  /// As they were when they were read last.
  private var lastNumbers = RegistryNumbers()
  private(set) var copy: Backup?
  /// Looks at keys as they come from the file.
  let verifier = P256Verifier()

  /// Opens the file, makes it if it is not there, and brings its tables to their newest form.
  /// - Parameters:
  ///   - fileSystem: as in `Database.open`.
  ///   - reserve: a file beside this one where nothing else is said.
  package init(
    _ path: String, fileSystem: String? = nil, reserve: (any StoreReserve)? = nil
  ) throws(StoreFailure) {
    self.path = path
    self.fileSystem = fileSystem
    self.reserve = reserve ?? FileReserve(beside: path)
    database = try StoreFailure.of { () throws(SQLiteError) in
      try Self.open(path, fileSystem: fileSystem, after: RegistryNumbers())
    }
  }

  private static func open(
    _ path: String, fileSystem: String?, after before: RegistryNumbers
  ) throws(SQLiteError) -> Database {
    let database = try Database.open(path, fileSystem: fileSystem)
    try database.migrate(identifier: identifier, newest: newestForm, steps: steps)
    try beginTallies(database, after: before)
    return database
  }

  /// What SQLite says of its own accord, of all stores of the process: which call failed, and how, or what a crash has left
  /// to be recovered. On the thread of whoever uses a store, which it must not use meanwhile.
  package static func listen(_ say: @escaping @Sendable (_ message: String, _ isFailure: Bool) -> Void) {
    SQLiteLibrary.listen { say($0.message, $0.isFailure) }
  }

  // MARK: For the tables

  /// Runs a piece of work on the connection. After a failure there is none until `reopen`.
  func use<Value>(
    _ body: (Database) throws(SQLiteError) -> Value
  ) throws(StoreFailure) -> Value {
    guard let database else { throw .broken("the store is closed") }
    return try StoreFailure.of { () throws(SQLiteError) in try body(database) }
  }

  /// A statement that changes rows.
  /// - Returns: how many.
  @discardableResult
  func run(_ sql: String, _ values: [SQLValue] = []) throws(StoreFailure) -> Int {
    try use { database throws(SQLiteError) in try database.run(sql, values) }
  }

  func first<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ read: (borrowing Row) throws(SQLiteError) -> Value
  ) throws(StoreFailure) -> Value? {
    try use { database throws(SQLiteError) in try database.first(sql, values, read) }
  }

  func all<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ read: (borrowing Row) throws(SQLiteError) -> Value
  ) throws(StoreFailure) -> [Value] {
    try use { database throws(SQLiteError) in try database.all(sql, values, read) }
  }

  func each(
    _ sql: String, _ values: [SQLValue] = [], _ body: (borrowing Row) throws(SQLiteError) -> Void
  ) throws(StoreFailure) {
    try use { database throws(SQLiteError) in try database.each(sql, values, body) }
  }

  package func numbers() throws(StoreFailure) -> RegistryNumbers {
    lastNumbers = try tallies()
    // What cannot be seen is not worth a failure.
    for file in [path, path + "-wal"] { lastNumbers.bytes += (try? FileStamp.of(file).size) ?? 0 }
    return lastNumbers
  }

  func count(_ sql: String, _ values: [SQLValue] = []) throws(StoreFailure) -> Int {
    Int(try first(sql, values) { row throws(SQLiteError) in try row.integer(0) } ?? 0)
  }
}

// MARK: Groups and calls

extension SQLiteStore {
  package func begin() throws(StoreFailure) {
    try use { database throws(SQLiteError) in try database.begin() }
  }

  package func commit() throws(StoreFailure) {
    try use { database throws(SQLiteError) in try database.commit() }
  }

  package func abandon() {
    // Where even this fails the file is closed before anything else is done with it.
    try? use { database throws(SQLiteError) in try database.rollBack() }
  }

  package func enter() throws(StoreFailure) {
    try use { database throws(SQLiteError) in try database.openSavepoint() }
  }

  package func keep() throws(StoreFailure) {
    try use { database throws(SQLiteError) in try database.releaseSavepoint() }
  }

  package func undo() throws(StoreFailure) {
    try use { database throws(SQLiteError) in try database.rollBackSavepoint() }
  }

  /// Reads all of the file.
  func quickCheck() throws(StoreFailure) {
    try use { database throws(SQLiteError) in try database.quickCheck() }
  }

  package func reopen() throws(StoreFailure) {
    close()
    database = try StoreFailure.of { () throws(SQLiteError) in
      let database = try Self.open(path, fileSystem: fileSystem, after: lastNumbers)
      try database.quickCheck()
      return database
    }
  }

  package func close() {
    copy = nil
    database = nil
  }

  package func value(_ name: String) throws(StoreFailure) -> [UInt8]? {
    try first("SELECT value FROM registry WHERE name = ?1", [.text(name)]) { row throws(SQLiteError) in
      try row.blob(0)
    }
  }

  package func setValue(_ name: String, _ bytes: [UInt8]?) throws(StoreFailure) {
    if let bytes {
      try run("INSERT OR REPLACE INTO registry (name, value) VALUES (?1, ?2)", [.text(name), .blob(bytes)])
    } else {
      try run("DELETE FROM registry WHERE name = ?1", [.text(name)])
    }
  }
}

// MARK: Reserve and copies

extension SQLiteStore {
  package func keepReserve() -> Bool { reserve.keep() }
  package func giveUpReserve() -> Bool { reserve.giveUp() }

  package func beginCopy(named name: String) throws(StoreFailure) {
    copy = try use { database throws(SQLiteError) in
      try Backup(of: database, at: path, to: name, stripping: Self.stripping)
    }
  }

  package func emptyLog() throws(StoreFailure) {
    try use { database throws(SQLiteError) in try database.checkpoint() }
  }

  package func scrub(from page: Int) throws(StoreFailure) -> Int? {
    // Some four megabytes, as a copy takes at a time.
    try use { database throws(SQLiteError) in try database.scrub(from: page, count: 1024) }
  }

  package func endCopy() { copy = nil }

  package func continueCopy() throws(StoreFailure) -> Bool {
    guard let copy else { return true }
    do throws(SQLiteError) {
      // Some four megabytes: a few milliseconds between two groups.
      let isWhole = try copy.step(pages: 1024)
      if isWhole { self.copy = nil }
      return isWhole
    } catch {
      self.copy = nil
      throw StoreFailure(error)
    }
  }
}

extension StoreFailure {
  init(_ error: SQLiteError) {
    switch error.kind {
    case .full: self = .full(error.description)
    case .constraint: self = .constraint(error.description)
    case .busy: self = .inUse(error.description)
    case .io, .corrupt, .other: self = .broken(error.description)
    }
  }

  static func of<Value>(_ body: () throws(SQLiteError) -> Value) throws(StoreFailure) -> Value {
    do throws(SQLiteError) { return try body() } catch { throw StoreFailure(error) }
  }
}
