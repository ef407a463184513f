/// What time and forgetting do to requests, and what the audit says of them.
import ApprovalPolicy
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing

@testable import Registry

@Suite struct ApprovalUpkeepTests {
  private struct Tend: RegistryCall {
    let all: Bool

    func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
      if all {
        try ApprovalUpkeep().endAll(&desk)
        return .reply(.answered([]))
      }
      let next = try ApprovalUpkeep().tend(&desk)
      return .reply(.answered(Array("{\"next\":\(next?.seconds ?? 0)}".utf8)))
    }
  }

  @Test func whatIsOverEndsByItself() throws {
    let room = try ApprovalRoom()
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    #expect(try room.answer(Tend(all: false)).integer("next") == 0)
    let asked = try room.ask(service)
    #expect(try room.answer(Tend(all: false)).integer("next") == asked.integer("expires_at"))
    room.pass(300)
    #expect(try room.answer(Tend(all: false)).integer("next") == 0)
    #expect(try room.effects.contains(.wake(.approval(asked.approval))))
    #expect(room.effects.contains(.approvalsOpen(phone.id, attestedBy: nil, count: 0)))
    #expect(try room.store.approval(asked.approval)?.state == .expired)
  }

  @Test func whatHasEndedIsThrownAway() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":3}}}"#)
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    let (asked, lease) = try room.leased(service, [phone])
    _ = try room.use(lease, service, as: "1")
    room.pass(30 * 86_400)
    _ = try room.answer(Tend(all: false))
    #expect(try room.show(asked.id, service).code == nil)
    room.pass(1)
    _ = try room.answer(Tend(all: false))
    #expect(try room.show(asked.id, service).code == .notFound)
    #expect(try room.use(lease, service, as: "1").code == .notFound)
    #expect(try room.store.votes(on: asked.approval).isEmpty)
  }

  /// After a clock that was set back, or of a copy.
  @Test func allThatIsOpenEnds() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":3}}}"#)
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    let (_, lease) = try room.leased(service, [phone])
    let open = try room.ask(service)
    _ = try room.answer(Tend(all: true))
    #expect(try room.show(open.id, service)["state"] == "expired")
    #expect(try room.show(open.id, service).integer("decided_at") == room.now.seconds)
    #expect(try room.use(lease, service, as: "1").code == .leaseEnded)
    #expect(try room.vote(phone, on: open).code == .notPending)
  }

  @Test func aSubjectThatIsForgotten() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"approvers":["frodo","sam"]}}"#)
    let service = try room.service()
    let (frodo, sam) = (try room.phone(of: "frodo"), try room.phone(of: "sam"))
    let about = try room.ask(service)
    let other = try room.ask(service, subject: "sam")
    _ = try room.vote(frodo, on: other, .report)
    #expect(try room.order("devices-forget", #"{"subject":"frodo"}"#).integer("forgotten") == 1)
    #expect(try room.show(about.id, service).code == .notFound)
    // Of what others are about his part is gone.
    let rest = try room.show(other.id, service)
    #expect(rest["state"] == "reported" && rest.array("votes").isEmpty)
    #expect(try room.store.bars().isEmpty && room.list(sam).array("items").isEmpty)
  }

  /// Ids, words and hashes: no code, no text, no token.
  @Test func theAuditNamesAndTellsNothing() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":3},"match_digits":6}}"#)
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    let asked = try room.ask(service, text: "SECRETTEXT", #","lease":{"ttl_s":60,"uses":3}"#)
    let code = try #require(asked["match_code"])
    _ = try room.vote(phone, on: asked, code: code == "111111" ? "222222" : "111111")
    _ = try room.vote(phone, on: asked)
    let lease = try #require(try room.show(asked.id, service).lease)
    _ = try room.use(lease, service, as: "USEID")
    let rows = try room.store.auditRows(after: 0, limit: 100)
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
