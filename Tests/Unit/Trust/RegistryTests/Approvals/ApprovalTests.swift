/// The life of requests for approvals: asked, shown, decided, used.
import ApprovalPolicy
import Bytes
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing
import Time

@testable import Registry

@Suite struct ApprovalTests {
  @Test func askedShownApproved() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let asked = try part.ask(service)
    let code = try #require(asked["match_code"])
    #expect(code.utf8.count == 2 && asked.integer("expires_at") == part.now.seconds + 300)
    #expect(part.effects.contains(.approvalsOpen(phone.id, attestedBy: nil, count: 1)))
    #expect(part.effects.contains(.wake(.approvals(of: phone.id))))

    let list = try part.list(phone)
    let item = try #require(list.array("items").first?.object)
    #expect(item["id"]?.string == asked["id"] && item["match_digits"]?.integer == 2)
    let summary = try #require(item["summary"]?.string.flatMap { Base64.decode(Array($0.utf8).span) })
    let shown = try Summary(canonical: summary.span)
    #expect(shown.operation == "mud.promote" && shown.target["character"] == "Gandalf")
    #expect(shown.service == "mud" && shown.subject == "frodo" && shown.policy.factors == ["device"])
    // The code is the requester's alone.
    #expect(!String(decoding: list.json, as: UTF8.self).contains("match_code"))

