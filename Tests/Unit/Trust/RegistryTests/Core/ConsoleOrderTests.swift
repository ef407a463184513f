/// What the console asks of the registry, and in whose name: docs/console.md, "Console".
import ApprovalPolicy
import Bytes
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing
import Time

@testable import Registry

@Suite struct ConsoleOrderTests {
  private static let policy = #"{"rules":[{"match":{"operation":"*"},"factors":["operator"]}]}"#
  private static let body = #"{"operation":"mud.kick","target":{"who":"<b>Gollum"},"text":"Kick \"him\""}"#
  private let part: ApprovalPart

  init() throws {
    part = try ApprovalPart(policy: Self.policy)
  }

  private func order(
    _ verb: String, _ arguments: String = "{}", name: String = "anna", user: UInt32?
  ) throws -> Answer {
    let bytes = Array(arguments.utf8)
    let object = try #require(try JSONValue(parsing: bytes.span, depthLimit: 4).object)
    return try part.answer(OperatorOrder.call(verb, object), from: .console(name: name, user: user))
  }

  // MARK: In whose name

  /// The rule is of users, however they come: nobody confirms what he has asked for, and a token is nobody.
  @Test func nobodyConfirmsHisOwnRequest() throws {
    let asked = try part.order("approvals-request", Self.body, uid: 501)
    let id = #"{"id":"\#(asked.id)"}"#
    let words = try [501, 502, 1000, nil].map { user in
      try order("approvals-look", id, user: user)["own_word"]
    }
    #expect(words == ["own_request", "awaited", "no_approver", "no_approver"])
    for user: UInt32? in [501, 1000, 0, nil] {
      for verb in ["approvals-approve", "approvals-deny"] where user != 501 || verb == "approvals-approve" {
        #expect(try order(verb, id, name: "uid:502", user: user).code == .policyRefused)
      }
    }
    #expect(try order("approvals-approve", id, user: 502)["state"] == "approved")
    #expect(try order("approvals-look", id, user: 502)["own_word"] == "over")
    #expect(try order("approvals-look", id, user: nil).integer("operator") == 502)
  }

