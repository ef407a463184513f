/// Services that pair their own people: what each may open, see and confirm.
import Bytes
import Crypto
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing

@testable import Registry

@Suite struct ServicePairingTests {
  private func service(
    _ name: String, in part: PairingPart, scopes: String = #"["pairings"]"#, subjects: String = "*"
  ) throws -> String {
    let arguments = Array(#"{"name":"\#(name)","scopes":\#(scopes),"subjects":"\#(subjects)"}"#.utf8)
    let object = try #require(try JSONValue(parsing: arguments.span, depthLimit: 4).object)
    let call = try OperatorOrder.call("services-add", object)
    return try #require(try Said(part.registry.run(call, from: PairingPart.operator))["token"])
  }

  private func open(_ body: String, by token: String, in part: PairingPart) throws -> Said {
    let bytes = Array(body.utf8)
    let form = try Form(body: bytes.span, checkedBy: P256Verifier())
    return try Said(part.registry.run(OpenPairing(form: form, token: token), from: PairingPart.home))
  }

  private func status(_ id: PairingID, by token: String, in part: PairingPart) throws -> Said {
    try Said(part.registry.run(PairingStatus(id, of: .service(token)), from: PairingPart.home))
  }

  private func confirm(
    _ id: PairingID, _ digits: String, by token: String, in part: PairingPart
  ) throws -> Said {
    let bytes = Array(#"{"sas":"\#(digits)"}"#.utf8)
    let form = try Form(body: bytes.span, checkedBy: P256Verifier())
    return try Said(part.registry.run(ConfirmPairing(id, form: form, token: token), from: PairingPart.home))
  }

  @Test func aServicePairsItsOwn() throws {
    let part = try PairingPart()
    let token = try service("web", in: part)
    let opened = try open(#"{"subject":"merry","name":"Merry's"}"#, by: token, in: part)
    let phone = try PairingPhone(#require(opened["uri"].flatMap { PairingURI($0) }))
    let id = phone.uri.pairingID
    holds(try status(id, by: token, in: part)["status"] == "open")
    _ = try part.answer(phone)
    _ = try part.reveal(phone)
    let said = try confirm(id, phone.digits, by: token, in: part)
    #expect(said["status"] == "active" && said["device_name"] == "Merry's")
    #expect(try part.device(said).subject?.name == "merry")
    // The host sees all.
    holds(try part.status(id)["status"] == "active")
  }

  @Test func anothersIsNotThere() throws {
    let part = try PairingPart()
    let owner = try service("web", in: part)
    let other = try service("wiki", in: part)
    let opened = try open(#"{"subject":"merry"}"#, by: owner, in: part)
    let phone = try PairingPhone(#require(opened["uri"].flatMap { PairingURI($0) }))
    let id = phone.uri.pairingID
    _ = try part.answer(phone)
    _ = try part.reveal(phone)
    holds(try status(id, by: other, in: part).code == .notFound)
    holds(try confirm(id, phone.digits, by: other, in: part).code == .notFound)
    let hosts = try part.revealed()
    holds(try status(hosts.uri.pairingID, by: owner, in: part).code == .notFound)
    holds(try confirm(hosts.uri.pairingID, hosts.digits, by: owner, in: part).code == .notFound)
  }

  @Test func scopeAndSubjectsBoundIt() throws {
    let part = try PairingPart()
    let bounded = try service("web", in: part, subjects: "web-*")
    holds(try open(#"{"subject":"merry"}"#, by: bounded, in: part).code == .scopeMissing)
    holds(try open(#"{"subject":"web-merry"}"#, by: bounded, in: part).code == nil)
    let reader = try service("reader", in: part, scopes: #"["devices.read"]"#)
    holds(try open(#"{"subject":"merry"}"#, by: reader, in: part).code == .scopeMissing)
    holds(try open(#"{"subject":"merry"}"#, by: "nobody", in: part).code == .tokenRejected)
    #expect(throws: FormError.self) { try open("{}", by: bounded, in: part) }
    #expect(throws: FormError.self) { try open(#"{"subject":""}"#, by: bounded, in: part) }
  }

  @Test func aRevokedOnesPairingsEnd() throws {
    let part = try PairingPart()
    let token = try service("web", in: part)
    let opened = try open(#"{"subject":"merry"}"#, by: token, in: part)
    let phone = try PairingPhone(#require(opened["uri"].flatMap { PairingURI($0) }))
    _ = try part.answer(phone)
    let kept = try part.open()
    let arguments = Array(#"{"name":"web"}"#.utf8)
    let object = try #require(try JSONValue(parsing: arguments.span, depthLimit: 4).object)
    _ = try part.registry.run(OperatorOrder.call("services-revoke", object), from: PairingPart.operator)
    holds(try part.reveal(phone)["status"] == "refused")
    #expect(try part.registry.store.count(.pending) == 0)
    holds(try part.status(kept.pairingID)["status"] == "open")
  }

  @Test func ordersOfOperators() throws {
    let part = try PairingPart()
    func order(_ verb: String, _ arguments: String) throws -> Said {
      let bytes = Array(arguments.utf8)
      let object = try #require(try JSONValue(parsing: bytes.span, depthLimit: 4).object)
      return try Said(part.registry.run(OperatorOrder.call(verb, object), from: PairingPart.operator))
    }
    let opened = try order("pair-open", #"{"subject":"sam","name":"Sam's"}"#)
    let phone = try PairingPhone(#require(opened["uri"].flatMap { PairingURI($0) }))
    let id = #""pairing_id":"\#(phone.uri.pairingID.text)""#
    _ = try part.answer(phone)
    _ = try part.reveal(phone)
    holds(try order("pair-status", "{\(id),\"wait\":25}")["status"] == "revealed")
    holds(try order("pair-confirm", "{\(id),\"sas\":\"\(phone.wrongDigits)\"}").code == .codeRejected)
    holds(try order("pair-confirm", "{\(id),\"sas\":\"\(phone.digits)\"}")["status"] == "active")
    let other = try order("pair-open", "{}")
    holds(try order("pair-burn", #"{"pairing_id":"\#(other["pairing_id"] ?? "")"}"#)["status"] == "refused")
    for (verb, arguments) in [
      ("pair-open", #"{"subject":""}"#), ("pair-open", #"{"device":"x"}"#), ("pair-status", "{}"),
      ("pair-confirm", "{\(id),\"sas\":\"12345\"}"), ("pair-burn", #"{"pairing_id":"x"}"#),
    ] {
      #expect(throws: FormError.self, "\(verb) \(arguments)") { try order(verb, arguments) }
    }
  }
}
