import SQL
import FaultDisk
import Testing

@testable import SQLite

/// Every call to the disk fails in every way: what was committed is there afterwards, and what was not is there whole
/// or not at all.
@Suite struct FaultTests {
  @Test(arguments: FaultDisk.Fault.allCases) func everyCallFailsOnce(fault: FaultDisk.Fault) throws {
    for seed in 0..<2 {
      let calm = try Story(seed: UInt64(seed)) { $0.countCalls() }
      #expect(calm.committed == Story.groups)
      // SQLite makes so few calls that all of them have their turn.
      try #require(calm.calls > 100)
      for call in 0..<calm.calls {
        let story = try Story(seed: UInt64(seed * 10_000 + call)) { $0.plan(fault, at: call) }
        try story.verify("\(fault) at call \(call), seed \(seed)")
      }
    }
  }

  /// An error that stays for a while, and then the power goes.
  @Test func errorsAndThenPowerLoss() throws {
    for call in stride(from: 0, to: 300, by: 3) {
      let story = try Story(seed: UInt64(call)) {
        $0.plan(.error, at: call, count: 4)
      } then: {
        $0.plan(.powerLoss, at: call % 37)
      }
      try story.verify("errors from call \(call)")
    }
  }

  @Test func aFullDiskIsToldApartAndCanBeReadAndEmptied() throws {
    let disk = try FaultDisk(seed: 1)
    let database = try Database.open("db", fileSystem: disk.name)
    try database.execute("CREATE TABLE t (x BLOB NOT NULL) STRICT")
    disk.setRoom(200_000)
    var written = 0
    let error = #expect(throws: SQLError.self) {
      while true {
        try database.run("INSERT INTO t VALUES (?1)", [.blob([UInt8](repeating: 1, count: 2000))])
        written += 1
      }
    }
    #expect(error?.kind == .full && written > 10)
    #expect(!database.isInTransaction)
    #expect(
      try database.first("SELECT count(*) FROM t") { row throws(SQLError) in try row.integer(0) }
        == Int64(written))
    disk.setRoom(nil)
    try database.run("INSERT INTO t VALUES (x'00')")
    try database.quickCheck()
  }
}

/// Ten groups of rows, each in a transaction, with a checkpoint in between; after a failure the file is opened anew.
private struct Story {
  static let groups = 10
  static let rows = 7

  let disk: FaultDisk
  /// How many were said to be committed.
  private(set) var committed = 0
  /// Of the last one nobody said anything.
  private(set) var isLastOpen = false
  private(set) var calls = 0

  init(seed: UInt64, _ plan: (FaultDisk) -> Void, then second: ((FaultDisk) -> Void)? = nil) throws {
    disk = try FaultDisk(seed: seed)
    try Database.open("db", fileSystem: disk.name).execute(
      "CREATE TABLE t (g INTEGER NOT NULL, x INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT")
    plan(disk)
    run()
    if let second {
      second(disk)
      run()
    }
    calls = disk.calls
    disk.restart()
  }

  private mutating func run() {
    while committed < Self.groups, !disk.isDown, !isLastOpen {
      guard let database = try? Database.open("db", fileSystem: disk.name) else { continue }
      do throws(SQLError) {
        while committed < Self.groups { try writeGroup(database) }
      } catch {
        // Was it committed? The one who asked is told that nobody knows.
        isLastOpen = true
      }
    }
  }

  private mutating func writeGroup(_ database: Database) throws(SQLError) {
    try database.begin()
    for number in 0..<Self.rows {
      try database.run(
        "INSERT INTO t VALUES (?1, ?2, ?3)",
        [.integer(Int64(committed)), .integer(Int64(number)), .blob([UInt8](repeating: 5, count: 1500))])
    }
    try database.commit()
    committed += 1
    if committed % 4 == 0 { try database.checkpoint() }
  }

  func verify(_ what: String) throws {
    let database = try Database.open("db", fileSystem: disk.name)
    try database.quickCheck()
    let counts = try database.all("SELECT g, count(*) FROM t GROUP BY g ORDER BY g") {
      row throws(SQLError) in
      [try row.integer(0), try row.integer(1)]
    }
    let whole = (0..<counts.count).map { [Int64($0), Int64(Self.rows)] }
    #expect(counts == whole, "\(what)")
    #expect(counts.count == committed || isLastOpen && counts.count == committed + 1, "\(what)")
  }
}
