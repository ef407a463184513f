/// The registry's store: groups of calls, each in a savepoint, statements over an engine, and values by name. The rows of
/// each table lie in a file of their own beside this one (docs/devices-operating.md, "The store").
internal import Crypto
internal import SQL
internal import SQLite
internal import System

/// Used by one thread at a time. What it throws ends the call; whatever is no `constraint` ends the group.
package final class RegistryDatabase {
  let path: String
  let fileSystem: String?
  let reserve: any StoreReserve
  /// Nil after a failure, until it is opened anew.
  var database: Database?
  /// What all statements go through.
  private var engine: (any SQLEngine)? { database }
  /// As they were when they were read last.
  private(set) var lastNumbers = RegistryNumbers()
  var copy: Backup?
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
    do throws(SQLError) {
      database = try Self.open(path, fileSystem: fileSystem, after: RegistryNumbers())
    } catch {
      throw StoreFailure(error)
    }
  }

  // MARK: For the tables

  /// The texts of those that were used on this connection.
  var statements: [String] { database?.prepared ?? [] }

  /// Runs a piece of work on the connection.
  func use<Value>(
    _ body: (any SQLEngine) throws(SQLError) -> Value
  ) throws(CallFailure) -> Value {
    guard let engine else { throw .store(.broken("the store is closed")) }
    // Whatever the disk took, the loops go first now.
    defer { Thread.preemptionPoint() }
    do throws(SQLError) { return try body(engine) } catch { throw .store(StoreFailure(error)) }
  }

  /// A statement that changes rows.
  /// - Returns: how many.
  @discardableResult
  func run(_ sql: String, _ values: [SQLValue] = []) throws(CallFailure) -> Int {
    try use { engine throws(SQLError) in try engine.run(sql, values) }
  }

  func first<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ read: (borrowing Row) throws(SQLError) -> Value
  ) throws(CallFailure) -> Value? {
    try use { engine throws(SQLError) in try engine.first(sql, values, read) }
  }

  func all<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ read: (borrowing Row) throws(SQLError) -> Value
  ) throws(CallFailure) -> [Value] {
    try use { engine throws(SQLError) in try engine.all(sql, values, read) }
  }

  func each(
    _ sql: String, _ values: [SQLValue] = [], _ body: (borrowing Row) throws(SQLError) -> Void
  ) throws(CallFailure) {
    try use { engine throws(SQLError) in try engine.each(sql, values, body) }
  }

  /// As of the last commit, and what became of rows since the start.
  package func numbers() throws(CallFailure) -> RegistryNumbers {
    lastNumbers = try tallies()
    // What cannot be seen is not worth a failure.
    for file in [path, path + "-wal"] { lastNumbers.bytes += (try? FileStamp.of(file).size) ?? 0 }
    return lastNumbers
  }

  func count(_ sql: String, _ values: [SQLValue] = []) throws(CallFailure) -> Int {
    Int(try first(sql, values) { row throws(SQLError) in try row.integer(0) } ?? 0)
  }
}

// MARK: Groups and calls

extension RegistryDatabase {
  /// Begins a group of calls.
  package func begin() throws(CallFailure) {
    try use { engine throws(SQLError) in try engine.begin() }
  }

  /// All calls of the group are durable when it returns.
  package func commit() throws(CallFailure) {
    try use { engine throws(SQLError) in try engine.commit() }
  }

  /// None of the group has happened.
  package func abandon() {
    // Where even this fails the file is closed before anything else is done with it.
    try? use { engine throws(SQLError) in try engine.rollBack() }
  }

  /// Begins one call.
  package func enter() throws(CallFailure) {
    try use { engine throws(SQLError) in try engine.openSavepoint() }
  }

  /// The call is part of its group.
  package func keep() throws(CallFailure) {
    try use { engine throws(SQLError) in try engine.releaseSavepoint() }
  }

  /// The call has not happened.
  package func undo() throws(CallFailure) {
    try use { engine throws(SQLError) in try engine.rollBackSavepoint() }
  }

  /// What the registry keeps of itself, by name: its own identifier, its highest time, keys.
  package func value(_ name: String) throws(CallFailure) -> [UInt8]? {
    try first("SELECT value FROM registry WHERE name = ?1", [.text(name)]) { row throws(SQLError) in
      try row.blob(0)
    }
  }

  package func setValue(_ name: String, _ bytes: [UInt8]?) throws(CallFailure) {
    if let bytes {
      try run(
        """
        INSERT INTO registry (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value
        """, [.text(name), .blob(bytes)])
    } else {
      try run("DELETE FROM registry WHERE name = ?1", [.text(name)])
    }
  }
}

extension StoreFailure {
  init(_ error: SQLError) {
    switch error.kind {
    case .full: self = .full(error.description)
    case .constraint: self = .constraint(error.description)
    case .busy: self = .inUse(error.description)
    case .io, .corrupt, .other: self = .broken(error.description)
    }
  }
}
