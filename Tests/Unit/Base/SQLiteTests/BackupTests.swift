import SQL
import Glibc
import System
import Testing

@testable import SQLite

@Suite struct BackupTests {
  private func filled(_ path: String, rows: Int) throws -> Database {
    let database = try Database.open(path)
    try database.execute("CREATE TABLE t (x INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT")
    try database.begin()
    for number in 0..<rows {
      try database.run(
        "INSERT INTO t VALUES (?1, ?2)",
        [.integer(Int64(number)), .blob([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 500))])
    }
    try database.commit()
    return database
  }

  private func count(_ database: Database, _ condition: String = "1") throws -> Int64? {
    try database.first("SELECT count(*) FROM t WHERE \(condition)") { row throws(SQLError) in
      try row.integer(0)
    }
  }

  /// The database goes on being changed between the pieces, before and behind the place where the copy stands.
  @Test func aCopyIsMadeWhileTheDatabaseIsUsed() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-backup-")
    let path = folder.path + "/devices.db"
    let database = try filled(path, rows: 2000)
    let backup = try Backup(of: database, at: path, to: "copy.db")
    var pieces = 0
    while try !backup.step(pages: 20) {
      pieces += 1
      #expect(!WholeFile.exists(folder.path + "/copy.db"))
      try database.run("UPDATE t SET bytes = ?1 WHERE x IN (0, 1999)", [.blob([9])])
      try database.run("DELETE FROM t WHERE x = ?1", [.integer(Int64(pieces))])
    }
    #expect(pieces > 5 && !WholeFile.exists(folder.path + "/copy.db.unfinished"))
    var status = stat()
    let found = unsafe lstat(folder.path + "/copy.db", &status)
    #expect(found == 0 && status.st_mode & 0o7777 == 0o600)
    let copy = try Database.open(folder.path + "/copy.db")
    try copy.quickCheck()
    #expect(try count(copy) == count(database))
    #expect(try count(copy, "bytes = x'09'") == 2)
    // The original is untouched and goes on.
    try database.quickCheck()
    folder.remove()
  }

  @Test func anotherFileIsNeverReplaced() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-backup-")
    let path = folder.path + "/devices.db"
    let database = try filled(path, rows: 10)
    try WholeFile.write([1, 2, 3], to: folder.path + "/copy.db", mode: 0o600, overwriting: false)
    for name in ["copy.db", "devices.db", "", ".", "..", "../copy.db", "sub/copy.db", "/tmp/copy.db"] {
      #expect(throws: SQLError.self, "\(name)") { _ = try Backup(of: database, at: path, to: name) }
    }
    #expect(try WholeFile.read(folder.path + "/copy.db") == [1, 2, 3])
    // Nor one that came while the copy was being made.
    let backup = try Backup(of: database, at: path, to: "second.db")
    try WholeFile.write([4], to: folder.path + "/second.db", mode: 0o600, overwriting: false)
    #expect(throws: SQLError.self) { while try !backup.step(pages: 100) {} }
    #expect(try WholeFile.read(folder.path + "/second.db") == [4])
    #expect(!WholeFile.exists(folder.path + "/second.db.unfinished"))
    folder.remove()
  }

  @Test func oneThatIsGivenUpLeavesNothing() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-backup-")
    let path = folder.path + "/devices.db"
    let database = try filled(path, rows: 2000)
    var backup: Backup? = try Backup(of: database, at: path, to: "copy.db")
    #expect(try backup?.step(pages: 5) == false)
    #expect(WholeFile.exists(folder.path + "/copy.db.unfinished"))
    backup = nil
    #expect(
      !WholeFile.exists(folder.path + "/copy.db.unfinished") && !WholeFile.exists(folder.path + "/copy.db"))
    folder.remove()
  }
}
