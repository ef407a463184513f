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
    let room = try ApprovalRoom()
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    _ = try room.phone(of: "frodo")
    let asked = try room.ask(service)
    let token = try room.token(phone)
    try room.revoke(phone)
    #expect(try room.vote(phone, on: asked, token: token).code == .tokenRejected)
    #expect(try room.show(asked.id, service)["state"] == "pending")
  }

  @Test func aVoteBeforeItsDeviceWasRevoked() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"quorum":2}}"#)
    let service = try room.service()
    let phones = try (0..<3).map { _ in try room.phone(of: "frodo") }
    let asked = try room.ask(service)
    #expect(try room.vote(phones[0], on: asked).integer("votes_needed") == 1)
    try room.revoke(phones[0])
    #expect(try room.show(asked.id, service).array("votes").isEmpty)
    #expect(try room.vote(phones[1], on: asked).integer("votes_needed") == 1)
    #expect(try room.vote(phones[2], on: asked)["state"] == "approved")
  }

  @Test func nobodyIsLeftWhoCould() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"quorum":2}}"#)
    let service = try room.service()
    let phones = try (0..<3).map { _ in try room.phone(of: "frodo") }
    let asked = try room.ask(service)
    let id = asked.id
    _ = try room.vote(phones[0], on: asked)
    try room.revoke(phones[1])
    #expect(try room.show(id, service)["state"] == "pending")
    try room.revoke(phones[2])
    let result = try room.show(id, service)
    #expect(result["state"] == "cancelled" && result["reason"] == "no_device")
  }

  // MARK: Other keys

  /// What the old key has said counts no more, and the phone is asked again: once more, and not for twice.
  @Test func aVoteBeforeItsDeviceChangedItsKeys() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"quorum":2}}"#)
    let service = try room.service()
    let (old, other) = (try room.phone(of: "frodo"), try room.phone(of: "frodo"))
    let asked = try room.ask(service)
    #expect(try room.vote(old, on: asked).integer("votes_needed") == 1)
    let renewed = try room.rotate(old, vouchedFor: true)
    let key = try room.attestedKey(old)
    #expect(room.effects.contains(.approvalsOpen(old.id, attestedBy: key, count: 1)))
    #expect(try room.show(asked.id, service).array("votes").isEmpty)
    #expect(try room.list(renewed).array("items").count == 1)
    #expect(try room.vote(old, on: asked).code == .signatureRejected)
    #expect(try room.vote(other, on: asked).integer("votes_needed") == 1)
    #expect(try room.vote(renewed, on: asked)["state"] == "approved")
    #expect(try room.show(asked.id, service).array("votes").count == 2)
  }

  @Test func keysThatNobodyVouchesForLeaveNobodyWhoCould() throws {
    let room = try ApprovalRoom()
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    let asked = try room.ask(service)
    _ = try room.rotate(phone, vouchedFor: false)
    let result = try room.show(asked.id, service)
    #expect(result["state"] == "cancelled" && result["reason"] == "no_device")
  }

  @Test func keysThatNobodyVouchesForLeaveOthers() throws {
    let room = try ApprovalRoom()
    let service = try room.service()
    let (one, two) = (try room.phone(of: "frodo"), try room.phone(of: "frodo"))
    let asked = try room.ask(service)
    let renewed = try room.rotate(one, vouchedFor: false)
    #expect(try room.vote(renewed, on: asked).code == .levelTooLow)
    #expect(try room.vote(two, on: asked)["state"] == "approved")
  }

  @Test func wrongCodesAreCountedOverKeys() throws {
    let room = try ApprovalRoom()
    let service = try room.service()
    var phone = try room.phone(of: "frodo")
    let asked = try room.ask(service)
    let wrong = asked["match_code"] == "00" ? "01" : "00"
    for _ in 0..<3 {
      #expect(try room.vote(phone, on: asked, code: wrong).code == .codeRejected)
      phone = try room.rotate(phone, vouchedFor: true)
    }
    #expect(try room.show(asked.id, service)["state"] == "denied")
  }

  /// The device that has agreed is there still.
  @Test func aLeaseOutlivesTheKeysThatGaveIt() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"lease":{"ttl_s":600,"uses":5}}}"#)
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    let (asked, lease) = try room.leased(service, [phone])
    let renewed = try room.rotate(phone, vouchedFor: true)
    #expect(try room.use(lease, service, as: "1").integer("uses_left") == 2)
    #expect(try room.show(asked.id, service).array("votes").count == 1)
    try room.revoke(renewed)
    #expect(try room.use(lease, service, as: "2").code == .leaseEnded)
  }

  // MARK: Leases

  @Test func aLeaseRestsOnItsVotes() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"quorum":2,"lease":{"ttl_s":600,"uses":5}}}"#)
    let service = try room.service()
    let phones = try (0..<3).map { _ in try room.phone(of: "frodo") }
    let (asked, lease) = try room.leased(service, Array(phones[..<2]), #"{"ttl_s":600,"uses":5}"#)
    // Not on that of somebody who did not vote.
    try room.revoke(phones[2])
    #expect(try room.use(lease, service, as: "1").integer("uses_left") == 4)
    try room.revoke(phones[0])
    #expect(try room.use(lease, service, as: "2").code == .leaseEnded)
    #expect(try room.show(asked.id, service).object("lease")?["uses_left"]?.integer == 0)
    // What was done was done: the answer may have been lost.
    #expect(try room.use(lease, service, as: "1").integer("uses_left") == 4)
  }

  @Test func aRevokedServicesEndAtOnce() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"lease":{"ttl_s":600,"uses":5}}}"#)
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    let (_, lease) = try room.leased(service, [phone], #"{"ttl_s":600,"uses":5}"#)
    let open = try room.ask(service)
    #expect(try room.order("services-revoke", #"{"name":"mud"}"#).code == nil)
    #expect(try room.use(lease, service, as: "1").code == .tokenRejected)
    let id = try open.approval
    #expect(try room.store.approval(id)?.state == .cancelled)
    let leaseID = try leaseID(lease)
    #expect(try room.store.lease(leaseID)?.endedAt != nil)
    #expect(try room.list(phone).array("items").isEmpty)
  }

  // MARK: Two at once

  /// Two votes in one group, whichever comes first: one decides, the other finds it decided.
  @Test(arguments: [true, false])
  func twoVotesRacing(_ denialIsFirst: Bool) throws {
    let room = try ApprovalRoom()
    let service = try room.service()
    let (one, two) = (try room.phone(of: "frodo"), try room.phone(of: "frodo"))
    let asked = try room.ask(service)
    let votes: [(Phone, Decision)] =
      denialIsFirst ? [(one, .deny), (two, .approve)] : [(two, .approve), (one, .deny)]
    var answers: [Answer] = []
    for (phone, decision) in votes { answers.append(try room.vote(phone, on: asked, decision)) }
    #expect(answers[0]["state"] == (denialIsFirst ? "denied" : "approved"))
    #expect(answers[1].code == .notPending)
    let result = try room.show(asked.id, service)
    #expect(result["state"] == answers[0]["state"] && result.array("votes").count == 1)
  }

  @Test func theSameVoteTwice() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"quorum":2}}"#)
    let service = try room.service()
    let (one, _) = (try room.phone(of: "frodo"), try room.phone(of: "frodo"))
    let asked = try room.ask(service)
    #expect(try room.vote(one, on: asked).integer("votes_needed") == 1)
    #expect(try room.vote(one, on: asked).code == .alreadyVoted)
    #expect(try room.vote(one, on: asked, .deny).code == .alreadyVoted)
  }

  /// The registry runs one after the other; what decides is that the count and the use are one change.
  @Test func aLeaseUsedTwiceAtOnce() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":1}}}"#)
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    let (asked, lease) = try room.leased(service, [phone], #"{"ttl_s":3600,"uses":100}"#)
    #expect(asked["match_code"]?.utf8.count == 4)
    let (first, second) = (try room.use(lease, service, as: "a"), try room.use(lease, service, as: "b"))
    #expect(first.integer("uses_left") == 0 && second.code == .leaseExhausted)
    // A repetition is no second use, also when all is used up, and when it is over.
    #expect(try room.use(lease, service, as: "a").integer("uses_left") == 0)
    room.pass(60)
    #expect(try room.use(lease, service, as: "a").integer("uses_left") == 0)
    #expect(try room.use(lease, service, as: "b").code == .leaseEnded)
  }

  @Test func aLeaseThatIsGivenBack() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":3}}}"#)
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    let (_, lease) = try room.leased(service, [phone])
    let end = EndLease(bearer: service, lease: try leaseID(lease))
    #expect(try room.answer(end).code == nil)
    #expect(try room.answer(end).code == .leaseEnded)
    #expect(try room.use(lease, service, as: "1").code == .leaseEnded)
  }

  @Test func noLeaseUnlessItWasAskedFor() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":1}}}"#)
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    let asked = try room.ask(service)
    _ = try room.vote(phone, on: asked)
    #expect(try room.show(asked.id, service).lease == nil)
    try room.setPolicy(#"{"DEFAULT":{}}"#)
    #expect(try room.ask(service, #","lease":{"ttl_s":60,"uses":1}"#).code == .policyRefused)
  }

  // MARK: Reports

  @Test func aReportBarsWhoeverAsked() throws {
    let room = try ApprovalRoom()
    let (service, other) = (try room.service(), try room.service("web"))
    let phone = try room.phone(of: "frodo")
    _ = try room.phone(of: "sam")
    _ = try room.vote(phone, on: room.ask(service), .report)
    #expect(try room.ask(service).code == .requesterBarred)
    // Others may ask, and he may ask others.
    #expect(try room.ask(service, requester: "another").code == nil)
    #expect(try room.ask(other).code == nil)
    #expect(try room.ask(service, subject: "sam").code == nil)

    // Who asks over the socket and is no operator does not lift what somebody has said of him.
    for (verb, arguments) in [
      ("bars-list", "{}"), ("bars-lift", #"{"service":"mud","requester":"ops","subject":"frodo"}"#),
    ] {
      #expect(try room.order(verb, arguments, uid: 1000).code == .policyRefused)
    }
    let bars = try room.order("bars-list").value?.array
    #expect(bars?.count == 1 && bars?.first?.object?["requester"]?.string == "ops")
    #expect(bars?.first?.object?["service"]?.string == "mud")
    #expect(
      try room.order("bars-lift", #"{"service":"mud","requester":"ops","subject":"sam"}"#).code == .notFound)
    #expect(
      try room.order("bars-lift", #"{"service":"mud","requester":"ops","subject":"frodo"}"#).code == nil)
    #expect(try room.ask(service).code == nil)
  }

  @Test func aReportOfOneApproverLeavesTheOthers() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"approvers":["a*"]}}"#)
    let service = try room.service()
    let (one, two) = (try room.phone(of: "a1"), try room.phone(of: "a2"))
    _ = try room.phone(of: "b")
    _ = try room.vote(one, on: room.ask(service), .report)
    let asked = try room.ask(service)
    #expect(try room.list(one).array("items").isEmpty && room.list(two).array("items").count == 1)
    _ = try room.vote(two, on: asked, .report)
    #expect(try room.ask(service).code == .requesterBarred)
  }
}
