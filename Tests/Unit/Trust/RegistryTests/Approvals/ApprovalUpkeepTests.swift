/// What time and forgetting do to requests, and what the audit says of them.
import ApprovalPolicy
import DeviceWire
import JSON
import PortcullisProtocol
import SQL
import SQLite
import System
import Testing
import Time

@testable import Registry

@Suite struct ApprovalUpkeepTests {
  private struct Tend: RegistryCall {
    let all: Bool

    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      if all {
        try ApprovalUpkeep().endAll(&transaction)
        return .reply(.answered([]))
      }
      let next = try ApprovalUpkeep().tend(&transaction)
      return .reply(.answered(Array("{\"next\":\(next?.seconds ?? 0)}".utf8)))
    }
  }

  @Test func whatIsOverEndsByItself() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    #expect(try part.answer(Tend(all: false)).integer("next") == 0)
    let asked = try part.ask(service)
    #expect(try part.answer(Tend(all: false)).integer("next") == asked.integer("expires_at"))
    part.pass(300)
    #expect(try part.answer(Tend(all: false)).integer("next") == 0)
    #expect(try part.effects.contains(.wake(.approval(asked.approval))))
    #expect(part.effects.contains(.approvalsOpen(phone.id, attestedBy: nil, count: 0)))
    #expect(try part.store.approval(asked.approval)?.state == .expired)
  }

  @Test func whatHasEndedIsThrownAway() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":3}}}"#)
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let (asked, lease) = try part.leased(service, [phone])
    _ = try part.use(lease, service, as: "1")
    part.pass(30 * 86_400)
    _ = try part.answer(Tend(all: false))
    #expect(try part.show(asked.id, service).code == nil)
    part.pass(1)
    _ = try part.answer(Tend(all: false))
    #expect(try part.show(asked.id, service).code == .notFound)
    #expect(try part.use(lease, service, as: "1").code == .notFound)
    #expect(try part.store.votes(on: asked.approval).isEmpty)
  }

  /// After a clock that was set back, or of a copy.
  @Test func allThatIsOpenEnds() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":3}}}"#)
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let (_, lease) = try part.leased(service, [phone])
    let open = try part.ask(service)
    _ = try part.answer(Tend(all: true))
    #expect(try part.show(open.id, service)["state"] == "expired")
    #expect(try part.show(open.id, service).integer("decided_at") == part.now.seconds)
    #expect(try part.use(lease, service, as: "1").code == .leaseEnded)
    #expect(try part.vote(phone, on: open).code == .notPending)
  }

  @Test func aSubjectThatIsForgotten() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"approvers":["frodo","sam"]}}"#)
    let service = try part.service()
    let (frodo, sam) = (try part.phone(of: "frodo"), try part.phone(of: "sam"))
    let about = try part.ask(service)
    let other = try part.ask(service, subject: "sam")
    _ = try part.vote(frodo, on: other, .report)
    #expect(try part.order("devices-forget", #"{"subject":"frodo"}"#).integer("forgotten") == 1)
    #expect(try part.show(about.id, service).code == .notFound)
    // Of what others are about his part is gone.
    let rest = try part.show(other.id, service)
    #expect(rest["state"] == "reported" && rest.array("votes").isEmpty)
    #expect(try part.store.bars().isEmpty && part.list(sam).array("items").isEmpty)
  }

  /// As whom he asked, in whatever way, and as whom he was reported: nothing in the store has his name.
  @Test(arguments: ["frodo", #"fro"do\"#]) func aRequesterThatIsForgotten(name: String) throws {
    let part = try ApprovalPart(
      policy: #"{"DEFAULT":{"approvers":[\#(Self.json(name)),"sam"],"lease":{"ttl_s":60,"uses":3}}}"#)
    let service = try part.service()
    let inJSON = String(Self.json(name).dropFirst().dropLast())
    let (_, sam) = (try part.phone(of: name), try part.phone(of: "sam"))
    // Open, decided with a lease, reported and forgiven, of a user of the host with an account of that name.
    let open = try part.ask(service, subject: "sam", requester: inJSON)
    let decided = try part.ask(service, subject: "sam", requester: inJSON, #","lease":{"ttl_s":60,"uses":3}"#)
    #expect(try part.vote(sam, on: decided)["state"] == "approved")
    let lease = try #require(try part.show(decided.id, service).lease)
    let hosts = try part.order(
      "approvals-request", #"{"operation":"mud.kick","target":{},"text":"Kick","subject":"sam"}"#, uid: 1000,
      name: .named(name))
    let kept = try part.order(
      "approvals-request",
      #"{"operation":"mud.kick","target":{"name":"\#(inJSON)"},"text":"x","subject":"sam"}"#,
      uid: 1001, name: .named("gollum"))
    #expect(hosts.code == nil && kept.code == nil)
    try part.bar(name, of: "mud", for: "sam")
    try part.bar(name, of: "mud", for: "eve")
    let lifted = try part.order(
      "bars-lift", #"{"service":"mud","requester":\#(Self.json(name)),"subject":"sam"}"#)
    #expect(lifted.code == nil)
    #expect(try part.mentions(of: name) > 5)

    #expect(try part.order("devices-forget", #"{"subject":\#(Self.json(name))}"#).integer("forgotten") == 1)
    // What another has asked, about a thing of that name, is his.
    #expect(try part.mentions(of: name) == 1)
    for id in [open.id, decided.id, hosts.id] { #expect(try part.show(id, service).code == .notFound) }
    #expect(try part.use(lease, service, as: "1").code == .notFound)
    #expect(try part.store.bars().isEmpty)
    let left = try #require(try part.store.approval(kept.approval))
    #expect(
      left.state == .pending && left.terms.approvers.lists.map { $0.map(\.text) } == [[Array("sam".utf8)]])
    #expect(try part.vote(sam, on: kept)["state"] == "approved")
    #expect(try part.order("audit-verify")["fault"] == nil)
  }

  private static func json(_ text: String) -> String {
    var writer = JSONWriter()
    writer.value(text)
    return writer.string
  }

  /// Ids, words and hashes: no code, no text, no token.
  @Test func theAuditNamesAndTellsNothing() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":3},"match_digits":6}}"#)
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let asked = try part.ask(service, text: "SECRETTEXT", #","lease":{"ttl_s":60,"uses":3}"#)
    let code = try #require(asked["match_code"])
    _ = try part.vote(phone, on: asked, code: code == "111111" ? "222222" : "111111")
    _ = try part.vote(phone, on: asked)
    let lease = try #require(try part.show(asked.id, service).lease)
    _ = try part.use(lease, service, as: "USEID")
    let rows = try part.store.auditRows(after: 0, limit: 100)
    let texts = rows.compactMap { row in
      if case .text(let text, _) = row.content { String(decoding: text, as: UTF8.self) } else { nil }
    }
    let events = texts.compactMap { text in
      let bytes = Array(text.utf8)
      return (try? JSONValue(parsing: bytes.span, depthLimit: 4))?.object?["event"]?.string
    }
    #expect(
      events == [
        "service_added", "approval_asked", "approval_code_wrong", "approval_voted", "lease_used",
      ])
    for secret in [code, "SECRETTEXT", "Gandalf", service, "USEID", "mud.promote"] {
      #expect(!texts.contains { $0.contains(secret) }, "\(secret)")
    }
    #expect(texts.count { $0.contains(asked.id) } == 4)
  }
}

extension ApprovalPart {
  /// As a report does.
  fileprivate func bar(_ requester: String, of service: String, for subject: String) throws {
    let id = try #require(try store.services().first { $0.name.text == service }).id
    try store.insert(
      BarRecord(
        service: id, requester: requester, subject: #require(Subject(subject)), at: UnixSeconds(now)))
  }

  /// In how many values of the store the text stands, as it is or as JSON has it.
  fileprivate func mentions(of text: String) throws -> Int {
    var count = 0
    let tables = try store.all("SELECT name FROM sqlite_schema WHERE type = 'table'") {
      row throws(SQLError) in try row.text(0)
    }
    var json = JSONWriter()
    json.value(text)
    for table in tables {
      let columns = try store.all("SELECT name FROM pragma_table_info('\(table)')") {
        row throws(SQLError) in try row.text(0)
      }
      for column in columns {
        let value = "CAST(\(column) AS BLOB)"
        count += try store.count(
          "SELECT count(*) FROM \(table) WHERE instr(\(value), ?1) > 0 OR instr(\(value), ?2) > 0",
          [.blob(Array(text.utf8)), .blob(Array(json.bytes.dropFirst().dropLast()))])
      }
    }
    return count
  }
}
