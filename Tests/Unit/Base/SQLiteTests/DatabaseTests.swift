import SQL
import Glibc
import Synchronization
import System
import Testing

@testable import SQLite

@Suite struct DatabaseTests {
  /// A folder with one database in it; both are gone when `body` is over.
  private func withDatabase(_ body: (Database, String) throws -> Void) throws {
    let folder = try TemporaryFolder(prefix: "portcullis-sqlite-")
    let path = folder.path + "/devices.db"
    let outcome = Result { try body(Database.open(path), path) }
    folder.remove()
    try outcome.get()
  }

  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  private func link(_ target: String, _ path: String) throws {
    let result = unsafe symlink(target, path)
    try #require(result == 0)
  }

  @Test func valuesComeBackAsTheyWere() throws {
    try withDatabase { database, _ in
      try database.execute(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT, bytes BLOB, number INTEGER) STRICT")
      let rows: [[SQLValue]] = [
        [1, "plain", .blob([0, 1, 255]), .integer(.max)], [2, "", .blob([]), .integer(.min)],
        [3, "a\u{0}b", nil, nil], [4, nil, .blob([UInt8](repeating: 7, count: 100_000)), 0],
        [5, "\u{1F5DD} schön", nil, .flag(true)],
      ]
      for row in rows {
        #expect(try database.run("INSERT INTO t VALUES (?1, ?2, ?3, ?4)", row) == 1)
      }
      let found = try database.all("SELECT * FROM t ORDER BY id") { row throws(SQLError) -> [SQLValue] in
        [
          .integer(try row.integer(0)), .text(orNull: try row.textOrNil(1)),
          .blob(orNull: try row.blobOrNil(2)), .integer(orNull: try row.integerOrNil(3)),
        ]
      }
      #expect(found == rows)
    }
  }

  /// How many rows a statement has changed is not how many have changed because of it.
  @Test func whatFollowsFromAChangeIsNotCounted() throws {
    try withDatabase { database, _ in
      try database.execute(
        """
        CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE n (count INTEGER); INSERT INTO n VALUES (0);
        CREATE TABLE c (p INTEGER REFERENCES p (id) ON DELETE CASCADE);
        CREATE TEMP TRIGGER t AFTER DELETE ON main.p BEGIN UPDATE n SET count = count + 1; END;
        INSERT INTO p VALUES (1), (2), (3); INSERT INTO c VALUES (1), (1), (1), (2)
        """)
      #expect(try database.run("DELETE FROM p WHERE id < 3") == 2)
      #expect(try database.run("DELETE FROM p WHERE id = 9") == 0)
      #expect(try database.run("CREATE TABLE later (x)") == 0)
      #expect(try database.run("DELETE FROM p") == 1)
    }
  }

