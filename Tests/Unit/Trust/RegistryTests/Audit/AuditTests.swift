/// The audit's chain: what is done to its rows is found, texts can be taken out, the oldest thrown away.
import Bytes
import DeviceWire
import FaultDisk
import JSON
import Kit
import PortcullisProtocol
import SQL
import SQLite
import System
import Testing
import Time

@testable import Registry

@Suite struct AuditTests {
  private let part: WorkerPart

  /// With twelve rows, of which each third is about one device.
  init() throws {
    part = try WorkerPart()
    try part.start()
    for number in 0..<12 {
      var put = Put(name: "v\(number)")
      if number % 3 == 0 { put.knows = .device(.test(7)) }
      part.serve([put])
      part.clock.advance(.seconds(100))
    }
  }

  private func order(_ verb: String, _ arguments: [(String, JSONValue)] = []) throws -> JSONValue {
    let object = JSONObject(arguments.map { (name: $0.0, value: $0.1) })
    let answer = WorkerPart.Answer()
    part.submit(try OperatorOrder.call(verb, object), answer)
    part.goOn()
    guard let bytes = answer.reply?.json else {
      throw Unanswered(reply: answer.reply)
    }
    return try JSONValue(parsing: bytes.span, depthLimit: 8)
  }

  private struct Unanswered: Error { let reply: Reply? }

  /// What somebody does to the file while the gate is stopped.
  private func tamper(_ statements: String...) throws {
    part.stop()
    do {
      let database = try Database.open("devices.db", fileSystem: part.disk.name)
      for statement in statements { try database.execute(statement) }
    }
    try part.start()
  }

  private func verify(_ head: AuditHead? = nil) throws -> JSONObject {
    let line = head.map { [("head", JSONValue.string($0.line))] } ?? []
    return try #require(try order("audit-verify", line).object)
  }

  @Test func aChainThatNobodyTouched() throws {
    let answer = try verify()
    #expect(answer["valid"]?.boolean == true && answer["rows"]?.integer == 12 && answer["seq"]?.integer == 12)
    part.stop()
  }

  @Test(arguments: [
    "UPDATE audit SET text = replace(text, 'v5', 'v6') WHERE seq = 6",
    "UPDATE audit SET salt = zeroblob(16) WHERE seq = 6",
    "UPDATE audit SET hash = zeroblob(32) WHERE seq = 6",
    "UPDATE audit SET at = at + 1 WHERE seq = 6",
    "UPDATE audit SET text = NULL, salt = zeroblob(32) WHERE seq = 6",
    "DELETE FROM audit WHERE seq = 6", "UPDATE audit SET seq = 100 WHERE seq = 6",
    "DELETE FROM audit WHERE seq <= 6",
  ]) func whatIsDoneToARowIsFound(statement: String) throws {
    try tamper(statement)
    let answer = try verify()
    #expect(answer["valid"]?.boolean == false)
    #expect(["hash", "time", "sequence"].contains(answer["fault"]?.string))
    part.stop()
  }

  @Test func aTailThatWasCutOffIsFoundByAHead() throws {
    try tamper()
    let head = try #require(part.listener.heads.last)
    #expect(try verify(head)["valid"]?.boolean == true)
    try tamper("DELETE FROM audit WHERE seq > 9")
    #expect(try verify()["valid"]?.boolean == true)
    #expect(try verify(head)["fault"]?.string == "head_beyond_end")
    // Nor do new rows hide it.
    for number in 20..<24 { part.serve([Put(name: "v\(number)")]) }
    #expect(try verify()["valid"]?.boolean == true)
    #expect(try verify(head)["fault"]?.string == "head_hash")
    part.stop()
  }

  @Test func aHeadThatNobodySignedHereIsNone() throws {
    try tamper()
    let head = try #require(part.listener.heads.last)
    let later = AuditHead(end: head.end, at: head.at + 1, keyID: head.keyID, signature: head.signature)
    #expect(try verify(later)["fault"]?.string == "head_signature")
    var bytes = head.signature
    bytes[bytes.count - 1] ^= 1
    let forged = AuditHead(end: head.end, at: head.at, keyID: head.keyID, signature: bytes)
    #expect(try verify(forged)["fault"]?.string == "head_signature")
    part.stop()
  }

