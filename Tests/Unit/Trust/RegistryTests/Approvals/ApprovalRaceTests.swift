/// What comes at once, too late, or twice.
import ApprovalPolicy
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing

@testable import Registry

@Suite struct ApprovalRaceTests {
  // MARK: Revocation

  @Test func aVoteAfterItsDeviceWasRevoked() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    _ = try part.phone(of: "frodo")
    let asked = try part.ask(service)
    let token = try part.token(phone)
    try part.revoke(phone)
    #expect(try part.vote(phone, on: asked, token: token).code == .tokenRejected)
    #expect(try part.show(asked.id, service)["state"] == "pending")
  }

  @Test func aVoteBeforeItsDeviceWasRevoked() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"quorum":2}}"#)
    let service = try part.service()
    let phones = try (0..<3).map { _ in try part.phone(of: "frodo") }
    let asked = try part.ask(service)
    #expect(try part.vote(phones[0], on: asked).integer("votes_needed") == 1)
    try part.revoke(phones[0])
    #expect(try part.show(asked.id, service).array("votes").isEmpty)
    #expect(try part.vote(phones[1], on: asked).integer("votes_needed") == 1)
    #expect(try part.vote(phones[2], on: asked)["state"] == "approved")
  }

  @Test func nobodyIsLeftWhoCould() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"quorum":2}}"#)
    let service = try part.service()
    let phones = try (0..<3).map { _ in try part.phone(of: "frodo") }
    let asked = try part.ask(service)
    let id = asked.id
    _ = try part.vote(phones[0], on: asked)
    try part.revoke(phones[1])
    #expect(try part.show(id, service)["state"] == "pending")
    try part.revoke(phones[2])
    let result = try part.show(id, service)
    #expect(result["state"] == "cancelled" && result["reason"] == "no_device")
  }

  // MARK: Other keys

  /// What the old key has said counts no more, and the phone is asked again: once more, and not for twice.
  @Test func aVoteBeforeItsDeviceChangedItsKeys() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"quorum":2}}"#)
    let service = try part.service()
    let (old, other) = (try part.phone(of: "frodo"), try part.phone(of: "frodo"))
    let asked = try part.ask(service)
    let seen = try #require(try part.list(old)["cursor"])
    #expect(seen.utf8.count <= 64 && seen.utf8.allSatisfy { (0x30...0x39).contains($0) })
    #expect(try part.list(old, after: seen).array("items").isEmpty)
    #expect(try part.vote(old, on: asked).integer("votes_needed") == 1)
    let renewed = try part.rotate(old, vouchedFor: true)
    let key = try part.attestedKey(old)
    #expect(part.effects.contains(.approvalsOpen(old.id, attestedBy: key, count: 1)))
    // It goes on from where it was, and hears of what it is asked anew.
    #expect(try part.list(renewed, after: seen).array("items").count == 1)
    #expect(try part.show(asked.id, service).array("votes").isEmpty)
    #expect(try part.list(renewed).array("items").count == 1)
    #expect(try part.vote(old, on: asked).code == .signatureRejected)
    #expect(try part.vote(other, on: asked).integer("votes_needed") == 1)
    #expect(try part.vote(renewed, on: asked)["state"] == "approved")
    #expect(try part.show(asked.id, service).array("votes").count == 2)
  }

  @Test func keysThatNobodyVouchesForLeaveNobodyWhoCould() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let asked = try part.ask(service)
    _ = try part.rotate(phone, vouchedFor: false)
    let result = try part.show(asked.id, service)
    #expect(result["state"] == "cancelled" && result["reason"] == "no_device")
  }

  @Test func keysThatNobodyVouchesForLeaveOthers() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let (one, two) = (try part.phone(of: "frodo"), try part.phone(of: "frodo"))
    let asked = try part.ask(service)
    let renewed = try part.rotate(one, vouchedFor: false)
    #expect(try part.vote(renewed, on: asked).code == .levelTooLow)
    #expect(try part.vote(two, on: asked)["state"] == "approved")
  }

  @Test func wrongCodesAreCountedOverKeys() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    var phone = try part.phone(of: "frodo")
    let asked = try part.ask(service)
    let wrong = asked["match_code"] == "00" ? "01" : "00"
    for _ in 0..<3 {
      #expect(try part.vote(phone, on: asked, code: wrong).code == .codeRejected)
      phone = try part.rotate(phone, vouchedFor: true)
    }
    #expect(try part.show(asked.id, service)["state"] == "denied")
  }

  /// The device that has agreed is there still.
  @Test func aLeaseOutlivesTheKeysThatGaveIt() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"lease":{"ttl_s":600,"uses":5}}}"#)
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let (asked, lease) = try part.leased(service, [phone])
    let renewed = try part.rotate(phone, vouchedFor: true)
    #expect(try part.use(lease, service, as: "1").integer("uses_left") == 2)
    #expect(try part.show(asked.id, service).array("votes").count == 1)
    try part.revoke(renewed)
    #expect(try part.use(lease, service, as: "2").code == .leaseEnded)
  }

  // MARK: Leases

  @Test func aLeaseRestsOnItsVotes() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"quorum":2,"lease":{"ttl_s":600,"uses":5}}}"#)
    let service = try part.service()
    let phones = try (0..<3).map { _ in try part.phone(of: "frodo") }
    let (asked, lease) = try part.leased(service, Array(phones[..<2]), #"{"ttl_s":600,"uses":5}"#)
    // Not on that of somebody who did not vote.
    try part.revoke(phones[2])
    #expect(try part.use(lease, service, as: "1").integer("uses_left") == 4)
    try part.revoke(phones[0])
    #expect(try part.use(lease, service, as: "2").code == .leaseEnded)
    #expect(try part.show(asked.id, service).object("lease")?["uses_left"]?.integer == 0)
    // What was done was done: the answer may have been lost.
    #expect(try part.use(lease, service, as: "1").integer("uses_left") == 4)
  }

  @Test func aRevokedServicesEndAtOnce() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"lease":{"ttl_s":600,"uses":5}}}"#)
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let (_, lease) = try part.leased(service, [phone], #"{"ttl_s":600,"uses":5}"#)
    let open = try part.ask(service)
    #expect(try part.order("services-revoke", #"{"name":"mud"}"#).code == nil)
    #expect(try part.use(lease, service, as: "1").code == .tokenRejected)
    let id = try open.approval
    #expect(try part.store.approval(id)?.state == .cancelled)
    let leaseID = try leaseID(lease)
    #expect(try part.store.lease(leaseID)?.endedAt != nil)
    #expect(try part.list(phone).array("items").isEmpty)
  }

  // MARK: Two at once

  /// Two votes in one group, whichever comes first: one decides, the other finds it decided.
  @Test(arguments: [true, false])
  func twoVotesRacing(_ denialIsFirst: Bool) throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let (one, two) = (try part.phone(of: "frodo"), try part.phone(of: "frodo"))
    let asked = try part.ask(service)
    let votes: [(Phone, Decision)] =
      denialIsFirst ? [(one, .deny), (two, .approve)] : [(two, .approve), (one, .deny)]
    var answers: [Answer] = []
    for (phone, decision) in votes { answers.append(try part.vote(phone, on: asked, decision)) }
    #expect(answers[0]["state"] == (denialIsFirst ? "denied" : "approved"))
    #expect(answers[1].code == .notPending)
    let result = try part.show(asked.id, service)
    #expect(result["state"] == answers[0]["state"] && result.array("votes").count == 1)
  }

  @Test func theSameVoteTwice() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"quorum":2}}"#)
    let service = try part.service()
    let (one, _) = (try part.phone(of: "frodo"), try part.phone(of: "frodo"))
    let asked = try part.ask(service)
    #expect(try part.vote(one, on: asked).integer("votes_needed") == 1)
    #expect(try part.vote(one, on: asked).code == .alreadyVoted)
    #expect(try part.vote(one, on: asked, .deny).code == .alreadyVoted)
  }

  /// The registry runs one after the other; what decides is that the count and the use are one change.
  @Test func aLeaseUsedTwiceAtOnce() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":1}}}"#)
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let (asked, lease) = try part.leased(service, [phone], #"{"ttl_s":3600,"uses":100}"#)
    #expect(asked["match_code"]?.utf8.count == 4)
    let (first, second) = (try part.use(lease, service, as: "a"), try part.use(lease, service, as: "b"))
    #expect(first.integer("uses_left") == 0 && second.code == .leaseExhausted)
    // A repetition is no second use, also when all is used up, and when it is over.
    #expect(try part.use(lease, service, as: "a").integer("uses_left") == 0)
    part.pass(60)
    #expect(try part.use(lease, service, as: "a").integer("uses_left") == 0)
    #expect(try part.use(lease, service, as: "b").code == .leaseEnded)
  }

  @Test func aLeaseThatIsGivenBack() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":3}}}"#)
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let (_, lease) = try part.leased(service, [phone])
    let end = EndLease(bearer: service, lease: try leaseID(lease))
    #expect(try part.answer(end).code == nil)
    #expect(try part.answer(end).code == .leaseEnded)
    #expect(try part.use(lease, service, as: "1").code == .leaseEnded)
  }

  @Test func noLeaseUnlessItWasAskedFor() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":1}}}"#)
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let asked = try part.ask(service)
    _ = try part.vote(phone, on: asked)
    #expect(try part.show(asked.id, service).lease == nil)
    try part.setPolicy(#"{"DEFAULT":{}}"#)
    #expect(try part.ask(service, #","lease":{"ttl_s":60,"uses":1}"#).code == .policyRefused)
  }

  // MARK: Reports

  @Test func aReportBarsWhoeverAsked() throws {
    let part = try ApprovalPart()
    let (service, other) = (try part.service(), try part.service("web"))
    let phone = try part.phone(of: "frodo")
    _ = try part.phone(of: "sam")
    _ = try part.vote(phone, on: part.ask(service), .report)
    #expect(try part.ask(service).code == .requesterBarred)
    // Others may ask, and he may ask others.
    #expect(try part.ask(service, requester: "another").code == nil)
    #expect(try part.ask(other).code == nil)
    #expect(try part.ask(service, subject: "sam").code == nil)

    // Who asks over the socket and is no operator does not lift what somebody has said of him.
    for (verb, arguments) in [
      ("bars-list", "{}"), ("bars-lift", #"{"service":"mud","requester":"ops","subject":"frodo"}"#),
    ] {
      #expect(try part.order(verb, arguments, uid: 1000).code == .policyRefused)
    }
    let bars = try part.order("bars-list").value?.array
    #expect(bars?.count == 1 && bars?.first?.object?["requester"]?.string == "ops")
    #expect(bars?.first?.object?["service"]?.string == "mud")
    #expect(
      try part.order("bars-lift", #"{"service":"mud","requester":"ops","subject":"sam"}"#).code == .notFound)
    #expect(
      try part.order("bars-lift", #"{"service":"mud","requester":"ops","subject":"frodo"}"#).code == nil)
    #expect(try part.ask(service).code == nil)
  }

  /// Nor does an operator who has asked himself; another one does, and it is on record whose bar it was.
  @Test func anOperatorDoesNotLiftHisOwnBar() throws {
    let part = try ApprovalPart()
    let phone = try part.phone(of: "frodo")
    let body = #"{"operation":"mud.kick","target":{},"text":"Kick","subject":"frodo"}"#
    let asked = try part.order("approvals-request", body, uid: 501)
    _ = try part.vote(phone, on: asked, .report)
    #expect(try part.order("approvals-request", body, uid: 501).code == .requesterBarred)
    let bar = #"{"service":"host","requester":"uid:501","subject":"frodo"}"#
    #expect(try part.order("bars-lift", bar, uid: 501).code == .policyRefused)
    #expect(try part.order("approvals-request", body, uid: 501).code == .requesterBarred)
    #expect(try part.order("bars-lift", bar, uid: 502).code == nil)
    #expect(try part.order("approvals-request", body, uid: 501).code == nil)
    let rows = try part.store.auditRows(after: 0, limit: 1000).compactMap { row -> String? in
      guard case .text(let bytes, _) = row.content else { return nil }
      return String(decoding: bytes, as: UTF8.self)
    }
    let lifted = rows.filter { $0.contains(#""event":"bar_lifted""#) }
    #expect(lifted.count == 1)
    for words in [#""bar_requester":"uid:501""#, #""bar_service":"host""#] {
      #expect(lifted.allSatisfy { $0.contains(words) })
    }
  }

  @Test func aReportOfOneApproverLeavesTheOthers() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"approvers":["a*"]}}"#)
    let service = try part.service()
    let (one, two) = (try part.phone(of: "a1"), try part.phone(of: "a2"))
    _ = try part.phone(of: "b")
    _ = try part.vote(one, on: part.ask(service), .report)
    let asked = try part.ask(service)
    #expect(try part.list(one).array("items").isEmpty && part.list(two).array("items").count == 1)
    _ = try part.vote(two, on: asked, .report)
    #expect(try part.ask(service).code == .requesterBarred)
  }
}
