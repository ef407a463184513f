/// Stores that an earlier program made: their tables become what a new store has, and nothing that they hold is lost.
import Addresses
import DeviceWire
import Foundation
import Kit
import PortcullisProtocol
import Risk
import SQL
import SQLite
import System
import Testing
import Time

@testable import Registry

@Suite struct SchemaTests {
  /// What the ninth form had instead: tables that counted their rows by themselves, and a column named by a word of SQL.
  private static let backToTheNinth = """
    PRAGMA foreign_keys = OFF;
    DELETE FROM registry WHERE name IN ('approval_number', 'code_number');
    CREATE TABLE old_approvals (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      id BLOB NOT NULL UNIQUE,
      service BLOB NOT NULL, user INTEGER, requester TEXT NOT NULL, subject TEXT,
      summary BLOB NOT NULL,
      factors INTEGER NOT NULL, level INTEGER NOT NULL, verification INTEGER NOT NULL, quorum INTEGER NOT NULL,
      distinct_subjects INTEGER NOT NULL, bars_requester INTEGER NOT NULL, presence INTEGER NOT NULL,
      approvers TEXT, lease_seconds INTEGER, lease_uses INTEGER,
      match_code TEXT NOT NULL,
      created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
      idempotency_key TEXT, idempotency_hash BLOB,
      state INTEGER NOT NULL, ended_at INTEGER, lacks_devices INTEGER NOT NULL, operator INTEGER,
      summary_hash BLOB, operation TEXT
    ) STRICT;
    INSERT INTO old_approvals SELECT * FROM approvals;
    DROP TABLE approvals; ALTER TABLE old_approvals RENAME TO approvals;
    CREATE INDEX approvals_open ON approvals (expires_at) WHERE state = 0;
    CREATE INDEX approvals_open_of ON approvals (service, requester) WHERE state = 0;
    CREATE INDEX approvals_ended ON approvals (ended_at) WHERE ended_at IS NOT NULL;
    CREATE INDEX approvals_by_key ON approvals (service, idempotency_key) WHERE idempotency_key IS NOT NULL;
    CREATE INDEX approvals_whole ON approvals (ended_at) WHERE ended_at IS NOT NULL AND summary_hash IS NULL;
    CREATE TABLE old_challenges (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      id BLOB NOT NULL UNIQUE,
      service BLOB NOT NULL, holder BLOB NOT NULL, login BLOB NOT NULL, text TEXT NOT NULL,
      created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
      state INTEGER NOT NULL, ended_at INTEGER,
      code BLOB, code_device BLOB, code_expires_at INTEGER, wrong INTEGER NOT NULL
    ) STRICT;
    INSERT INTO old_challenges SELECT * FROM code_challenges;
    DROP TABLE code_challenges; ALTER TABLE old_challenges RENAME TO code_challenges;
    CREATE INDEX code_challenges_open ON code_challenges (expires_at) WHERE state = 0;
    CREATE INDEX code_challenges_open_of ON code_challenges (holder) WHERE state = 0;
    CREATE INDEX code_challenges_ended ON code_challenges (ended_at) WHERE ended_at IS NOT NULL;
    PRAGMA user_version = 9
    """

  /// What the eighth form lacked.
  private static let backToTheEighth = """
    \(backToTheNinth);
    DROP INDEX approvals_whole;
    ALTER TABLE approvals DROP COLUMN summary_hash; ALTER TABLE approvals DROP COLUMN operation;
    DROP INDEX approval_bars_of; DROP TABLE service_reports;
    ALTER TABLE devices DROP COLUMN play_level;
    PRAGMA user_version = 8
    """

  /// What the seventh form had instead: one time for all that was known of where a phone was.
  private static let backToTheSeventh = """
    \(backToTheEighth);
    PRAGMA foreign_keys = OFF;
    DROP TABLE signals; \(RegistryDatabase.firstSignalTables);
    PRAGMA user_version = 7
    """

