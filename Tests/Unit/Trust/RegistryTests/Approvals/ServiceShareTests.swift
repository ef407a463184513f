/// What one service takes of a phone and of the store, so that no other is kept out by it, and what its reports lead to.
import ApprovalPolicy
import Bytes
import Crypto
import DeviceWire
import JSON
import PortcullisProtocol
import SQL
import SQLite
import System
import Testing

@testable import Registry

@Suite struct ServiceShareTests {
  private struct Tend: RegistryCall {
    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      _ = try ApprovalUpkeep().tend(&transaction)
      return .reply(.answered([]))
    }
  }

  /// For pages that have their ids; one that is revoked keeps its name.
  @Test func servicesAreCalledByTheirNames() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    _ = try part.phone(of: "frodo")
    let asked = try part.ask(service)
    #expect(try part.order("services-revoke", #"{"name":"mud"}"#).code == nil)
    let found = try part.answer(NameServices(askingFor: [approvalID(asked.id)]))
    #expect(found.object("askers")?[asked.id]?.string == "mud")
    #expect(found.object("names")?.members.map(\.value.string) == ["mud"])
  }

  // MARK: Places of a phone

  /// Whatever it calls those who ask.
  @Test func aServiceHasTwoPlacesOfAPhone() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    for number in 0..<2 { #expect(try part.ask(service, requester: "r\(number)").code == nil) }
    let third = try part.ask(service, requester: "r2")
    #expect(third.code == .tooManyOpen && third.step == "approval_open_of_service")
    #expect(try part.list(phone).array("items").count == 2)
    // Another phone of his has part, and is asked alone.
    let other = try part.phone(of: "frodo")
    #expect(try part.ask(service, requester: "r2").code == nil)
    #expect(try part.list(phone).array("items").count == 2 && part.list(other).array("items").count == 1)
  }

  /// Five places are all services' together, and whoever has none of them gets one all the same.
  @Test func servicesTogetherKeepNoneOut() throws {
    let part = try ApprovalPart()
    let phone = try part.phone(of: "frodo")
    let services = try (0..<5).map { try part.service("s\($0)") }
    for service in services[..<3] {
      for number in 0..<2 { _ = try part.ask(service, requester: "r\(number)") }
    }
    // Two, two, and one: the second of the third finds five.
    #expect(try part.list(phone).array("items").count == 5)
    let sixth = try part.ask(services[2], requester: "r9")
    #expect(sixth.code == .tooManyOpen && sixth.step == "approval_open_for_device")
    #expect(try part.ask(services[3]).code == nil && part.ask(services[4]).code == nil)
    #expect(try part.ask(services[4], requester: "r1").step == "approval_open_for_device")
  }

  /// The kernel says who they are: one has no part in another's share.
  @Test func usersOfTheHostHaveSharesOfTheirOwn() throws {
    let part = try ApprovalPart()
    _ = try part.phone(of: "frodo")
    func ask(_ user: UInt32) throws -> Answer {
      try part.order(
        "approvals-request", #"{"operation":"x","target":{},"text":"x","subject":"frodo"}"#, uid: user,
        name: .named("user\(user)"))
    }
    for user in [1000, 1000, 1001, 1001] as [UInt32] { #expect(try ask(user).code == nil) }
    #expect(try ask(1001).code == .tooManyOpen)
    #expect(try ask(1002).code == nil)
  }

  // MARK: Reports

  /// A name that looks the same is the same: a blank, a full-width digit, a letter of another script.
  @Test(arguments: ["nag1", "nag1 ", " nag 1", "NAG1", "n\u{0430}g1", "nag\u{FF11}"])
  func aReportBarsWhoeverLooksAlike(_ requester: String) throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    _ = try part.vote(phone, on: try part.ask(service, requester: "nag1"), .report)
    let again = try part.ask(service, requester: requester)
    #expect(again.code == .requesterBarred && again.step == "approval_bar")
    #expect(try part.ask(service, requester: "nag2").code == nil)
  }

  @Test func threeReportsBarTheServiceForTheSubject() throws {
    let part = try ApprovalPart()
    let (service, other) = (try part.service(), try part.service("web"))
    let (frodo, sam) = (try part.phone(of: "frodo"), try part.phone(of: "sam"))
    for number in 0..<3 {
      let asked = try part.ask(service, requester: "nag\(number)")
      #expect(asked.code == nil)
      _ = try part.vote(frodo, on: asked, .report)
    }
    #expect(part.effects.contains(.serviceBarred("mud", reports: 3)))
    let refused = try part.ask(service, requester: "somebody")
    #expect(refused.code == .requesterBarred && refused.step == "approval_bar_of_service")
    #expect(try part.ask(other).code == nil && part.ask(service, subject: "sam").code == nil)
    #expect(try part.list(sam).array("items").count == 1)
    // The operator sees it, lifts it, and the reports are forgiven with it; those whom they were about stay barred.
    let listed = try part.order("services-list").value?.array?.first?.object
    #expect(listed?["barred_for"]?.integer == 1)
    let bars = try part.order("bars-list").value?.array?.compactMap(\.object) ?? []
    #expect(bars.count == 4 && bars.filter { $0["requester"] == nil }.count == 1)
    let events = try part.events()
    #expect(events.count { $0 == "service_barred" } == 1 && events.count { $0 == "requester_barred" } == 3)
    let lifted = try part.order("bars-lift", #"{"service":"mud","subject":"frodo"}"#)
    #expect(lifted.code == nil)
    #expect(try part.order("bars-lift", #"{"service":"mud","subject":"frodo"}"#).code == .notFound)
    #expect(try part.ask(service, requester: "nag1").step == "approval_bar")
    let asked = try part.ask(service, requester: "nag9")
    _ = try part.vote(frodo, on: asked, .report)
    #expect(try part.ask(service, requester: "somebody").code == nil)
  }

  @Test func reportsOfLongAgoCountNoMore() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    for number in 0..<4 {
      _ = try part.vote(phone, on: try part.ask(service, requester: "nag\(number)"), .report)
      part.pass(ApprovalLimits.reportsCount / 2 + 1)
    }
    #expect(try part.ask(service, requester: "somebody").code == nil)
  }

  /// However his name is written.
  @Test(arguments: ["frodo", "Frodo", "frodo ", "fr\u{043E}do"]) func nobodyDecidesForHimself(_ name: String)
    throws
  {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"approvers":["frodo"]}}"#)
    let service = try part.service()
    _ = try part.phone(of: "frodo")
    let asked = try part.ask(service, subject: "sam", requester: name)
    #expect(asked.code == .noDevice && asked.step == "approval_requester_alone")
  }

  /// One code, and a step for each cause.
  @Test func whyNobodyCouldApproveIt() throws {
    let part = try ApprovalPart(
      policy: #"{"rules":[{"match":{"operation":"two"},"quorum":2}],"DEFAULT":{}}"#)
    let service = try part.service()
    #expect(try part.ask(service).step == "approval_devices")
    let phone = try part.phone(of: "frodo", level: .bare)
    #expect(try part.ask(service).step == "approval_devices_level")
    try part.revoke(phone)
    _ = try part.phone(of: "frodo")
    #expect(try part.ask(service, operation: "two").step == "approval_devices_quorum")
    #expect(try part.ask(service, requester: "frodo").step == "approval_requester_alone")
    #expect(try part.ask(service, #","lease":{"ttl_s":1,"uses":1}"#).step == "approval_lease")
    try part.setPolicy(#"{"rules":[]}"#)
    #expect(try part.ask(service).step == "approval_policy")
  }

  // MARK: What stays

  /// Asked for and taken back, again and again: what is open at once bounds nothing of it.
  @Test func aServiceFillsNoDisk() throws {
    let part = try ApprovalPart()
    part.settings.serviceBytesPerDay = 1 << 20
    let (service, other) = (try part.service(), try part.service("web"))
    _ = try part.phone(of: "frodo")
    let text = String(repeating: "x", count: 7000)
    func round() throws -> Answer {
      let asked = try part.ask(service, text: text)
      if asked.code == nil { _ = try part.answer(CancelApproval(bearer: service, approval: asked.approval)) }
      return asked
    }
    var rounds = 0
    while try round().code == nil { rounds += 1 }
    // 7.3 KB of summary and 2 KiB of rows each.
    #expect((100...120).contains(rounds))
    let refused = try round()
    #expect(refused.code == .quotaExceeded && refused.step == "service_bytes_per_day")
    let wait = try #require(refused.refusal?.retryAfter)
    #expect(wait > .zero && wait < .seconds(900))
    // Of what it takes the audit has two rows a request, and nothing of the refusals.
    let bytes = try part.store.count("SELECT sum(length(summary)) FROM approvals")
    #expect(bytes < 1 << 20)
    let rows = try part.store.count("SELECT count(*) FROM audit")
    #expect(rows == 2 + 2 * rounds)
    #expect(try part.ask(other).code == nil)
    part.now = part.now.adding(wait)
    #expect(try round().code == nil)
    #expect(try round().code == .quotaExceeded)
    part.pass(86_400)
    #expect(try round().code == nil)
  }

  @Test func loginsAndPairingsCountAsWell() throws {
    let code = try CodePart()
    code.part.settings.serviceBytesPerDay = 3 * ServiceQuota.rowBytes
    _ = try code.phone()
    let first = try code.challenge(text: String(repeating: "x", count: 1000))
    #expect(first["challenge_id"] != nil)
    #expect(try code.challenge(login: "login-2", text: "x").code == nil)
    #expect(try code.challenge(login: "login-3", text: "x").code == .quotaExceeded)
    let opener = try code.part.service("door", scope: "pairings")
    code.part.settings.pins = [PublicKeyPin(Bytes32(words: 1, 2, 3, 4))]
    func open() throws -> Answer {
      try code.part.answer(OpenPairing(form: code.part.form(#"{"subject":"sam"}"#), token: opener))
    }
    for _ in 0..<3 { #expect(try open().code == nil) }
    #expect(try open().code == .quotaExceeded)
  }

  /// What votes are signed for can still be told, and the audit is whole.
  @Test func aDayAfterItsEndARequestHasNoTexts() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let asked = try part.ask(service, text: "SECRETTEXT")
    let open = try part.ask(service, requester: "other", text: "SECRETTEXT")
    _ = try part.vote(phone, on: asked)
    let hash = try #require(try part.store.approval(asked.approval)).summaryHash
    part.pass(300)
    _ = try part.answer(Tend())
    part.pass(86_400 - 300)
    _ = try part.answer(Tend())
    #expect(try part.show(asked.id, service)["summary"] != nil)
    part.pass(1)
    _ = try part.answer(Tend())
    let shown = try part.show(asked.id, service)
    #expect(shown["summary"] == nil && shown["summary_hash"] == hash.hex && shown.array("votes").count == 1)
    // It ended five minutes later.
    #expect(try part.show(open.id, service)["summary"] != nil)
    part.pass(300)
    _ = try part.answer(Tend())
    #expect(try part.show(open.id, service)["summary_hash"] != nil)
    #expect(try part.store.count("SELECT count(*) FROM approvals WHERE length(summary) > 0") == 0)
    let listed = try part.order("approvals-list").value?.array?.compactMap(\.object) ?? []
    #expect(listed.map { $0["operation"]?.string } == ["mud.promote", "mud.promote"])
    #expect(try part.order("audit-verify")["fault"] == nil)
    // Nothing is left to be shortened, and the rest goes with the retention.
    part.pass(30 * 86_400)
    _ = try part.answer(Tend())
    #expect(try part.store.count("SELECT count(*) FROM approvals") == 0)
  }

  @Test func aLeasesLastWordIsSaidAgain() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"lease":{"ttl_s":60,"uses":3}}}"#)
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let (_, lease) = try part.leased(service, [phone])
    #expect(try part.use(lease, service, as: "1").integer("uses_left") == 2)
    part.pass(2 * 86_400)
    _ = try part.answer(Tend())
    #expect(try part.use(lease, service, as: "1").integer("uses_left") == 2)
    #expect(try part.use(lease, service, as: "2").code == .leaseEnded)
    #expect(try part.use(lease, service, as: "1", operation: "mud.kick").code == .leaseMismatch)
  }

  // MARK: Names

  @Test func namesOfServicesDifferForTheEye() throws {
    let part = try ApprovalPart()
    _ = try part.service("mud1")
    for name in ["Mud1", "mudl", "MUD1"] {
      let said = try part.order("services-add", #"{"name":"\#(name)","scopes":["codes"]}"#)
      #expect(said.step == "service_name_alike", "\(name)")
      #expect(said.refusal?.says?.contains("mud1") == true)
    }
    let taken = try part.order("services-add", #"{"name":"mud1","scopes":["codes"]}"#)
    #expect(
      taken.refusal?.says
        == "there is a service mud1 already: `portcullis services rotate mud1` gives it a new token")
    _ = try part.order("services-revoke", #"{"name":"mud1"}"#)
    #expect(try part.order("services-add", #"{"name":"Mud1","scopes":["codes"]}"#).code == nil)
  }

  /// What a phone would show and nobody see, by the member that holds it.
  @Test(arguments: ["\u{00AD}", "\u{3164}", "\u{FE00}", "\u{FE0F}", "\u{E0100}", "\u{FFF9}"])
  func invisibleCharactersAreRefused(_ hidden: String) throws {
    func member(_ body: String) -> String? {
      let bytes = Array(body.utf8)
      do throws(FormError) {
        _ = try ApprovalRequest(form: Form(body: bytes.span, checkedBy: .init()))
      } catch { return "\(error.step) \(error.member ?? "")" }
      return nil
    }
    func body(_ operation: String = "o", _ target: String = "t", _ text: String = "t", _ name: String = "n")
      -> String
    {
      #"{"operation":"\#(operation)","target":{"a":"\#(target)"},"text":"\#(text)","#
        + #""requester":{"id":"r","name":"\#(name)"}}"#
    }
    #expect(member(body()) == nil)
    #expect(member(body("o", "ad\(hidden)min")) == "summary_character target")
    #expect(member(body("o", "t", "ad\(hidden)min")) == "summary_character text")
    #expect(member(body("o", "t", "t", "ad\(hidden)min")) == "summary_character requester")
    #expect(member(body("o\(hidden)")) == "operation operation")
    #expect(Subject("ad\(hidden)min") == nil && Subject(stored: "ad\(hidden)min") != nil)
    #expect(member(body("o", "t", "\u{2764}\u{FE0F}")) == nil)
  }
}

extension ApprovalPart {
  /// The words of all rows of the audit.
  fileprivate func events() throws -> [String] {
    try store.auditRows(after: 0, limit: 1000).compactMap { row in
      guard case .text(let text, _) = row.content else { return nil }
      return (try? JSONValue(parsing: text.span, depthLimit: 4))?.object?["event"]?.string
    }
  }
}
