/// A copy of a database while it is in use (sqlite.org/c3ref/backup_finish.html), a piece at a time: between two pieces
/// the database may be changed over the same connection, and the copy gets the changes, too.
internal import CSQLite
package import SQL
internal import Glibc
internal import System

/// Until it is finished the copy has another name; given up, it is removed.
@safe package final class Backup {
  private let source: Database
  private var copy: Database?
  private let folder: String
  private let path: String
  private let unfinished: String
  private let stripping: String
  private var handle: OpaquePointer?

  /// - Parameters:
  ///   - name: of a new file in the folder of the database, without a slash.
  ///   - path: the database's own, as it was opened.
  ///   - stripping: statements that take out of the copy what is not to leave with it. Tables that held such a thing have to
  ///     be dropped and made anew: then all their pages are overwritten, and not their rows alone.
  package init(
    of source: Database, at path: String, to name: String, stripping: String = ""
  ) throws(SQLError) {
    let folder = try DatabaseFile.naming { () throws(SystemError) in
      try RealPath.of(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".")
    }
    guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
      throw SQLError(
        .other, code: SQLITE_MISUSE, "the name of a copy is that of a file in the same folder")
    }
    self.source = source
    self.stripping = stripping
    self.folder = folder
    self.path = folder + "/" + name
    unfinished = self.path + ".unfinished"
    guard !WholeFile.exists(self.path) else { throw Self.taken }
    // Left behind by a process that was killed.
    try? FileNames.remove(unfinished)
    try DatabaseFile.create(unfinished, in: folder)
    do throws(SQLError) {
      let copy = try Database.connect(unfinished)
      // Nobody reads it before it is whole: no journal, and it is synced once, at the end.
      try copy.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE")
      guard let handle = unsafe sqlite3_backup_init(copy.handle, "main", source.handle, "main") else {
        throw unsafe SQLError(lastOf: copy.handle, sqlite3_errcode(copy.handle))
      }
      (self.copy, unsafe self.handle) = unsafe (copy, handle)
    } catch {
      try? FileNames.remove(unfinished)
      throw error
    }
  }

  deinit {
    guard let handle = unsafe handle else { return }
    unsafe sqlite3_backup_finish(handle)
    try? FileNames.remove(unfinished)
  }

  /// Copies the next pages; to be called while no transaction is open.
  /// - Returns: whether the copy is whole, and then on the disk under its name.
  package func step(pages: Int) throws(SQLError) -> Bool {
    guard let handle = unsafe handle, let copy else { return true }
    switch unsafe sqlite3_backup_step(handle, Int32(clamping: pages)) {
    case SQLITE_OK: return false
    case SQLITE_DONE: break
    case let result:
      throw SQLError(code: result, message: unsafe String(cString: sqlite3_errstr(result)))
    }
    unsafe self.handle = nil
    let result = unsafe sqlite3_backup_finish(handle)
    guard result == SQLITE_OK else {
      try? FileNames.remove(unfinished)
      throw unsafe SQLError(lastOf: copy.handle, result)
    }
    do throws(SQLError) {
      try strip(copy)
    } catch {
      self.copy = nil
      for end in ["", "-wal"] { try? FileNames.remove(unfinished + end) }
      throw error
    }
    self.copy = nil
    try finish()
    return true
  }

  /// Without any journal, as that would hold what is taken out: a copy that is not finished is thrown away.
  private func strip(_ copy: Database) throws(SQLError) {
    // The copied header asks for a write-ahead log.
    let mode = try copy.first("PRAGMA journal_mode = OFF") { row throws(SQLError) in try row.text(0) }
    guard mode == "off" else { throw SQLError(.io, code: SQLITE_CANTOPEN, "the copy keeps a journal") }
    try copy.execute("PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; BEGIN; \(stripping); COMMIT")
  }

  private func finish() throws(SQLError) {
    defer { try? FileNames.remove(unfinished) }
    try DatabaseFile.naming { () throws(SystemError) in
      let file = try OwnedDescriptor.open(reading: unfinished)
      if fsync(file.number) != 0 { throw SystemError("fsync \(unfinished)") }
      try FileNames.link(unfinished, as: path)
      try FileNames.synchronize(folder: folder)
    }
  }

  private static let taken = SQLError(
    .constraint, code: SQLITE_CONSTRAINT,
    "there is a file of that name already: choose another, or remove it first")
}
