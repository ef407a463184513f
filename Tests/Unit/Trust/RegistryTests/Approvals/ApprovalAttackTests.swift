/// What somebody would try: each is refused, and what it was tried on stays as it was.
import ApprovalPolicy
import Bytes
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing
import Time

@testable import Registry

@Suite struct ApprovalAttackTests {
  // MARK: An approval used for something else

  /// What the phone has signed is good for one request, device, server, decision, code, summary and time.
  @Test(arguments: [
    "request", "device", "server", "decision", "code", "summary", "issued_at", "expires_at",
  ])
  func aVoteIsGoodForOneThingOnly(_ other: String) throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let asked = try part.ask(service)
    let id = try asked.approval
    let refused = try part.vote(
      phone, on: asked,
      forge: { vote in
        switch other {
        case "request": vote.request = ApprovalID(random: KernelEntropy())
        case "device": vote.device = DeviceID(random: KernelEntropy())
        case "server": vote.server = ServerID(random: KernelEntropy())
        case "decision": vote.decision = .deny
        case "code": vote.code = vote.code == "11" ? "12" : "11"
        case "summary": vote.summaryHash = Bytes32()
        case "issued_at": vote.issuedAt = vote.issuedAt + 1
        case "expires_at": vote.expiresAt = vote.expiresAt + 1
        default: Issue.record("\(other)")
        }
      })
    #expect(refused.code == .signatureRejected)
    let record = try #require(try part.store.approval(id))
    #expect(record.state == .pending)
    #expect(try part.store.votes(on: id).isEmpty)
    // And it has cost nothing: the honest vote counts.
    #expect(try part.vote(phone, on: asked)["state"] == "approved")
  }

  /// The same bytes sent for another request of the same text.
  @Test func aVoteOfOneRequestIsNoneOfAnother() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"match_digits":0}}"#)
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let first = try part.ask(service)
    let second = try part.ask(service)
    let id = try second.approval
    #expect(try part.vote(phone, on: first, send: { $0.request = id }).code == .signatureRejected)
  }

  @Test func aStolenTokenAloneDecidesNothing() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let thief = try part.phone(of: "sauron")
    let asked = try part.ask(service)
    let token = try part.token(phone)
    let code = try #require(asked["match_code"])
    // Signed by another key, in the phone's name.
    let id = phone.id
    let refused = try part.vote(
      thief, on: asked, code: code, token: token, forge: { $0.device = id }, send: { $0.device = id })
    #expect(refused.code == .signatureRejected)
    // In his own name under her token.
    #expect(try part.vote(thief, on: asked, code: code, token: token).code == .tokenRejected)
    #expect(try part.vote(thief, on: asked, code: code).code == .notFound)
  }

  // MARK: Codes

  @Test func wrongCodesByBruteForce() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let asked = try part.ask(service)
    let code = try #require(asked["match_code"])
    var tries = 0
    for guess in (0..<100).map({ $0 < 10 ? "0\($0)" : "\($0)" }) where guess != code {
      let refused = try part.vote(phone, on: asked, code: guess)
      if refused.code != .codeRejected {
        #expect(refused.code == .notPending)
        break
      }
      tries += 1
    }
    #expect(tries == 3)
    #expect(try part.show(asked.id, service)["state"] == "denied")
    #expect(try part.vote(phone, on: asked).code == .notPending)
  }

  /// Who cannot sign can neither guess nor use up the tries of who can.
  @Test func onlyAGoodSignatureCountsAsATry() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let asked = try part.ask(service)
    let wrong = asked["match_code"] == "11" ? "12" : "11"
    for _ in 0..<10 {
      #expect(
        try part.vote(phone, on: asked, code: wrong, forge: { $0.summaryHash = Bytes32() }).code
          == .signatureRejected)
    }
    #expect(try part.vote(phone, on: asked, code: wrong).code == .codeRejected)
    #expect(try part.vote(phone, on: asked, code: "").code == .codeRejected)
    #expect(try part.vote(phone, on: asked)["state"] == "approved")
  }

  @Test func codesAreEvenlySpread() throws {
    var counts = [Int](repeating: 0, count: 10)
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"match_digits":6}}"#)
    let service = try part.service()
    _ = try part.phone(of: "frodo")
    for _ in 0..<200 {
      let asked = try part.ask(service)
      let code = try #require(asked["match_code"])
      #expect(code.utf8.count == 6)
      for digit in code.utf8 { counts[Int(digit - UInt8(ascii: "0"))] += 1 }
      let id = try asked.approval
      _ = try part.answer(CancelApproval(bearer: service, approval: id))
    }
    // 120 of 1,200 each on average; so far from it once in some hundred thousand runs.
    #expect(counts.allSatisfy { (65...180).contains($0) }, "\(counts)")
  }

  // MARK: Who approves

  @Test func aRequesterWhoApprovesHimself() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let frodo = try part.phone(of: "frodo")
    #expect(try part.ask(service, requester: "frodo").code == .noDevice)
    try part.setPolicy(#"{"DEFAULT":{"approvers":["frodo","sam"]}}"#)
    let sam = try part.phone(of: "sam")
    let asked = try part.ask(service, requester: "frodo")
    #expect(try part.list(frodo).array("items").isEmpty)
    #expect(try part.vote(frodo, on: asked).code == .notFound)
    #expect(try part.vote(sam, on: asked)["state"] == "approved")
    try part.setPolicy(#"{"DEFAULT":{"bar_requester":false}}"#)
    #expect(try part.vote(frodo, on: part.ask(service, requester: "frodo"))["state"] == "approved")
  }

  private static func asked(for subject: String) -> String {
    #"{"operation":"mud.kick","target":{},"text":"Kick","subject":"\#(subject)"}"#
  }

  /// Over the socket he is a number to the gate; his phone is that of somebody with his account's name.
  @Test func aUserOfTheHostWhoApprovesHimself() throws {
    let part = try ApprovalPart()
    let frodo = try part.phone(of: "frodo")
    func ask(_ name: AccountName, uid: UInt32 = 1000) throws -> Answer {
      try part.order("approvals-request", Self.asked(for: "frodo"), uid: uid, name: name)
    }
    #expect(try ask(.named("frodo")).code == .noDevice)
    #expect(try ask(.named("sam")).code == nil)
    // Where nobody can say who he is, he may be anybody.
    let refused = try ask(.unknown)
    #expect(refused.code == .policyRefused && refused.step == "approval_user_name")
    #expect(try ask(.nameless, uid: 1001).code == nil)
    _ = try part.phone(of: "uid:1002")
    #expect(
      try part.order("approvals-request", Self.asked(for: "uid:1002"), uid: 1002).code == .noDevice)

    // Nor is he among others, as long as it is open.
    try part.setPolicy(#"{"DEFAULT":{"approvers":["frodo","sam"]}}"#)
    let sam = try part.phone(of: "sam")
    let asked = try ask(.named("frodo"), uid: 1003)
    #expect(try !part.list(frodo).array("items").contains { $0.object?["id"]?.string == asked.id })
    #expect(try part.vote(frodo, on: asked).code == .notFound)
    #expect(try part.vote(sam, on: asked)["state"] == "approved")

    try part.setPolicy(#"{"DEFAULT":{"bar_requester":false}}"#)
    #expect(try part.vote(frodo, on: ask(.named("frodo"), uid: 1004))["state"] == "approved")
    #expect(try ask(.unknown, uid: 1005).code == nil)
    try part.setPolicy(#"{"DEFAULT":{"factors":["operator"]}}"#)
    #expect(try ask(.unknown, uid: 1006).code == nil)
  }

  /// A service may call him by his number or by his account: what he has asked for, another operator confirms.
  @Test(arguments: ["uid:501", "boss"]) func anOperatorWhoAsksThroughAService(requester: String) throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"factors":["operator"]}}"#)
    part.settings.approvalOperatorNames = [501: "boss"]
    let service = try part.service()
    let asked = try part.ask(service, requester: requester)
    let id = #"{"id":"\#(asked.id)"}"#
    #expect(try part.order("approvals-look", id, uid: 501)["own_word"] == "own_request")
    #expect(try part.order("approvals-approve", id, uid: 501).code == .policyRefused)
    #expect(try part.order("approvals-approve", id, uid: 502)["state"] == "approved")
    // Nor does he lift what was said of him.
    let bar = #"{"service":"mud","requester":"\#(requester)","subject":"frodo"}"#
    #expect(try part.order("bars-lift", bar, uid: 501).code == .policyRefused)
    #expect(try part.order("bars-lift", bar, uid: 502).code == .notFound)
    part.settings.approvalOperators = [501]
    #expect(try part.ask(service, requester: requester).code == .noDevice)
    #expect(try part.ask(service, requester: "other").code == nil)
  }

  @Test func levelsAndKeysThatAreNotEnough() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"level":"hardware_attested"}}"#)
    let service = try part.service()
    let weak = try part.phone(of: "frodo")
    #expect(try part.ask(service).code == .noDevice)
    let strong = try part.phone(of: "frodo", level: .hardwareAttested)
    let asked = try part.ask(service)
    // It may see it, and not decide it.
    #expect(try part.list(weak).array("items").count == 1)
    #expect(try part.vote(weak, on: asked).code == .levelTooLow)
    #expect(try part.vote(strong, on: asked)["state"] == "approved")
  }

  /// A vote under keys that were well attested, and then others in their place.
  @Test func aLevelThatIsLostBeforeTheQuorum() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"quorum":2}}"#)
    let service = try part.service()
    let (one, two, three) = (
      try part.phone(of: "frodo"), try part.phone(of: "frodo"), try part.phone(of: "frodo")
    )
    let asked = try part.ask(service)
    #expect(try part.vote(one, on: asked).integer("votes_needed") == 1)
    var record = try #require(try part.store.device(one.id))
    record.level = .bare
    try part.store.update(record)
    #expect(try part.vote(two, on: asked).integer("votes_needed") == 1)
    record.level = .appAttested
    record.keys = try Phone.make().keys
    try part.store.update(record)
    #expect(try part.vote(three, on: asked)["state"] == "approved")
  }

  @Test func clocksThatAreApart() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    for skew: Int64 in [-301, 301] {
      let asked = try part.ask(service)
      let refused = try part.vote(
        phone, on: asked, forge: { $0.issuedAt = $0.issuedAt + skew },
        send: { $0.issuedAt = $0.issuedAt + skew })
      #expect(refused.code == .clockSkewed && refused.refusal?.time == part.now)
      let late = skew < 0 ? skew + 1 : skew - 1
      #expect(
        try part.vote(
          phone, on: asked, forge: { $0.issuedAt = $0.issuedAt + late },
          send: { $0.issuedAt = $0.issuedAt + late })["state"] == "approved")
    }
  }

  // MARK: What is shown

  /// The text is the service's, the operation and target are what counts: both are in what is signed, and a lease is
  /// good for that operation alone.
  @Test func aTextThatSaysOneThingOverAnOperationThatSaysAnother() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":5}}}"#)
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let asked = try part.ask(
      service, operation: "mud.delete", text: "Change the colour", #","lease":{"ttl_s":60,"uses":5}"#)
    _ = try part.vote(phone, on: asked)
    let result = try part.show(asked.id, service)
    let bytes = try #require(result["summary"].flatMap { Base64.decode(Array($0.utf8).span) })
    let summary = try Summary(canonical: bytes.span)
    #expect(summary.operation == "mud.delete" && summary.text == "Change the colour")
    let lease = try #require(result.lease)
    #expect(try part.use(lease, service, as: "1", operation: "mud.colour").code == .leaseMismatch)
    #expect(
      try part.use(lease, service, as: "1", operation: "mud.delete", target: "{}").code == .leaseMismatch)
    #expect(try part.use(lease, service, as: "1", operation: "mud.delete").integer("uses_left") == 4)
  }

  @Test(arguments: [
    "\u{202E}", "\u{200B}", "\u{2066}", "\u{FEFF}", "\u{7}", "\u{85}", "\u{61C}", "\u{E0041}", "\u{2028}",
  ])
  func charactersThatHideOrTurn(_ character: String) throws {
    let part = try ApprovalPart()
    let service = try part.service()
    _ = try part.phone(of: "frodo")
    let hex = character.utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
    for escaped in character.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) ? [hex, character] : [hex] {
      #expect(try part.ask(service, operation: "a\(escaped)b").code == .badRequest)
      #expect(try part.ask(service, text: "a\(escaped)b").code == .badRequest)
      #expect(try part.ask(service, requester: "a\(escaped)b").code == .badRequest)
      #expect(try part.ask(service, subject: "frodo\(escaped)").code == .badRequest)
      #expect(try part.ask(service, target: #"{"a":"\#(escaped)"}"#).code == .badRequest)
      #expect(try part.ask(service, target: #"{"\#(escaped)":"a"}"#).code == .badRequest)
      #expect(
        try part.ask(service, #","idempotency_key":"\#(escaped)""#).code == .badRequest)
    }
  }

  @Test(arguments: [
    #"{"a":1}"#, #"{"a":null}"#, #"{"a":["b"]}"#, #"{"a":{}}"#, "[]", #"{"a":"b","a":"c"}"#,
    #"{"a":"b","\u0061":"c"}"#,
  ])
  func targetsThatAreNone(_ target: String) throws {
    let part = try ApprovalPart()
    let service = try part.service()
    _ = try part.phone(of: "frodo")
    #expect(try part.ask(service, target: target).code == .badRequest)
  }

  @Test func aSummaryThatIsTooLong() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    _ = try part.phone(of: "frodo")
    #expect(try part.ask(service, text: String(repeating: "x", count: 8192)).code == .badRequest)
    #expect(try part.ask(service, text: String(repeating: "x", count: 7000)).code == nil)
  }

  // MARK: Services

  @Test func anotherServicesAreNotThere() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":5}}}"#)
    let (service, other) = (try part.service(), try part.service("web"))
    let phone = try part.phone(of: "frodo")
    let asked = try part.ask(service, #","lease":{"ttl_s":60,"uses":5}"#)
    let id = asked.id
    #expect(try part.show(id, other).code == .notFound)
    #expect(
      try part.answer(CancelApproval(bearer: other, approval: try approvalID(id))).code == .notFound
    )
    _ = try part.vote(phone, on: asked)
    let lease = try #require(try part.show(id, service).lease)
    #expect(try part.use(lease, other, as: "1").code == .notFound)
    #expect(
      try part.answer(EndLease(bearer: other, lease: try leaseID(lease))).code == .notFound)
  }

  @Test func aServiceNamesItsOwnSubjectsOnly() throws {
    let part = try ApprovalPart()
    let service = try part.service(subjects: "mud-*")
    _ = try part.phone(of: "frodo")
    _ = try part.phone(of: "mud-frodo")
    #expect(try part.ask(service, subject: "frodo").code == .scopeMissing)
    #expect(try part.ask(service, subject: "mud-frodo").code == nil)
  }
}