  @Test func aValueOfAnotherTypeIsAnErrorOfTheFile() throws {
    try withDatabase { database, _ in
      try database.execute("CREATE TABLE t (x TEXT) STRICT; INSERT INTO t VALUES ('1'), (NULL)")
      for condition in ["x IS NULL", "x IS NOT NULL"] {
        let error = #expect(throws: SQLError.self) {
          _ = try database.first("SELECT x FROM t WHERE \(condition)") { row throws(SQLError) in
            try row.integer(0)
          }
        }
        #expect(error?.kind == .corrupt)
      }
      let error = #expect(throws: SQLError.self) {
        try database.run("INSERT INTO t VALUES (?1)", [.blob([1])])
      }
      #expect(error?.kind == .constraint)
    }
  }

  /// A statement that runs while another of the same text runs does not disturb it, and the one that is kept can be used again.
  @Test func aStatementMayRunWithinItself() throws {
    try withDatabase { database, _ in
      try database.execute("CREATE TABLE t (x INTEGER) STRICT; INSERT INTO t VALUES (1), (2), (3)")
      var seen: [Int64] = []
      func visit(depth: Int) throws(SQLError) {
        try database.each("SELECT x FROM t ORDER BY x") { row throws(SQLError) in
          seen.append(try row.integer(0))
          if depth == 0 { try visit(depth: 1) }
        }
      }
      try visit(depth: 0)
      #expect(seen == [1, 1, 2, 3, 2, 1, 2, 3, 3, 1, 2, 3])
      #expect(
        try database.first("SELECT x FROM t ORDER BY x") { row throws(SQLError) in try row.integer(0) }
          == 1)
    }
  }

  @Test func whatAStatementWasGivenIsNotThereForTheNext() throws {
    try withDatabase { database, _ in
      try database.execute("CREATE TABLE t (x TEXT UNIQUE) STRICT")
      try database.run("INSERT INTO t VALUES (?1)", ["one"])
      #expect(throws: SQLError.self) { try database.run("INSERT INTO t VALUES (?1)", ["one"]) }
      try database.run("INSERT INTO t VALUES (?1)", ["two"])
      #expect(
        try database.first("SELECT count(*) FROM t") { row throws(SQLError) in try row.integer(0) } == 2)
    }
  }

  @Test func aSavepointIsTakenBackAloneAndATransactionWhole() throws {
    try withDatabase { database, path in
      try database.execute("CREATE TABLE t (x INTEGER UNIQUE) STRICT")
      func count() throws -> Int64? {
        try database.first("SELECT count(*) FROM t") { row throws(SQLError) in try row.integer(0) }
      }
      try database.begin()
      for number in 1...6 {
        try database.openSavepoint()
        try database.run("INSERT INTO t VALUES (?1)", [.integer(Int64(number))])
        if number % 2 == 0 { try database.rollBackSavepoint() } else { try database.releaseSavepoint() }
      }
      // A broken rule takes back its own statement only.
      try database.openSavepoint()
      let error = #expect(throws: SQLError.self) { try database.run("INSERT INTO t VALUES (1)") }
      #expect(error?.kind == .constraint && database.isInTransaction)
      try database.rollBackSavepoint()
      try database.commit()
      #expect(!database.isInTransaction)
      #expect(try count() == 3)
      try database.begin()
      try database.run("DELETE FROM t")
      try database.rollBack()
      try database.rollBack()
      #expect(try count() == 3)
    }
  }

  @Test func theFileIsOursAloneWhateverTheUmask() async {
    await #expect(processExitsWith: .success) {
      for mask: mode_t in [0o000, 0o777] {
        umask(mask)
        let folder = try TemporaryFolder(prefix: "portcullis-sqlite-")
        if mask != 0 { _ = unsafe chmod(folder.path, 0o700) }
        let path = folder.path + "/devices.db"
        let database = try Database.open(path)
        try database.execute("CREATE TABLE t (x TEXT) STRICT")
        for file in [path, path + "-wal"] {
          var status = stat()
          guard unsafe lstat(file, &status) == 0, status.st_mode & 0o7777 == 0o600 else { exit(1) }
        }
        folder.remove()
      }
    }
  }

  @Test func anOpenFileIsMadePrivate() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-sqlite-")
    let path = folder.path + "/devices.db"
    try WholeFile.write([], to: path, mode: 0o644, overwriting: false)
    _ = try Database.open(path)
    #expect(mode(path) == 0o600)
    folder.remove()
  }

  @Test func linksInPlaceOfTheFileAreRefusedAndLinksToTheFolderAreNot() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-sqlite-")
    let (path, real) = (folder.path + "/devices.db", folder.path + "/elsewhere")
    try link(real, path)
    #expect(throws: SQLError.self) { _ = try Database.open(path) }
    #expect(mode(real) == nil)
    let way = folder.path + "/way"
    try link(folder.path, way)
    _ = try Database.open(way + "/other.db")
    #expect(mode(folder.path + "/other.db") == 0o600)
    // The log's name is SQLite's to open, which does not follow a link there either.
    try link(real, folder.path + "/third.db-wal")
    #expect(throws: SQLError.self) {
      try Database.open(folder.path + "/third.db").execute("CREATE TABLE t (x TEXT) STRICT")
    }
    #expect(mode(real) == nil)
    folder.remove()
  }

  @Test func settingsAreInForce() throws {
    try withDatabase { database, _ in
      let expected: [(String, Int64)] = [
        ("synchronous", 2), ("temp_store", 2), ("mmap_size", 0), ("trusted_schema", 0), ("foreign_keys", 1),
        ("secure_delete", 1), ("cell_size_check", 1),
      ]
      for (name, value) in expected {
        let found = try database.first("PRAGMA \(name)") { row throws(SQLError) in try row.integer(0) }
        #expect(found == value, "\(name)")
      }
      for (name, value) in [("locking_mode", "exclusive"), ("journal_mode", "wal")] {
        let found = try database.first("PRAGMA \(name)") { row throws(SQLError) in try row.text(0) }
        #expect(found == value, "\(name)")
      }
      // A name in quotes is never taken for a text, and nobody writes to the schema.
      #expect(throws: SQLError.self) { try database.execute("SELECT \"not a column\"") }
      #expect(throws: SQLError.self) { try database.execute("UPDATE sqlite_schema SET name = 'x'") }
    }
  }

  /// Locks of a process do not hold against itself: the other one is a process of its own.
  @Test func anotherProcessIsRefused() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder(prefix: "portcullis-sqlite-")
      let path = folder.path + "/devices.db"
      let database = try Database.open(path)
      let child = portcullisFork()
      if child == 0 {
        do throws(SQLError) {
          _ = try Database.open(path)
        } catch {
          _exit(error.kind == .busy ? 0 : 2)
        }
        _exit(1)
      }
      var status: Int32 = 0
      _ = unsafe waitpid(child, &status, 0)
      try database.checkpoint()
      folder.remove()
      exit(status == 0 ? 0 : 1)
    }
  }

  @Test func formsFollowEachOther() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-sqlite-")
    let path = folder.path + "/devices.db"
    let first = "CREATE TABLE a (x TEXT) STRICT"
    let step = "CREATE TABLE b (x TEXT) STRICT; INSERT INTO b VALUES ('y')"
    let newest = "CREATE TABLE c (x TEXT) STRICT"
    try Database.open(path).migrate(identifier: 77, newest: first)
    // A file that has tables gets the steps that it lacks, and never the newest form as such.
    try Database.open(path).migrate(identifier: 77, newest: newest, steps: [step])
    let database = try Database.open(path)
    try database.migrate(identifier: 77, newest: newest, steps: [step])
    #expect(
      try database.first("SELECT count(*) FROM b") { row throws(SQLError) in try row.integer(0) } == 1)
    // All or nothing.
    #expect(throws: SQLError.self) {
      try database.migrate(
        identifier: 77, newest: newest,
        steps: [step, "CREATE TABLE c (x TEXT) STRICT; CREATE TABLE a (x TEXT)"])
    }
    #expect(throws: SQLError.self) { try database.execute("SELECT * FROM c") }
    #expect(throws: SQLError.self) {
      try database.migrate(identifier: 78, newest: newest, steps: [step])
    }
    #expect(throws: SQLError.self) { try database.migrate(identifier: 77, newest: newest) }
    // An empty file takes no steps.
    let other = try Database.open(folder.path + "/other.db")
    try other.migrate(identifier: 77, newest: newest, steps: [step])
    try other.execute("SELECT * FROM c")
    #expect(throws: SQLError.self) { try other.execute("SELECT * FROM b") }
    folder.remove()
  }

  @Test func whatIsNoDatabaseIsCorrupt() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-sqlite-")
    let path = folder.path + "/devices.db"
    try WholeFile.write(
      Array("not a database at all, not even a small one".utf8), to: path, mode: 0o600, overwriting: false)
    let error = #expect(throws: SQLError.self) { _ = try Database.open(path) }
    #expect(error?.kind == .corrupt)
    folder.remove()
  }

  @Test func damageIsFound() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-sqlite-")
    let path = folder.path + "/devices.db"
    do {
      let database = try Database.open(path)
      try database.execute("CREATE TABLE t (x BLOB) STRICT")
      for _ in 0..<200 {
        try database.run("INSERT INTO t VALUES (?1)", [.blob([UInt8](repeating: 3, count: 300))])
      }
      try database.quickCheck()
    }
    var bytes = try WholeFile.read(path)
    for index in 8192..<8300 { bytes[index] ^= 0xff }
    try WholeFile.write(bytes, to: path, mode: 0o600, overwriting: true)
    let error = #expect(throws: SQLError.self) { try Database.open(path).quickCheck() }
    #expect(error?.kind == .corrupt)
    folder.remove()
  }

  /// What was deleted is not in the files any more.
  @Test func whatIsDeletedIsOverwritten() throws {
    try withDatabase { database, path in
      let secret = "the name of somebody who was forgotten"
      try database.execute("CREATE TABLE t (x TEXT) STRICT")
      try database.run("INSERT INTO t VALUES (?1)", [.text(secret)])
      try database.checkpoint()
      #expect(try contains(path, secret))
      try database.run("DELETE FROM t")
      try database.checkpoint()
      #expect(try !contains(path, secret))
      #expect(try !contains(path + "-wal", secret))
    }
  }

  /// A page that is split keeps the rows that moved in its unused middle, where `secure_delete` does not come.
  @Test func whatMovedToAnotherPageIsOverwritten() throws {
    try withDatabase { database, path in
      let secret = "the name of somebody who was forgotten"
      try database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT) STRICT; CREATE INDEX i ON t (x)")
      try database.begin()
      for number in 0..<2000 {
        let text = number % 2 == 0 ? "\(secret) \(number)" : "somebody \(number)"
        try database.run("INSERT INTO t VALUES (?1, ?2)", [.integer(Int64(number)), .text(text)])
      }
      try database.commit()
      try database.run("DELETE FROM t WHERE x LIKE 'the name%'")
      try database.checkpoint()
      #expect(try contains(path, secret), "nothing to overwrite: this test shows nothing")
      var (page, pieces): (Int?, Int) = (0, 0)
      while let from = page {
        page = try database.scrub(from: from, count: 8)
        pieces += 1
        // Between two pieces, from pages that were in memory.
        try database.run("INSERT INTO t VALUES (?1, 'another')", [.integer(Int64(10_000 + pieces))])
      }
      try database.checkpoint()
      #expect(try !contains(path, secret) && !contains(path + "-wal", secret))
      #expect(pieces > 3)
      try database.quickCheck()
      let count = "SELECT count(*) FROM t WHERE x LIKE 'somebody%'"
      let rows = try database.first(count) { row throws(SQLError) in try row.integer(0) }
      #expect(rows == 1000)
    }
  }

  /// Whatever a page says of itself, nothing outside of it and nothing that may be a row is overwritten.
  @Test func whatIsNoPageOfRowsIsLeftAlone() throws {
    var header = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 84)
    #expect(PageLayout(fileHeader: header) == nil)
    header[16] = 16
    let layout = try #require(PageLayout(fileHeader: header))
    #expect(layout.pageSize == 4096)
    func unused(_ start: [UInt8]) -> Range<Int>? {
      layout.unused(in: start + [UInt8](repeating: 0, count: 4096 - start.count), isFirst: false)
    }
    #expect(unused([13, 0, 0, 0, 3, 15, 0]) == 14..<3840)
    #expect(unused([5, 0, 0, 0, 3, 15, 0]) == 18..<3840)
    // An empty page; more pointers than room; cells that begin beyond the end; a page of a chain; a page cut short.
    #expect(unused([10, 0, 0, 0, 0, 16, 0]) == 8..<4096)
    #expect(unused([13, 0, 0, 255, 255, 15, 0]) == nil)
    #expect(unused([13, 0, 0, 0, 3, 16, 1]) == nil)
    #expect(unused([0, 0, 0, 7, 3, 15, 0]) == nil)
    #expect(layout.unused(in: [13, 0, 0, 0, 3, 15, 0], isFirst: false) == nil)
    header[16...17] = [0, 1]
    #expect(PageLayout(fileHeader: header)?.pageSize == 65_536)
  }

  private func contains(_ path: String, _ text: String) throws -> Bool {
    let (bytes, text) = (try WholeFile.read(path), Array(text.utf8))
    guard bytes.count >= text.count else { return false }
    return (0...bytes.count - text.count).contains { bytes[$0..<$0 + text.count].elementsEqual(text) }
  }

  @Test func theLibrarySpeaksToWhoeverListens() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-sqlite-")
    let heard = Heard()
    SQLiteLibrary.listen { report in heard.reports.withLock { $0.append(report) } }
    let database = try Database.open(folder.path + "/devices.db")
    #expect(throws: SQLError.self) { try database.execute("SELECT * FROM nowhere_at_all") }
    SQLiteLibrary.listen(nil)
    #expect(heard.reports.withLock { $0.contains { $0.message.contains("nowhere_at_all") && $0.isFailure } })
    folder.remove()
  }

  private final class Heard: Sendable {
    let reports = Mutex<[SQLiteLibrary.Report]>([])
  }
}

/// `fork` is hidden from Swift; the child of a test calls little and ends by `_exit`.
private func portcullisFork() -> pid_t {
  typealias Fork = @convention(c) () -> pid_t
  guard let symbol = unsafe dlsym(nil, "fork") else { return -1 }
  return unsafe unsafeBitCast(symbol, to: Fork.self)()
}