  @Test func theAuditNamesWho() throws {
    _ = try part.answer(
      NoteOperatorAction(.keyRevoked, [.reason("lost \u{202E}there")]),
      from: .console(name: "ro\u{202E}bot", user: nil))
    _ = try part.answer(NoteOperatorAction(.reloaded), from: .console(name: "anna", user: 501))
    let rows = try order("audit-search", #"{"limit":5}"#, user: nil).array("rows").compactMap(\.object)
    #expect(rows.map { $0["event"]?.string } == ["reloaded", "key_revoked"])
    #expect(rows.map { $0["actor"]?.string } == ["anna", "robot"])
    #expect(rows.map { $0["uid"]?.integer } == [501, nil])
    #expect(rows.last?["reason"]?.string == "lost there")
  }

  // MARK: Approvals

  @Test func approvalsInPages() throws {
    var ids: [String] = []
    for number in 0..<7 {
      let asked = try part.order("approvals-request", Self.body, uid: UInt32(1000 + number))
      ids.append(asked.id)
    }
    for id in ids[2...] { _ = try part.order("approvals-cancel", #"{"id":"\#(id)"}"#, uid: 501) }
    func page(_ arguments: String) throws -> [String?] {
      try order("approvals-browse", arguments, user: nil).value?.array?.map { $0.object?["id"]?.string } ?? []
    }
    #expect(try page(#"{"pending":1,"limit":10}"#) == [ids[1], ids[0]])
    #expect(try page(#"{"limit":3}"#) == [ids[6], ids[5], ids[4]])
    #expect(try page(#"{"limit":3,"after":"\#(ids[4])"}"#) == [ids[3], ids[2]])
    #expect(try page(#"{"limit":3,"after":"\#(ids[2])"}"#).isEmpty)
    for arguments in [
      #"{"limit":0}"#, #"{"limit":1001}"#, "{}", #"{"limit":1,"after":"x"}"#, #"{"limit":1,"a":1}"#,
    ] {
      #expect(throws: FormError.self) { try page(arguments) }
    }
    let look = try order("approvals-look", #"{"id":"\#(ids[0])"}"#, user: nil)
    #expect(look["text"] == "Kick \"him\"" && look["service"] == "host" && look["requester"] == "uid:1000")
    #expect(look.array("target").first?.object?["value"]?.string == "<b>Gollum")
    #expect(look.array("factors").map(\.string) == ["operator"])
    #expect(
      try order("approvals-look", #"{"id":"\#(ApprovalID.test(9).text)"}"#, user: nil).code
        == .notFound)
  }

  // MARK: Devices

  @Test func devicesInPagesAndByName() throws {
    for number in 0..<120 {
      let phone = try part.phone(of: "subject-\(number % 2)")
      var record = try #require(try part.store.device(phone.id))
      record.name = DeviceName(number == 60 ? "Frodo’s <phone>" : "phone \(number)")
      try part.store.update(record)
    }
    func page(_ arguments: String) throws -> (ids: [String], next: String?) {
      let answer = try order("devices-browse", arguments, user: nil)
      return (answer.array("devices").compactMap { $0.object?["device_id"]?.string }, answer["next"])
    }
    var met: [String] = []
    var after = ""
    for count in [50, 50, 20] {
      let (ids, next) = try page(#"{"limit":50\#(after)}"#)
      #expect(ids.count == count && (next == nil) == (count == 20))
      met += ids
      after = #","after":"\#(next ?? "")""#
    }
    #expect(Set(met).count == 120)
    #expect(try page(#"{"limit":50,"text":"frodo’S"}"#).ids == [met[60]])
    #expect(try page(#"{"limit":50,"text":"\#(met[7].prefix(8))"}"#).ids.contains(met[7]))
    #expect(try page(#"{"limit":50,"text":"nobody"}"#).ids.isEmpty)
    #expect(try page(#"{"limit":50,"text":"phone","subject":"subject-1"}"#).next != nil)
    let named = try order("devices-names", #"{"ids":["\#(met[60])","x"],"keys":["AAAA"]}"#, user: nil)
    #expect(named.value?.array?.map { $0.object?["device_name"]?.string } == ["Frodo’s <phone>"])
    #expect(throws: FormError.self) {
      let many = Array(repeating: #""\#(met[0])""#, count: 501).joined(separator: ",")
      return try order("devices-names", #"{"ids":[\#(many)],"keys":[]}"#, user: nil)
    }
  }

  // MARK: The audit

  @Test func theAuditFromItsEnd() throws {
    for number in 0..<130 {
      let call = NoteOperatorAction(
        number % 10 == 0 ? .reloaded : .sessionEnded,
        [.number("session", Int64(number)), .word("w", "W\(number)")])
      _ = try part.answer(call, from: .console(name: number < 65 ? "anna" : "bert", user: nil))
      part.now.milliseconds += 1000
    }
    func page(_ arguments: String) throws -> (rows: [Int64], next: Int64?) {
      let answer = try order("audit-search", arguments, user: nil)
      return (answer.array("rows").compactMap { $0.object?["session"]?.integer }, answer.integer("next"))
    }
    var met: [Int64] = []
    var before = ""
    for count in [50, 50, 30] {
      let (rows, next) = try page(#"{"limit":50\#(before)}"#)
      #expect(rows.count == count && (next == nil) == (count == 30))
      met += rows
      before = #","before":\#(next ?? 0)"#
    }
    #expect(met == (0..<130).reversed())
    #expect(
      try page(#"{"limit":50,"event":"reloaded"}"#).rows == stride(from: 120, through: 0, by: -10).map { $0 })
    #expect(try page(#"{"limit":500,"about":"ANNA"}"#).rows.count == 65)
    #expect(try page(#"{"limit":500,"about":"w77"}"#).rows == [77])
    #expect(try page(#"{"limit":500,"about":"77"}"#).rows == [77])
    let end = part.now.seconds
    #expect(try page(#"{"limit":500,"from":\#(end - 10)}"#).rows.count == 10)
    #expect(try page(#"{"limit":500,"until":\#(end - 10)}"#).rows.count == 120)
    let events = try order("audit-search", #"{"limit":1}"#, user: nil).array("events").map(\.string)
    #expect(events == ["reloaded", "session_ended"])
    for arguments in [#"{"limit":0}"#, "{}", #"{"limit":1,"day":"x"}"#, #"{"limit":1,"before":"x"}"#] {
      #expect(throws: FormError.self) { try page(arguments) }
    }
  }
}

/// Phones that show their digits, as the console has them.
@Suite struct ConsolePairingTests {
  @Test func aPairingWaitsForItsDigits() throws {
    let part = try PairingPart()
    func order(_ verb: String, _ arguments: String = "{}") throws -> Said {
      let bytes = Array(arguments.utf8)
      let object = try #require(try JSONValue(parsing: bytes.span, depthLimit: 2).object)
      return try Said(
        part.registry.run(OperatorOrder.call(verb, object), from: .console(name: "anna", user: nil)))
    }
    #expect(try order("pair-browse").value.array?.isEmpty == true)
    let phone = try PairingPhone(part.open())
    #expect(try order("pair-browse").value.array?.isEmpty == true)
    let device = try part.device(part.answer(phone))
    func look() throws -> JSONObject {
      try #require(try order("devices-look", #"{"id":"\#(device.id.text)"}"#).value.object)
    }
    // It is in the list, and has not enrolled by itself: whoever looks must know that it is being paired.
    let end = Int64(part.registry.now.seconds + 300)
    var seen = try look()
    #expect(seen["device"]?.object?["status"]?.string == "pending")
    #expect(seen["pairing"] == nil && seen["pairs_until"]?.integer == end)
    #expect(try order("pair-browse").value.array?.isEmpty == true)
    _ = try part.reveal(phone)
    seen = try look()
    #expect(seen["pairing"]?.object?["pairing_id"]?.string == phone.uri.pairingID.text)
    #expect(seen["pairs_until"]?.integer == end)
    #expect(try part.confirm(phone.uri.pairingID, phone.digits).code == nil)
    seen = try look()
    #expect(seen["device"]?.object?["status"]?.string == "active")
    #expect(seen["pairing"] == nil && seen["pairs_until"] == nil)
  }
}