    let voted = try part.vote(phone, on: asked)
    #expect(voted["state"] == "approved" && voted.integer("votes_needed") == 0)
    #expect(part.effects.contains(.approvalsOpen(phone.id, attestedBy: nil, count: 0)))
    #expect(try part.list(phone).array("items").isEmpty)
    let result = try part.show(asked.id, service)
    #expect(result["state"] == "approved" && result["server_id"] == part.server.text)
    #expect(result.integer("decided_at") == part.now.seconds && result["lease"] == nil)
    let vote = try #require(result.array("votes").first?.object)
    #expect(vote["device_id"]?.string == phone.id.text && vote["match_code"]?.string == code)
    #expect(vote["level"]?.string == "app_attested" && vote["uv"]?.string == "app")
  }

  @Test(arguments: [(Decision.deny, "denied"), (.report, "reported")])
  func oneNoIsEnough(_ decision: Decision, _ state: String) throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"quorum":2}}"#)
    let service = try part.service()
    let phones = try (0..<3).map { _ in try part.phone(of: "frodo") }
    let asked = try part.ask(service)
    #expect(try part.vote(phones[0], on: asked)["state"] == "pending")
    #expect(try part.vote(phones[1], on: asked, decision)["state"] == state)
    #expect(try part.vote(phones[2], on: asked).code == .notPending)
    #expect(try part.show(asked.id, service)["state"] == state)
  }

  @Test func aQuorumOfDevicesOrOfSubjects() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"quorum":2,"approvers":["a","b"]}}"#)
    let service = try part.service()
    let (one, two, three) = (try part.phone(of: "a"), try part.phone(of: "a"), try part.phone(of: "b"))
    let devices = try part.ask(service)
    #expect(try part.vote(one, on: devices).integer("votes_needed") == 1)
    #expect(try part.vote(one, on: devices).code == .alreadyVoted)
    #expect(try part.vote(two, on: devices)["state"] == "approved")

    try part.setPolicy(#"{"DEFAULT":{"quorum":2,"distinct_subjects":true,"approvers":["a","b"]}}"#)
    let subjects = try part.ask(service)
    #expect(try part.vote(one, on: subjects).integer("votes_needed") == 1)
    #expect(try part.vote(two, on: subjects).integer("votes_needed") == 1)
    #expect(try part.vote(three, on: subjects)["state"] == "approved")
  }

  @Test func expiry() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let asked = try part.ask(service)
    part.pass(299)
    #expect(try part.list(phone).array("items").count == 1)
    part.pass(1)
    #expect(try part.vote(phone, on: asked).code == .notPending)
    #expect(try part.list(phone).array("items").isEmpty)
    let result = try part.show(asked.id, service)
    #expect(result["state"] == "expired" && result.integer("decided_at") == asked.integer("expires_at"))
  }

  /// More at once than are tidied away at once.
  @Test func expiryOfMany() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phones = try (0..<40).map { try part.phone(of: "s\($0)") }
    let asked = try phones.indices.map { try part.ask(service, subject: "s\($0)", requester: "r\($0)") }
    part.pass(300)
    for (phone, asked) in zip(phones, asked).reversed() {
      #expect(try part.vote(phone, on: asked).code == .notPending)
      #expect(try part.show(asked.id, service)["state"] == "expired")
    }
  }

  @Test func cancelled() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let asked = try part.ask(service)
    let id = try asked.approval
    #expect(try part.answer(CancelApproval(bearer: service, approval: id))["state"] == "cancelled")
    #expect(try part.answer(CancelApproval(bearer: service, approval: id)).code == .notPending)
    #expect(try part.vote(phone, on: asked).code == .notPending)
  }

  // MARK: Long polls

  @Test func pollsWaitUntilThereIsNews() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let list = ListApprovals(bearer: try part.token(phone), after: nil)
    guard
      case .wait(.approvals(of: phone.id), by: .device(phone.id), _) = try part.run(list, wait: .seconds(25))
    else { throw Failure.unexpected }
    let asked = try part.ask(service)
    guard case .reply(.answered) = try part.run(list, wait: .seconds(25)) else { throw Failure.unexpected }
    // Behind what it has seen it waits again.
    let cursor = try #require(try part.list(phone)["cursor"])
    let next = ListApprovals(bearer: try part.token(phone), after: cursor)
    guard case .wait = try part.run(next, wait: .seconds(25)) else { throw Failure.unexpected }

    let id = try asked.approval
    let show = ShowApproval(bearer: service, approval: id)
    guard case .wait(.approval(id), _, _) = try part.run(show, wait: .seconds(25)) else {
      throw Failure.unexpected
    }
    _ = try part.vote(phone, on: asked, .deny)
    #expect(part.effects.contains(.wake(.approval(id))))
    guard case .reply = try part.run(show, wait: .seconds(25)) else { throw Failure.unexpected }
  }

  @Test(
    arguments: [
      "x", "-1", "01", "", "99999999999999999999", "1000", "09223372036854775807", "00000000000000000001x",
      "0-000000000000000001",
    ])
  func anUnknownCursorIsNone(_ cursor: String) throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    _ = try part.ask(service)
    #expect(try part.list(phone, after: cursor).array("items").count == 1)
  }

  // MARK: Bounds

  @Test func twoOpenForARequester() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    _ = try part.phone(of: "frodo")
    _ = try part.ask(service)
    let second = try part.ask(service)
    #expect(try part.ask(service).code == .tooManyOpen)
    let id = try second.approval
    _ = try part.answer(CancelApproval(bearer: service, approval: id))
    #expect(try part.ask(service).code == nil)
    _ = try part.phone(of: "sam")
    #expect(try part.ask(service, subject: "sam").code == .tooManyOpen)
    #expect(try part.ask(service, subject: "sam", requester: "other").code == nil)
  }

  @Test func approversByPatternAmongMany() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"approvers":["s*9"]}}"#)
    let service = try part.service()
    for number in 1000..<1600 where number % 10 != 9 { _ = try part.phone(of: "s\(number)", level: .bare) }
    _ = try part.phone(of: "t9")
    #expect(try part.ask(service).code == .noDevice)
    let phone = try part.phone(of: "s1439")
    let asked = try part.ask(service)
    #expect(try part.list(phone).array("items").count == 1)
    #expect(try part.vote(phone, on: asked)["state"] == "approved")
    // Behind those that are looked at.
    try part.setPolicy(#"{"DEFAULT":{"approvers":["s*0"]}}"#)
    _ = try part.phone(of: "s1590")
    #expect(try part.ask(service).code == .noDevice)
  }

  @Test func theSameKeyAsksOnce() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    _ = try part.phone(of: "frodo")
    let key = #","idempotency_key":"k1""#
    let first = try part.ask(service, key)
    let again = try part.ask(service, target: #"{"character":"Gandalf"}"#, key)
    #expect(first.json == again.json && first["id"] != nil)
    #expect(try part.ask(service, operation: "mud.demote", key).code == .idempotencyConflict)
    #expect(try part.ask(service, #"\#(key),"policy":{"match_digits":6}"#).code == .idempotencyConflict)
    part.pass(86_400)
    #expect(try part.ask(service, key)["id"] != first["id"])
    // Another service's key is another key.
    let other = try part.service("web")
    #expect(try part.ask(other, key)["id"] != nil)
  }

  enum Failure: Error { case unexpected }
}