  /// What the fifth form had instead: each serial with each device.
  private static let backToTheFifth = """
    \(backToTheEighth);
    PRAGMA foreign_keys = OFF;
    DROP TABLE signals; \(RegistryDatabase.firstSignalTables);
    DROP TABLE former_keys;
    DROP INDEX devices_by_chain; ALTER TABLE devices DROP COLUMN chain; DROP TABLE android_chains;
    CREATE TABLE android_serials (
      serial BLOB NOT NULL,
      device INTEGER NOT NULL REFERENCES devices (number) ON DELETE CASCADE,
      PRIMARY KEY (serial, device)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX android_serials_by_device ON android_serials (device);
    PRAGMA user_version = 5
    """

  /// What the first form had instead.
  private static let backToTheFirst = """
    \(backToTheEighth);
    PRAGMA foreign_keys = OFF;
    DROP TABLE tallies; DROP TABLE former_keys;
    DROP TABLE code_devices; DROP TABLE code_challenges; DROP TABLE wrong_codes; DROP TABLE signals;
    DROP INDEX devices_by_chain; ALTER TABLE devices DROP COLUMN chain; DROP TABLE android_chains;
    ALTER TABLE devices DROP COLUMN play_attested_at;
    ALTER TABLE devices DROP COLUMN exception_of;
    DROP TABLE votes; DROP INDEX leases_open; DROP TABLE audit_about;
    CREATE TABLE votes (
      number INTEGER PRIMARY KEY,
      approval BLOB NOT NULL REFERENCES approvals (id) ON DELETE CASCADE,
      device BLOB NOT NULL, subject TEXT NOT NULL, key BLOB NOT NULL,
      decision INTEGER NOT NULL, match_code TEXT NOT NULL, issued_at INTEGER NOT NULL,
      level INTEGER NOT NULL, verification INTEGER NOT NULL, signature BLOB NOT NULL,
      UNIQUE (approval, device)
    ) STRICT;
    CREATE INDEX votes_by_device ON votes (device);
    CREATE TABLE audit_about (about BLOB NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (about, seq))
      STRICT, WITHOUT ROWID;
    INSERT INTO approvals VALUES (
      7, x'aa', x'', 0, 'r', NULL, x'7b7d', 1, 1, 1, 1, 0, 0, 0, NULL, NULL, NULL, '', 1, 2, NULL, NULL, 0, NULL, 0,
      NULL);
    INSERT INTO votes VALUES (NULL, x'aa', x'd1', 'anna', x'00', 1, '42', 5, 1, 1, x'30');
    INSERT INTO registry VALUES ('audit_beginning', x'0a');
    INSERT INTO audit_about VALUES (x'01', 3), (x'01', 1024), (x'02', 5000);
    PRAGMA user_version = 1
    """

