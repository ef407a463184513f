/// How many rows of which state the store has, counted by SQLite with each change: what a call is undone with, its counts are
/// undone with.
///
/// The counts lie in the file, as a start must not read a million rows for them; what ended since the start is counted in
/// memory. The triggers are this connection's own (sqlite.org/lang_createtrigger.html, "TEMP triggers"): a file brings no
/// programs along.
internal import SQL
internal import SQLite

extension RegistryDatabase {
  /// What is counted: the first column of `tallies` and of `endings`.
  private enum Tally: Int64 {
    case devices = 0
    case approvals = 1
    case approvalsDecided = 2
    case codes = 3
    case codesEnded = 4
  }

  static let tallyTable = """
    CREATE TABLE tallies (
      kind INTEGER NOT NULL, state INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (kind, state)
    ) STRICT, WITHOUT ROWID
    """
  /// For a file that was not counted before.
  static let firstTallies = """
    INSERT INTO tallies SELECT 0, state, count(*) FROM devices GROUP BY state;
    INSERT INTO tallies SELECT 1, state, count(*) FROM approvals GROUP BY state;
    INSERT INTO tallies SELECT 3, state, count(*) FROM code_challenges GROUP BY state
    """

  /// - Parameter before: what was counted since the start by the connection before this one.
  static func beginTallies(_ database: Database, after before: RegistryNumbers) throws(SQLError) {
    try database.execute(endingTable)
    try database.execute(triggers(on: "devices", .devices, ended: nil))
    try database.execute(triggers(on: "approvals", .approvals, ended: .approvalsDecided))
    try database.execute(triggers(on: "code_challenges", .codes, ended: .codesEnded))
    for (kind, counts) in [
      (Tally.approvalsDecided, before.approvalsDecided), (.codesEnded, before.codesEnded),
    ] {
      for (state, count) in counts.enumerated() {
        try database.run(
          "INSERT INTO endings VALUES (?1, ?2, ?3)",
          [.integer(kind.rawValue), .integer(Int64(state)), .integer(Int64(count))])
      }
    }
  }

  private static let endingTable = """
    CREATE TEMP TABLE endings (
      kind INTEGER NOT NULL, state INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (kind, state)
    ) WITHOUT ROWID;
    """

  private static func triggers(on table: String, _ kind: Tally, ended: Tally?) -> String {
    func add(_ number: Int, to kind: Tally, _ state: String, of tallies: String = "tallies") -> String {
      """
      INSERT INTO \(tallies) VALUES (\(kind.rawValue), \(state), \(number)) \
      ON CONFLICT (kind, state) DO UPDATE SET count = count + \(number);
      """
    }
    let moved = ended.map { add(1, to: $0, "NEW.state", of: "endings") } ?? ""
    return """
      CREATE TEMP TRIGGER \(table)_in AFTER INSERT ON main.\(table) BEGIN \(add(1, to: kind, "NEW.state")) END;
      CREATE TEMP TRIGGER \(table)_out AFTER DELETE ON main.\(table) BEGIN \(add(-1, to: kind, "OLD.state")) END;
      CREATE TEMP TRIGGER \(table)_moved AFTER UPDATE OF state ON main.\(table) WHEN OLD.state <> NEW.state
      BEGIN \(add(-1, to: kind, "OLD.state")) \(add(1, to: kind, "NEW.state")) \(moved) END;
      """
  }

  static let countedRows =
    "SELECT kind, state, count FROM main.tallies UNION ALL SELECT kind, state, count FROM temp.endings"

  func tallies() throws(CallFailure) -> RegistryNumbers {
    var numbers = RegistryNumbers()
    try each(Self.countedRows) { row throws(SQLError) in
      let (state, count) = (Int(try row.integer(1)), Int(try row.integer(2)))
      switch Tally(rawValue: try row.integer(0)) {
      case .devices: numbers.devices.set(count, at: state)
      case .approvals: numbers.approvals.set(count, at: state)
      case .approvalsDecided: numbers.approvalsDecided.set(count, at: state)
      case .codes: numbers.codes.set(count, at: state)
      case .codesEnded: numbers.codesEnded.set(count, at: state)
      case nil: break
      }
    }
    return numbers
  }
}

extension [Int] {
  /// A state that this program does not know of is counted nowhere.
  fileprivate mutating func set(_ count: Int, at state: Int) {
    if indices.contains(state) { self[state] = count }
  }
}
