/// Numbers that are counted with each change, against all rows counted anew.
import ApprovalPolicy
import DeviceWire
import Kit
import SQL
import SQLite
import System
import Testing

@testable import Registry

@Suite struct TallyTests {
  private struct Tend: RegistryCall {
    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      _ = try ApprovalUpkeep().tend(&transaction)
      return .reply(.answered([]))
    }
  }

  private func counted(_ store: RegistryDatabase, _ table: String, states: Int) throws -> [Int] {
    try (0..<states).map { state in
      try store.count("SELECT count(*) FROM \(table) WHERE state = \(state)")
    }
  }

  private func expectTrue(_ store: RegistryDatabase, sourceLocation: SourceLocation = #_sourceLocation) throws
  {
    let numbers = try store.numbers()
    #expect(numbers.devices == (try counted(store, "devices", states: 3)), sourceLocation: sourceLocation)
    #expect(numbers.approvals == (try counted(store, "approvals", states: 6)), sourceLocation: sourceLocation)
    #expect(
      numbers.codes == (try counted(store, "code_challenges", states: 4)), sourceLocation: sourceLocation)
  }

  @Test func nothingIsThereAtFirst() throws {
    let part = try ApprovalPart()
    var nothing = RegistryNumbers()
    nothing.bytes = try part.store.numbers().bytes
    #expect(try part.store.numbers() == nothing && nothing.bytes > 4096)
  }

  @Test func devicesAndApprovalsAreFollowed() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    _ = try part.phone(of: "sam")
    try expectTrue(part.store)
    _ = try part.ask(service)
    #expect(try part.store.numbers().approvals == [1, 0, 0, 0, 0, 0])
    part.pass(301)
    _ = try part.answer(Tend())
    try expectTrue(part.store)
    #expect(try part.store.numbers().approvalsDecided == [0, 0, 0, 0, 1, 0])
    var record = try #require(try part.store.device(phone.id))
    record.state = .revoked
    try part.store.update(record)
    #expect(try part.store.numbers().devices == [0, 1, 1])
    // Whatever else changes of a device, it is the same one.
    record.seenAt = part.now
    try part.store.update(record)
    #expect(try part.store.numbers().devices == [0, 1, 1])
    try part.store.delete(phone.id)
    try expectTrue(part.store)
    // What is thrown away was decided all the same.
    part.pass(31 * 86_400)
    _ = try part.answer(Tend())
    try expectTrue(part.store)
    #expect(try part.store.numbers().approvals == [0, 0, 0, 0, 0, 0])
    #expect(try part.store.numbers().approvalsDecided == [0, 0, 0, 0, 1, 0])
  }

  /// A call that is undone, and a group that is, have changed no number.
  @Test func whatIsUndoneIsNotCounted() throws {
    let part = try ApprovalPart()
    let phone = try part.phone(of: "frodo")
    let before = try part.store.numbers()
    try part.store.begin()
    try part.store.enter()
    try part.store.delete(phone.id)
    #expect(try part.store.numbers().devices == [0, 0, 0])
    try part.store.undo()
    #expect(try part.store.numbers() == before)
    try part.store.enter()
    try part.store.delete(phone.id)
    try part.store.keep()
    part.store.abandon()
    #expect(try part.store.numbers() == before)
    try expectTrue(part.store)
  }

  /// Prometheus takes a counter that falls for a new start.
  @Test func aStoreThatIsOpenedAnewGoesOnCounting() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    _ = try part.phone(of: "frodo")
    _ = try part.ask(service)
    part.pass(301)
    _ = try part.answer(Tend())
    var before = try part.store.numbers()
    #expect(before.approvalsDecided[4] == 1)
    try part.store.reopen()
    // What lay in the log is in the file now.
    before.bytes = try part.store.numbers().bytes
    #expect(try part.store.numbers() == before)
    _ = try part.ask(service)
    part.pass(301)
    _ = try part.answer(Tend())
    #expect(try part.store.numbers().approvalsDecided[4] == 2)
    try expectTrue(part.store)
  }

  /// A start with a million devices reads none of them for their numbers.
  @Test func aStartTakesTheCountsFromTheFile() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-tallies-")
    let path = folder.path + "/devices.db"
    try RegistryDatabase(path).close()
    // Rows that nobody counts.
    do {
      let database = try Database.open(path)
      try database.execute(
        """
        WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < 100)
        INSERT INTO devices (id, state, platform, device_key, level, verification, created_at, is_rooted, token_series)
        SELECT randomblob(16), 1, 0, randomblob(64), 0, 0, 0, 0, 0 FROM numbers;
        INSERT INTO tallies VALUES (0, 1, 7)
        """)
    }
    let store = try RegistryDatabase(path)
    #expect(try store.numbers().devices == [0, 7, 0])
    try store.run("UPDATE devices SET state = 2 WHERE number = 1")
    store.close()
    let later = try RegistryDatabase(path)
    #expect(try later.numbers().devices == [0, 6, 1])
    later.close()
    folder.remove()
  }

  /// More that has ended than is thrown away at once goes on in the next turn: how many rows a statement removes is not
  /// how many hang on them.
  @Test func whatHangsOnRowsIsNotCountedAsThem() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    _ = try part.phone(of: "frodo")
    _ = try part.ask(service)
    part.pass(301)
    _ = try part.answer(Tend())
    // It was put to a phone: that goes with it.
    #expect(try part.store.deleteApprovals(endedBefore: UnixSeconds(part.now), limit: 100) == 1)
    #expect(try part.store.deleteApprovals(endedBefore: UnixSeconds(part.now), limit: 100) == 0)
  }
}