  @Test func textsAreTakenOutAndTheChainStillChecks() throws {
    struct Forget: RegistryCall {
      func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
        transaction.know(.device(.test(7)))
        // In pieces, of which there is no third.
        var count = ""
        for limit in [3, 3, 3] {
          count +=
            "\(try transaction.store.eraseAudit(about: AuditKey(DeviceID.test(7)).bytes, limit: limit)) "
        }
        try transaction.recordErasure(of: 4)
        return .reply(.answered(Array(count.utf8)))
      }
    }
    #expect(part.serve(Forget()) == .answered(Array("3 1 0 ".utf8)))
    let answer = try verify()
    #expect(
      answer["valid"]?.boolean == true && answer["erased"]?.integer == 4 && answer["rows"]?.integer == 13)
    let rows = try #require(try order("audit-list").array)
    #expect(rows.count { $0.object?["event"]?.string == "erased" } == 4)
    #expect(!rows.contains { $0.object?["device_id"] != nil })
    #expect(rows.last?.object?["event"]?.string == "audit_erased")
    part.stop()
    // Neither text nor salt is anywhere in the file, nor whom the rows were about.
    do {
      let database = try Database.open("devices.db", fileSystem: part.disk.name)
      let count = try database.first("SELECT count(*) FROM audit_about") { row throws(SQLError) in
        try row.integer(0)
      }
      #expect(count == 0)
    }
  }

  @Test func theOldestAreThrownAwayAndTheChainBeginsBehindThem() throws {
    let head = try order("audit-list", [("limit", .number(JSONNumber(5)))]).array?.last
    let before = try #require(head?.object?["at"]?.integer)
    #expect(try order("audit-prune", [("before", .number(JSONNumber(before)))]).object?["rows"]?.integer == 4)
    let answer = try verify()
    #expect(answer["valid"]?.boolean == true && answer["rows"]?.integer == 9 && answer["seq"]?.integer == 13)
    try tamper("DELETE FROM audit WHERE seq = 5")
    #expect(try verify()["fault"]?.string == "sequence")
    part.stop()
  }

  /// The chain of what is left is whole, and where it begins is a value of the store that anybody may set who may write it.
  @Test func rowsThatAreCutOffInFrontAreFound() throws {
    let rows = try part.rows
    let cut = [
      "INSERT OR REPLACE INTO registry VALUES ('audit_beginning', \(Self.beginning(rows[5])))",
      "DELETE FROM audit WHERE seq <= 6",
    ]
    try tamper(cut[0], cut[1])
    #expect(try verify()["fault"]?.string == "beginning_unnamed")
    #expect(try verify()["valid"]?.boolean == false)
    part.stop()
  }

  @Test func moreThanAPruningSaysIsFound() throws {
    let rows = try part.rows
    let before = try #require(try order("audit-list").array?[4].object?["at"]?.integer)
    #expect(try order("audit-prune", [("before", .number(JSONNumber(before)))]).object?["rows"]?.integer == 4)
    let row = try #require(try order("audit-list").array?.last?.object)
    #expect(row["event"]?.string == "audit_pruned" && row["through"]?.integer == 4)
    #expect(row["through_hash"]?.string == rows[3].hash.hex && row["before"]?.integer == before)
    #expect(try verify()["valid"]?.boolean == true)
    try tamper(
      "UPDATE registry SET value = \(Self.beginning(rows[6])) WHERE name = 'audit_beginning'",
      "DELETE FROM audit WHERE seq <= 7")
    #expect(try verify()["fault"]?.string == "beginning_unnamed")
    part.stop()
  }

  /// The process died in the middle of it: what is named is not all gone, and more than that is not either.
  @Test func aPruningThatWasCutShortIsInOrder() throws {
    struct Begin: RegistryCall {
      func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
        let time = transaction.now.seconds
        let last = try transaction.store.auditEnd(before: time - 500)
        guard let last else { return .reply(.answered([])) }
        try transaction.record(.pruned, last.named)
        _ = try transaction.store.pruneAudit(through: last.sequence, limit: 3)
        return .reply(.answered(Array("\(last.sequence)".utf8)))
      }
    }
    #expect(part.serve(Begin()) == .answered(Array("7".utf8)))
    let answer = try verify()
    #expect(answer["valid"]?.boolean == true && answer["rows"]?.integer == 10)
    let before = [("before", JSONValue.number(JSONNumber(part.clock.wall().seconds - 500)))]
    #expect(try order("audit-prune", before).object?["rows"]?.integer == 4)
    #expect(try order("audit-prune", before).object?["rows"]?.integer == 0)
    #expect(try verify()["valid"]?.boolean == true && verify()["rows"]?.integer == 7)
    part.stop()
  }

  /// Rows that say so were written by an earlier program, which did not name what it threw away.
  @Test func aBeginningFromAnEarlierProgramIsNamedOnce() throws {
    _ = try order("audit-prune", [("before", .number(JSONNumber(part.clock.wall().seconds - 500)))])
    try tamper(
      "DELETE FROM audit WHERE seq = 13",
      "INSERT INTO registry SELECT 'audit_beginning_unnamed', value FROM registry WHERE name = 'audit_beginning'"
    )
    #expect(try verify()["valid"]?.boolean == true && verify()["seq"]?.integer == 13)
    try tamper()
    #expect(try verify()["valid"]?.boolean == true && verify()["seq"]?.integer == 13)
    part.stop()
  }

  /// As the store keeps where the rows begin: behind this one.
  private static func beginning(_ row: AuditRow) -> String {
    "x'\(Hex.encode((UInt64(row.sequence).bigEndianBytes + row.hash.array).span))'"
  }

  @Test func theLastRowIsNeverThrownAway() throws {
    let before = [("before", JSONValue.number(JSONNumber(Int64(1) << 40)))]
    #expect(try order("audit-prune", before).object?["rows"]?.integer == 11)
    #expect(try order("audit-prune", before).object?["rows"]?.integer == 1)
    #expect(try verify()["valid"]?.boolean == true)
    part.serve([Put(name: "v1")])
    #expect(try verify()["seq"]?.integer == 15)
    part.stop()
  }

  /// With what is exported, and nothing of the gate's, as anybody would.
  @Test func anExportCanBeFollowedElsewhere() throws {
    let rows = try #require(try order("audit-export", [("after", .number(JSONNumber(0)))]).array)
    var verifier = AuditVerifier(from: .beginning)
    for row in rows {
      var writer = JSONWriter()
      writer.value(row)
      try verifier.follow(exported: #require(AuditRow(exported: writer.bytes)))
    }
    #expect(verifier.rows == 12)
    #expect(try order("audit-list", [("after", .number(JSONNumber(11)))]).array?.count == 1)
    for limit in [0, 1001] {
      #expect(throws: FormError("limit")) {
        _ = try order("audit-list", [("limit", .number(JSONNumber(Int64(limit))))])
      }
    }
    part.stop()
  }

  /// Of a row, only names and words of the gate's: canonical, and without what nobody could be shown.
  @Test func aRowIsCanonicalJSON() throws {
    let entry = AuditEntry(
      .init("all"),
      [
        .device(.test(1)), .replaced(.test(2)), .service(.test(3)), .pairing(.test(4)), .approval(.test(5)),
        .lease(.test(6)), .level(.bare), .verification(.none), .key(Bytes32()), .summary(Bytes32()),
        .decision(.deny), .code(.noDevice), .step("s"), .reason("line\nfeed \u{202E}\"x\""),
        .until(UnixTime(milliseconds: 5000)), .count(3), .word("w", "x"), .number("n", .max),
      ])
    let text = entry.text(at: UnixSeconds(UnixTime(milliseconds: 9000)), by: .process(user: 1000, process: 7))
    let read = try CanonicalObject(canonical: text.span)
    #expect(
      read["reason"]?.string == "linefeed \"x\"" && read["uid"]?.integer == 1000 && read["at"]?.integer == 9)
    #expect(AuditEntry.about(text: text) == entry.about && entry.about.count == 2)
  }
}

extension WorkerPart {
  fileprivate var rows: [AuditRow] {
    get throws { try #require(worker).store.auditRows(after: 0, limit: 100) }
  }
}

extension AuditHead {
  /// As the log has it.
  fileprivate var line: String {
    "time=2026-02-17T00:00:00.000Z level=info event=audit_head at=\(at.value) hash=\(end.hash.hex) kid=\(keyID) "
      + "seq=\(end.sequence) signature=\(Base64.encodeURL(signature.span))"
  }
}
