/// What is SQLite's own of the store: its file, the room that is kept for it, copies, what is overwritten, and the words that
/// another engine says otherwise. Its tables stand with their rows, its triggers in `StoreTallies.swift`.
internal import SQL
internal import SQLite

/// Where a statement is not in the form that engines have in common.
enum SQLiteWords {
  /// Behind a table: its rows are found by this index and no other.
  static func found(by index: String) -> String { "INDEXED BY \(index)" }
  /// From 1, of text in text or bytes in bytes; 0 where it is not there.
  static func place(of part: String, in whole: String) -> String { "instr(\(whole), \(part))" }
  /// Bytes in the place of text, compared as bytes: they may end within a character.
  static func text(of bytes: String) -> String { "CAST(\(bytes) AS TEXT)" }
}

// MARK: The file

extension RegistryDatabase {
  /// `PRAGMA application_id`: "PTCL".
  static let identifier: Int32 = 0x5054_434C

  static func open(
    _ path: String, fileSystem: String?, after before: RegistryNumbers
  ) throws(SQLError) -> Database {
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

  /// After a failure: opened anew and looked over.
  package func reopen() throws(CallFailure) {
    close()
    do throws(SQLError) {
      let fresh = try Self.open(path, fileSystem: fileSystem, after: lastNumbers)
      try fresh.quickCheck()
      database = fresh
    } catch {
      throw .store(StoreFailure(error))
    }
  }

  package func close() {
    copy = nil
    database = nil
  }

  /// Work on the file itself.
  private func useFile<Value>(_ body: (Database) throws(SQLError) -> Value) throws(StoreFailure) -> Value {
    guard let database else { throw .broken("the store is closed") }
    do throws(SQLError) { return try body(database) } catch { throw StoreFailure(error) }
  }

  /// Reads all of the file.
  func quickCheck() throws(StoreFailure) {
    try useFile { database throws(SQLError) in try database.quickCheck() }
  }

  /// What was deleted is in the log no more; to be called while no group is open.
  package func emptyLog() throws(StoreFailure) {
    try useFile { database throws(SQLError) in try database.checkpoint() }
  }

  /// Empties the log, and overwrites what no row uses in the next pages of the file, from 0: a piece of milliseconds.
  /// - Returns: the page to go on from; nil after the last one, and then what was deleted before the first piece is in no file
  ///   of the store.
  package func scrub(from page: Int) throws(StoreFailure) -> Int? {
    // Some four megabytes, as a copy takes at a time.
    try useFile { database throws(SQLError) in try database.scrub(from: page, count: 1024) }
  }
}

// MARK: Reserve and copies

extension RegistryDatabase {
  /// Takes room on the disk for what has to be written when there is no other; false when there is not enough.
  package func keepReserve() -> Bool { reserve.keep() }
  /// False when there was none.
  package func giveUpReserve() -> Bool { reserve.giveUp() }

  /// Begins a copy of all but the gate's secrets in a new file of this name, beside its own; made while no group is open,
  /// piece by piece.
  package func beginCopy(named name: String) throws(StoreFailure) {
    copy = try useFile { database throws(SQLError) in
      try Backup(of: database, at: path, to: name, stripping: Self.stripping)
    }
  }

  /// Gives it up: nothing is left of it.
  package func endCopy() { copy = nil }

  /// True when the copy is whole and on the disk.
  package func continueCopy() throws(StoreFailure) -> Bool {
    guard let copy else { return true }
    do throws(SQLError) {
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
