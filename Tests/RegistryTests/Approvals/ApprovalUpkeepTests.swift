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
