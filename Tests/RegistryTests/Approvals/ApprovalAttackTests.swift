/// What somebody would try: each is refused, and what it was tried on stays as it was.
import ApprovalPolicy
import Bytes
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing

@testable import Registry

@Suite struct ApprovalAttackTests {
  // MARK: An approval used for something else

  /// What the phone has signed is good for one request, device, server, decision, code, summary and time.
  @Test(arguments: [
    "request", "device", "server", "decision", "code", "summary", "issued_at", "expires_at",
  ])
  func aVoteIsGoodForOneThingOnly(_ other: String) throws {
    let room = try ApprovalRoom()
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    let asked = try room.ask(service)
    let id = try asked.approval
    let refused = try room.vote(
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
    let record = try #require(try room.store.approval(id))
    #expect(record.state == .pending)
    #expect(try room.store.votes(on: id).isEmpty)
    // And it has cost nothing: the honest vote counts.
    #expect(try room.vote(phone, on: asked)["state"] == "approved")
  }

  /// The same bytes sent for another request of the same text.
  @Test func aVoteOfOneRequestIsNoneOfAnother() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"match_digits":0}}"#)
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    let first = try room.ask(service)
    let second = try room.ask(service)
    let id = try second.approval
    #expect(try room.vote(phone, on: first, send: { $0.request = id }).code == .signatureRejected)
  }

  @Test func aStolenTokenAloneDecidesNothing() throws {
    let room = try ApprovalRoom()
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    let thief = try room.phone(of: "sauron")
    let asked = try room.ask(service)
    let token = try room.token(phone)
    let code = try #require(asked["match_code"])
    // Signed by another key, in the phone's name.
    let id = phone.id
    let refused = try room.vote(
      thief, on: asked, code: code, token: token, forge: { $0.device = id }, send: { $0.device = id })
    #expect(refused.code == .signatureRejected)
    // In his own name under her token.
    #expect(try room.vote(thief, on: asked, code: code, token: token).code == .tokenRejected)
    #expect(try room.vote(thief, on: asked, code: code).code == .notFound)
  }

  // MARK: Codes

  @Test func wrongCodesByBruteForce() throws {
    let room = try ApprovalRoom()
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    let asked = try room.ask(service)
    let code = try #require(asked["match_code"])
    var tries = 0
    for guess in (0..<100).map({ $0 < 10 ? "0\($0)" : "\($0)" }) where guess != code {
      let refused = try room.vote(phone, on: asked, code: guess)
      if refused.code != .codeRejected {
        #expect(refused.code == .notPending)
        break
      }
      tries += 1
    }
    #expect(tries == 3)
    #expect(try room.show(asked.id, service)["state"] == "denied")
    #expect(try room.vote(phone, on: asked).code == .notPending)
  }

  /// Who cannot sign can neither guess nor use up the tries of who can.
  @Test func onlyAGoodSignatureCountsAsATry() throws {
    let room = try ApprovalRoom()
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    let asked = try room.ask(service)
    let wrong = asked["match_code"] == "11" ? "12" : "11"
    for _ in 0..<10 {
      #expect(
        try room.vote(phone, on: asked, code: wrong, forge: { $0.summaryHash = Bytes32() }).code
          == .signatureRejected)
    }
    #expect(try room.vote(phone, on: asked, code: wrong).code == .codeRejected)
    #expect(try room.vote(phone, on: asked, code: "").code == .codeRejected)
    #expect(try room.vote(phone, on: asked)["state"] == "approved")
  }

  @Test func codesAreEvenlySpread() throws {
    var counts = [Int](repeating: 0, count: 10)
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"match_digits":6}}"#)
    let service = try room.service()
    _ = try room.phone(of: "frodo")
    for _ in 0..<200 {
      let asked = try room.ask(service)
      let code = try #require(asked["match_code"])
      #expect(code.utf8.count == 6)
      for digit in code.utf8 { counts[Int(digit - UInt8(ascii: "0"))] += 1 }
      let id = try asked.approval
      _ = try room.answer(CancelApproval(bearer: service, approval: id))
    }
    // 120 of 1,200 each on average; so far from it once in some hundred thousand runs.
    #expect(counts.allSatisfy { (65...180).contains($0) }, "\(counts)")
  }

  // MARK: Who approves

  @Test func aRequesterWhoApprovesHimself() throws {
    let room = try ApprovalRoom()
    let service = try room.service()
    let frodo = try room.phone(of: "frodo")
    #expect(try room.ask(service, requester: "frodo").code == .noDevice)
    try room.setPolicy(#"{"DEFAULT":{"approvers":["frodo","sam"]}}"#)
    let sam = try room.phone(of: "sam")
    let asked = try room.ask(service, requester: "frodo")
    #expect(try room.list(frodo).array("items").isEmpty)
    #expect(try room.vote(frodo, on: asked).code == .notFound)
    #expect(try room.vote(sam, on: asked)["state"] == "approved")
    try room.setPolicy(#"{"DEFAULT":{"bar_requester":false}}"#)
    #expect(try room.vote(frodo, on: room.ask(service, requester: "frodo"))["state"] == "approved")
  }

  @Test func levelsAndKeysThatAreNotEnough() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"level":"hardware_attested"}}"#)
    let service = try room.service()
    let weak = try room.phone(of: "frodo")
    #expect(try room.ask(service).code == .noDevice)
    let strong = try room.phone(of: "frodo", level: .hardwareAttested)
    let asked = try room.ask(service)
    // It may see it, and not decide it.
    #expect(try room.list(weak).array("items").count == 1)
    #expect(try room.vote(weak, on: asked).code == .levelTooLow)
    #expect(try room.vote(strong, on: asked)["state"] == "approved")
  }

  /// A vote under keys that were well attested, and then others in their place.
  @Test func aLevelThatIsLostBeforeTheQuorum() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"quorum":2}}"#)
    let service = try room.service()
    let (one, two, three) = (
      try room.phone(of: "frodo"), try room.phone(of: "frodo"), try room.phone(of: "frodo")
    )
    let asked = try room.ask(service)
    #expect(try room.vote(one, on: asked).integer("votes_needed") == 1)
    var record = try #require(try room.store.device(one.id))
    record.level = .bare
    try room.store.update(record)
    #expect(try room.vote(two, on: asked).integer("votes_needed") == 1)
    record.level = .appAttested
    record.keys = try Phone.make().keys
    try room.store.update(record)
    #expect(try room.vote(three, on: asked)["state"] == "approved")
  }

  @Test func clocksThatAreApart() throws {
    let room = try ApprovalRoom()
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    for skew: Int64 in [-301, 301] {
      let asked = try room.ask(service)
      let refused = try room.vote(
        phone, on: asked, forge: { $0.issuedAt = $0.issuedAt + skew },
        send: { $0.issuedAt = $0.issuedAt + skew })
      #expect(refused.code == .clockSkewed && refused.refusal?.time == room.now)
      let late = skew < 0 ? skew + 1 : skew - 1
      #expect(
        try room.vote(
          phone, on: asked, forge: { $0.issuedAt = $0.issuedAt + late },
          send: { $0.issuedAt = $0.issuedAt + late })["state"] == "approved")
    }
  }

  // MARK: What is shown

  /// The text is the service's, the operation and target are what counts: both are in what is signed, and a lease is
  /// good for that operation alone.
  @Test func aTextThatSaysOneThingOverAnOperationThatSaysAnother() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":5}}}"#)
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    let asked = try room.ask(
      service, operation: "mud.delete", text: "Change the colour", #","lease":{"ttl_s":60,"uses":5}"#)
    _ = try room.vote(phone, on: asked)
    let result = try room.show(asked.id, service)
    let bytes = try #require(result["summary"].flatMap { Base64.decode(Array($0.utf8).span) })
    let summary = try Summary(canonical: bytes.span)
    #expect(summary.operation == "mud.delete" && summary.text == "Change the colour")
    let lease = try #require(result.lease)
    #expect(try room.use(lease, service, as: "1", operation: "mud.colour").code == .leaseMismatch)
    #expect(
      try room.use(lease, service, as: "1", operation: "mud.delete", target: "{}").code == .leaseMismatch)
    #expect(try room.use(lease, service, as: "1", operation: "mud.delete").integer("uses_left") == 4)
  }

  @Test(arguments: [
    "\u{202E}", "\u{200B}", "\u{2066}", "\u{FEFF}", "\u{7}", "\u{85}", "\u{61C}", "\u{E0041}", "\u{2028}",
  ])
  func charactersThatHideOrTurn(_ character: String) throws {
    let room = try ApprovalRoom()
    let service = try room.service()
    _ = try room.phone(of: "frodo")
    let hex = character.utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
    for escaped in character.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) ? [hex, character] : [hex] {
      #expect(try room.ask(service, operation: "a\(escaped)b").code == .badRequest)
      #expect(try room.ask(service, text: "a\(escaped)b").code == .badRequest)
      #expect(try room.ask(service, requester: "a\(escaped)b").code == .badRequest)
      #expect(try room.ask(service, subject: "frodo\(escaped)").code == .badRequest)
      #expect(try room.ask(service, target: #"{"a":"\#(escaped)"}"#).code == .badRequest)
      #expect(try room.ask(service, target: #"{"\#(escaped)":"a"}"#).code == .badRequest)
      #expect(
        try room.ask(service, #","idempotency_key":"\#(escaped)""#).code == .badRequest)
    }
  }

  @Test(arguments: [
    #"{"a":1}"#, #"{"a":null}"#, #"{"a":["b"]}"#, #"{"a":{}}"#, "[]", #"{"a":"b","a":"c"}"#,
    #"{"a":"b","\u0061":"c"}"#,
  ])
  func targetsThatAreNone(_ target: String) throws {
    let room = try ApprovalRoom()
    let service = try room.service()
    _ = try room.phone(of: "frodo")
    #expect(try room.ask(service, target: target).code == .badRequest)
  }

  @Test func aSummaryThatIsTooLong() throws {
    let room = try ApprovalRoom()
    let service = try room.service()
    _ = try room.phone(of: "frodo")
    #expect(try room.ask(service, text: String(repeating: "x", count: 8192)).code == .badRequest)
    #expect(try room.ask(service, text: String(repeating: "x", count: 7000)).code == nil)
  }

  // MARK: Services

  @Test func anotherServicesAreNotThere() throws {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":5}}}"#)
    let (service, other) = (try room.service(), try room.service("web"))
    let phone = try room.phone(of: "frodo")
    let asked = try room.ask(service, #","lease":{"ttl_s":60,"uses":5}"#)
    let id = asked.id
    #expect(try room.show(id, other).code == .notFound)
    #expect(
      try room.answer(CancelApproval(bearer: other, approval: try approvalID(id))).code == .notFound
    )
    _ = try room.vote(phone, on: asked)
    let lease = try #require(try room.show(id, service).lease)
    #expect(try room.use(lease, other, as: "1").code == .notFound)
    #expect(
      try room.answer(EndLease(bearer: other, lease: try leaseID(lease))).code == .notFound)
  }

  @Test func aServiceNamesItsOwnSubjectsOnly() throws {
    let room = try ApprovalRoom()
    let service = try room.service(subjects: "mud-*")
    _ = try room.phone(of: "frodo")
    _ = try room.phone(of: "mud-frodo")
    #expect(try room.ask(service, subject: "frodo").code == .scopeMissing)
    #expect(try room.ask(service, subject: "mud-frodo").code == nil)
  }
}
