/// Copies of the store while it is used, and the reserve beside it, on a real disk.
import Glibc
import JSON
import Kit
import PortcullisProtocol
import Synchronization
import System
import Testing
import Time

@testable import Registry

@Suite struct CopyTests {
  /// A registry with its thread, in a folder that is gone afterwards.
  private func withRegistry(_ body: (Registry, String) throws -> Void) throws {
    let folder = try TemporaryFolder(prefix: "portcullis-copy-")
    let path = folder.path
    let outcome = Result {
      let registry = try Registry(
        RegistryDatabase(path + "/devices.db"), settings: RegistrySettings(publicURL: "https://gate.example"),
        clock: SystemClock(), entropy: KernelEntropy(), listener: Listener())
      try registry.begin()
      defer { registry.stop() }
      try body(registry, path)
    }
    folder.remove()
    try outcome.get()
  }

  private func answer(_ registry: Registry, _ call: any RegistryCall) throws -> Reply {
    let waiting = Waiting()
    _ = try #require(registry.submit(call, lane: .host, origin: .gate) { waiting.say($0) })
    return waiting.reply()
  }

  private func backUp(_ name: String) throws -> any RegistryCall {
    try OperatorOrder.call("devices-backup", JSONObject([(name: "name", value: .string(name))]))
  }

  @Test func aCopyIsWholeAndLaterWorkIsNotInTheWay() throws {
    try withRegistry { registry, folder in
      for number in 0..<50 {
        let reply = try answer(
          registry, Put(name: "v\(number)", value: [UInt8](repeating: 1, count: 100_000)))
        #expect(reply.isAnswered)
      }
      let waiting = Waiting()
      _ = registry.submit(try backUp("copy.db"), lane: .host, origin: .gate) { waiting.say($0) }
      for number in 50..<60 { #expect(try answer(registry, Put(name: "v\(number)")).isAnswered) }
      #expect(waiting.reply().isAnswered)
      let copy = try RegistryDatabase(folder + "/copy.db", reserve: NoReserve())
      try copy.reopen()
      for number in 0..<50 { #expect(try copy.value("v\(number)")?.count == 100_000) }
      let rows = try copy.auditRows(after: 0, limit: 1000)
      var verifier = AuditVerifier(from: .beginning)
      for row in rows { try verifier.follow(row) }
      #expect(rows.count >= 51)
      copy.close()
      #expect(try answer(registry, backUp("copy.db")).code == "bad_request")
    }
  }

  /// A stop does not wait for it, and whoever asked is told.
  @Test func aStopGivesItUp() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-copy-")
    let registry = try Registry(
      RegistryDatabase(folder.path + "/devices.db"),
      settings: RegistrySettings(publicURL: "https://gate.example"),
      clock: SystemClock(), entropy: KernelEntropy(), listener: Listener())
    let waiting = Waiting()
    _ = registry.submit(try backUp("copy.db"), lane: .host, origin: .gate) { waiting.say($0) }
    registry.drain()
    try registry.begin()
    #expect(waiting.reply().code == "store_unavailable")
    registry.stop()
    let left = ["copy.db", "copy.db.unfinished"].filter { WholeFile.exists(folder.path + "/" + $0) }
    #expect(left.isEmpty)
    folder.remove()
  }

  @Test func namesThatAreNoPlainNamesAreRefused() {
    for name in [
      "", ".", "..", ".hidden", "-rf", "a/b", "../a", "a b", "a\u{0}b", "ä",
      String(repeating: "a", count: 129),
    ] {
      #expect(throws: FormError("name"), "\(name)") { _ = try backUp(name) }
    }
    #expect(throws: Never.self) { _ = try backUp("devices-2026-11-22T15:04.db") }
  }

  @Test func theReserveTakesItsRoomOnce() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-reserve-")
    let store = folder.path + "/devices.db"
    let reserve = FileReserve(beside: store)
    func status() -> stat? {
      var status = stat()
      return unsafe lstat(store + ".reserve", &status) == 0 ? status : nil
    }
    #expect(reserve.giveUp() == false && status() == nil)
    #expect(reserve.keep())
    #expect(status()?.st_size == 16 << 20 && status().map { $0.st_mode & 0o777 } == 0o600)
    // Blocks that are taken, not a hole.
    #expect(status().map { $0.st_blocks * 512 >= 16 << 20 } == true)
    let inode = status()?.st_ino
    #expect(reserve.keep() && status()?.st_ino == inode)
    #expect(reserve.giveUp() && status() == nil)
    folder.remove()
  }

  private struct NoReserve: StoreReserve {
    func keep() -> Bool { true }
    func giveUp() -> Bool { false }
  }
}

/// What a request comes to, for a thread that waits for it.
final class Waiting: Sendable {
  private let said = Monitor<Reply?>(nil)

  func say(_ reply: Reply) {
    said.withLock { said, wake in
      if said != nil { Issue.record("answered twice") }
      said = reply
      wake.all()
    }
  }

  /// Waits for a minute at most.
  func reply() -> Reply {
    let deadline = SystemClock().monotonic() + .seconds(60)
    let reply = said.wait(until: deadline) { said -> Waited<Reply> in
      if let said { .done(said) } else { .wait }
    }
    return reply ?? .refused(RegistryRefusal(.requestTimeout, "test"))
  }

  var isAnswered: Bool { said.withLock { said, _ in said != nil } }
}