  @Test func aStoreOfTheFirstFormBecomesANewOne() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-schema-")
    let path = folder.path
    try RegistryDatabase(path + "/new.db").close()
    try RegistryDatabase(path + "/old.db").close()
    try older(path + "/old.db")
    // Twice: the second time nothing is left to do.
    try RegistryDatabase(path + "/old.db").close()
    try RegistryDatabase(path + "/old.db").close()
    #expect(try tables(path + "/old.db") == tables(path + "/new.db"))
    let votes = try rows(
      path + "/old.db", "SELECT approval || ' ' || subject || ' ' || match_code FROM votes")
    #expect(votes == ["7 anna 42"])
    let about = try rows(
      path + "/old.db", "SELECT block || ' ' || hex(about) || ' ' || seq FROM audit_about ORDER BY seq")
    #expect(about == ["0 01 3", "1 01 1024", "4 02 5000"])
    let beginnings = try rows(
      path + "/old.db", "SELECT name || ' ' || hex(value) FROM registry ORDER BY name")
    #expect(beginnings == ["approval_number 37", "audit_beginning 0A", "audit_beginning_unnamed 0A"])
    let counted = try rows(path + "/old.db", "SELECT kind || ' ' || state || ' ' || count FROM tallies")
    #expect(counted == ["1 0 1"])
    folder.remove()
  }

  /// Phones of a factory, phones with a certificate of their own, one whose serials are nobody else's, and one without.
  @Test func serialsBecomePaths() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-schema-")
    let path = folder.path + "/devices.db"
    func serials(of number: Int) -> Set<AndroidSerial> {
      let own: [UInt8] = [0x40, UInt8(number)]
      let found: [[UInt8]] =
        switch number {
        case 0..<10: [[1], [0x0A], [0x0B]]
        case 10..<20: [[1], own, [0x0A], [0x0C]]
        case 20: [[0x77], own]
        default: []
        }
      return Set(found.map { AndroidSerial($0) })
    }
    let ids = (0..<22).map { DeviceID.test(UInt8($0)) }
    let store = try RegistryDatabase(path)
    for id in ids {
      try store.insert(
        DeviceRecord(
          id: id, state: .active, subject: nil, name: nil, platform: .android,
          keys: TestPhone(platform: .android).keys, level: .hardwareAttested, verification: .app,
          createdAt: UnixTime(milliseconds: 1)))
    }
    store.close()
    do {
      let database = try Database.open(path)
      try database.execute(Self.backToTheFifth)
      for (number, id) in ids.enumerated() {
        for serial in serials(of: number) {
          try database.run(
            "INSERT INTO android_serials SELECT ?1, number FROM devices WHERE id = ?2",
            [.blob(serial.bytes), .blob(id.bytes)])
        }
      }
    }
    let new = try RegistryDatabase(path)
    for (number, id) in ids.enumerated() { #expect(try new.serials(of: id) == serials(of: number)) }
    let all = ids.indices.reduce(into: Set()) { $0.formUnion(serials(of: $1)) }
    for serial in all {
      let expected = ids.indices.filter { serials(of: $0).contains(serial) }.map { ids[$0] }
      #expect(try new.devices(of: serial) == expected)
    }
    // 1, 0A, 0B and 0C; ten of their own; two of the one that has nothing in common with others.
    #expect(try new.count("SELECT count(*) FROM android_chains") == 16)
    // Another phone of the kind goes along.
    try new.insert(serials(of: 3), of: ids[21])
    #expect(try new.count("SELECT count(*) FROM android_chains") == 16)
    new.close()
    try RegistryDatabase(path).close()
    #expect(try tables(path) == newTables(folder.path))
    folder.remove()
  }

  @Test func whatIsKnownOfAPhoneHasItsTimes() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-schema-")
    let path = folder.path + "/devices.db"
    let ids = (0..<3).map { DeviceID.test(UInt8($0)) }
    let store = try RegistryDatabase(path)
    for id in ids {
      try store.insert(
        DeviceRecord(
          id: id, state: .active, subject: nil, name: nil, platform: .ios, keys: TestPhone().keys,
          level: .bare, verification: .app, createdAt: UnixTime(milliseconds: 1)))
    }
    store.close()
    do {
      let database = try Database.open(path)
      try database.execute(Self.backToTheSeventh)
      for (id, row) in zip(
        ids,
        [
          "5000, 482, 164, 0, 8447, 'AT'", "7000, NULL, NULL, NULL, NULL, 'DE'",
          "9000, NULL, NULL, NULL, NULL, NULL",
        ])
      {
        try database.run(
          "INSERT INTO signals SELECT number, \(row) FROM devices WHERE id = ?1", [.blob(id.bytes)])
      }
    }
    let new = try RegistryDatabase(path)
    let (five, seven) = (try #require(UnixSeconds(5)), try #require(UnixSeconds(7)))
    #expect(
      try new.riskRecord(of: ids[0])
        == RiskRecord(
          at: five, position: Position(latitude: 482, longitude: 164, accuracy: 0),
          place: Place(country: CountryCode("AT"), network: 8447)))
    #expect(
      try new.riskRecord(of: ids[1])
        == RiskRecord(at: seven, position: nil, place: Place(country: CountryCode("DE"))))
    #expect(try new.riskRecord(of: ids[2]) == nil && new.count("SELECT count(*) FROM signals") == 2)
    new.close()
    #expect(try tables(path) == newTables(folder.path))
    folder.remove()
  }

  /// What a store of the eighth form holds stays: a request with its summary, a bar, a phone that Play has vouched for.
  @Test func theNinthFormLosesNothing() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let asked = try part.ask(service)
    let reported = try part.ask(service, requester: "nag")
    _ = try part.vote(phone, on: reported, .report)
    var record = try #require(try part.store.device(phone.id))
    record.playAttestedAt = part.now
    try part.store.update(record)
    part.store.close()
    do { try Database.open(part.store.path).execute(Self.backToTheEighth) }
    try part.store.reopen()
    #expect(try part.store.device(phone.id) == record)
    #expect(try part.store.approval(asked.approval)?.remains == nil)
    #expect(try part.ask(service, requester: "nag").code == .requesterBarred)
    #expect(try part.vote(phone, on: asked)["state"] == "approved")
    part.store.close()
    let folder = try TemporaryFolder(prefix: "portcullis-schema-")
    #expect(try tables(part.store.path) == newTables(folder.path))
    folder.remove()
  }

  /// A file that a program of the ninth form has made and left: requests, their votes and leases, logins with and without
  /// a code stay what they were, and places go on behind the last that was given, though its row had gone.
  @Test func aStoredFileOfTheNinthFormOpens() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-schema-")
    let path = folder.path + "/devices.db"
    try FileManager.default.copyItem(
      at: Repository.folder.appending(path: "Tests/Unit/Trust/RegistryTests/Store/ninth.db"),
      to: URL(filePath: path))
    func counts() throws -> [String] {
      try ["approvals", "approval_devices", "votes", "leases", "code_challenges", "code_devices", "devices"]
        .map {
          try rows(path, "SELECT '\($0) ' || count(*) FROM \($0)")[0]
        }
    }
    let before = try counts()
    #expect(
      before == [
        "approvals 4", "approval_devices 4", "votes 2", "leases 1", "code_challenges 2", "code_devices 2",
        "devices 1",
      ])
    let numbers = try rows(path, "SELECT name || ' ' || seq FROM sqlite_sequence ORDER BY name")
    #expect(numbers == ["approvals 5", "code_challenges 3"])
    #expect(try rows(path, "SELECT CAST(user_version AS TEXT) FROM pragma_user_version") == ["9"])
    let store = try RegistryDatabase(path)
    #expect(try store.lastPlace() == 5 && store.lastChallengePlace() == 3)
    let approvals = try store.approvals(in: nil, limit: 10)
    #expect(approvals.map(\.user) == [501, nil, nil, nil])
    #expect(approvals.map(\.state) == [.pending, .pending, .denied, .approved])
    let approved = try #require(approvals.last)
    #expect(try store.votes(on: approved.id).count == 1 && store.lease(of: approved.id) != nil)
    let pending = approvals[0]
    let device = try #require(try store.devices(of: pending.id).first)
    #expect(try store.openApprovals(for: device, after: 0).map(\.place) == [3, 4])
    #expect(try store.openChallenges(for: device, after: 0).map(\.place) == [1, 2])
    // The next of each goes on.
    #expect(try store.nextNumber(StoreValue.approvalNumber) == 6)
    #expect(try store.nextNumber(StoreValue.codeNumber) == 4)
    store.close()
    #expect(try tables(path) == newTables(folder.path))
    #expect(try counts() == before)
    folder.remove()
  }

  private func newTables(_ folder: String) throws -> Set<String> {
    try RegistryDatabase(folder + "/new.db").close()
    return try tables(folder + "/new.db")
  }

  @Test func aStoreOfALaterFormIsRefusedAndLeftAlone() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-schema-")
    let path = folder.path + "/devices.db"
    try RegistryDatabase(path).close()
    let form = RegistryDatabase.steps.count + 2
    do { try Database.open(path).execute("PRAGMA user_version = \(form)") }
    #expect(throws: StoreFailure.self) { try RegistryDatabase(path) }
    #expect(try rows(path, "SELECT CAST(user_version AS TEXT) FROM pragma_user_version") == ["\(form)"])
    folder.remove()
  }

  private func older(_ path: String) throws {
    try Database.open(path).execute(Self.backToTheFirst)
  }

  /// Without white space and quotes, which a renaming leaves differently, and without what SQLite has counted by: it is there
  /// for ever once it was.
  private func tables(_ path: String) throws -> Set<String> {
    let statements = try rows(
      path, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name <> 'sqlite_sequence'")
    return Set(statements.map { String($0.filter { !$0.isWhitespace && $0 != "\"" }) })
  }

  private func rows(_ path: String, _ sql: String) throws -> [String] {
    try Database.open(path).all(sql) { row throws(SQLError) in try row.text(0) }
  }
}
