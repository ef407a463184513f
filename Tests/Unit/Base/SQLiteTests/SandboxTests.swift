import SQL
import Confinement
import Glibc
import Obligation
import System
import Testing

@testable import SQLite

/// What a serving gate does with its database works behind the gate's own fences, without a call that they do not have.
@Suite(
  .enabled(if: Obligation.runs(SystemCallFilter.isAvailable, "seccomp"), "the kernel has no seccomp filters"))
struct SandboxTests {
  @Test func allThatAGateDoesWithItsDatabase() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder(prefix: "portcullis-sandbox-")
      let path = folder.path + "/devices.db"
      var database: Database? = try Database.open(path)
      try database?.execute("CREATE TABLE t (x INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT")
      _ = try WriteFence.raise(writableFolders: [folder.path])
      try SystemCallFilter.prepare().install()
      do throws(SQLError) {
        try SandboxTests.use(database)
        // As after a failure: closed, opened anew, read through; and with a log that was left behind.
        database = nil
        database = try Database.open(path)
        try database?.quickCheck()
        try SandboxTests.use(database)
        if let database {
          let backup = try Backup(of: database, at: path, to: "copy.db")
          while try !backup.step(pages: 50) {}
          let copy = try Database.open(folder.path + "/copy.db")
          try copy.quickCheck()
        }
      } catch {
        let line = Array("\(error)\n".utf8)
        _ = unsafe line.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
        _exit(EXIT_FAILURE)
      }
      database = nil
      folder.remove()
      _exit(EXIT_SUCCESS)
    }
  }

  /// Enough for checkpoints, and for a sort that would like to have a file.
  private static func use(_ database: Database?) throws(SQLError) {
    guard let database else { return }
    for group in 0..<4 {
      try database.begin()
      for number in 0..<2000 {
        try database.openSavepoint()
        try database.run(
          "INSERT INTO t (name) VALUES (?1)",
          [.text("\(group) \(number) \(String(repeating: "x", count: 400))")])
        try database.releaseSavepoint()
      }
      try database.commit()
    }
    _ = try database.first("SELECT name FROM t ORDER BY name DESC, x") { row throws(SQLError) in
      try row.text(0)
    }
    try database.run("DELETE FROM t WHERE x % 3 = 0")
    try database.checkpoint()
  }
}
