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
    _ name: String, in room: PairingRoom, scopes: String = #"["pairings"]"#, subjects: String = "*"
  ) throws -> String {
    let arguments = Array(#"{"name":"\#(name)","scopes":\#(scopes),"subjects":"\#(subjects)"}"#.utf8)
    let object = try #require(try JSONValue(parsing: arguments.span, depthLimit: 4).object)
    let call = try OperatorOrder.call("services-add", object)
    return try #require(try Said(room.registry.run(call, from: PairingRoom.operator))["token"])
  }

  private func open(_ body: String, by token: String, in room: PairingRoom) throws -> Said {
    let bytes = Array(body.utf8)
    let form = try Form(body: bytes.span, checkedBy: P256Verifier())
    return try Said(room.registry.run(OpenPairing(form: form, token: token), from: PairingRoom.home))
  }

  private func status(_ id: PairingID, by token: String, in room: PairingRoom) throws -> Said {
    try Said(room.registry.run(PairingStatus(id, of: .service(token)), from: PairingRoom.home))
  }

  private func confirm(
    _ id: PairingID, _ digits: String, by token: String, in room: PairingRoom
  ) throws -> Said {
    let bytes = Array(#"{"sas":"\#(digits)"}"#.utf8)
    let form = try Form(body: bytes.span, checkedBy: P256Verifier())
    return try Said(room.registry.run(ConfirmPairing(id, form: form, token: token), from: PairingRoom.home))
  }

  @Test func aServicePairsItsOwn() throws {
    let room = try PairingRoom()
    let token = try service("web", in: room)
    let opened = try open(#"{"subject":"merry","name":"Merry's"}"#, by: token, in: room)
    let phone = try PairingPhone(#require(opened["uri"].flatMap { PairingURI($0) }))
    let id = phone.uri.pairingID
    holds(try status(id, by: token, in: room)["status"] == "open")
    _ = try room.answer(phone)
    _ = try room.reveal(phone)
    let said = try confirm(id, phone.digits, by: token, in: room)
    #expect(said["status"] == "active" && said["device_name"] == "Merry's")
    #expect(try room.device(said).subject?.name == "merry")
    // The host sees all.
    holds(try room.status(id)["status"] == "active")
  }

  @Test func anothersIsNotThere() throws {
    let room = try PairingRoom()
    let owner = try service("web", in: room)
    let other = try service("wiki", in: room)
    let opened = try open(#"{"subject":"merry"}"#, by: owner, in: room)
    let phone = try PairingPhone(#require(opened["uri"].flatMap { PairingURI($0) }))
    let id = phone.uri.pairingID
    _ = try room.answer(phone)
    _ = try room.reveal(phone)
    holds(try status(id, by: other, in: room).code == .notFound)
    holds(try confirm(id, phone.digits, by: other, in: room).code == .notFound)
    let hosts = try room.revealed()
    holds(try status(hosts.uri.pairingID, by: owner, in: room).code == .notFound)
    holds(try confirm(hosts.uri.pairingID, hosts.digits, by: owner, in: room).code == .notFound)
  }

  @Test func scopeAndSubjectsBoundIt() throws {
    let room = try PairingRoom()
    let bounded = try service("web", in: room, subjects: "web-*")
    holds(try open(#"{"subject":"merry"}"#, by: bounded, in: room).code == .scopeMissing)
    holds(try open(#"{"subject":"web-merry"}"#, by: bounded, in: room).code == nil)
    let reader = try service("reader", in: room, scopes: #"["devices.read"]"#)
    holds(try open(#"{"subject":"merry"}"#, by: reader, in: room).code == .scopeMissing)
    holds(try open(#"{"subject":"merry"}"#, by: "nobody", in: room).code == .tokenRejected)
    #expect(throws: FormError.self) { try open("{}", by: bounded, in: room) }
    #expect(throws: FormError.self) { try open(#"{"subject":""}"#, by: bounded, in: room) }
  }

  @Test func aRevokedOnesPairingsEnd() throws {
    let room = try PairingRoom()
    let token = try service("web", in: room)
    let opened = try open(#"{"subject":"merry"}"#, by: token, in: room)
    let phone = try PairingPhone(#require(opened["uri"].flatMap { PairingURI($0) }))
    _ = try room.answer(phone)
    let kept = try room.open()
    let arguments = Array(#"{"name":"web"}"#.utf8)
    let object = try #require(try JSONValue(parsing: arguments.span, depthLimit: 4).object)
    _ = try room.registry.run(OperatorOrder.call("services-revoke", object), from: PairingRoom.operator)
    holds(try room.reveal(phone)["status"] == "refused")
    #expect(try room.registry.store.count(.pending) == 0)
    holds(try room.status(kept.pairingID)["status"] == "open")
  }

  @Test func ordersOfOperators() throws {
    let room = try PairingRoom()
    func order(_ verb: String, _ arguments: String) throws -> Said {
      let bytes = Array(arguments.utf8)
      let object = try #require(try JSONValue(parsing: bytes.span, depthLimit: 4).object)
      return try Said(room.registry.run(OperatorOrder.call(verb, object), from: PairingRoom.operator))
    }
    let opened = try order("pair-open", #"{"subject":"sam","name":"Sam's"}"#)
    let phone = try PairingPhone(#require(opened["uri"].flatMap { PairingURI($0) }))
    let id = #""pairing_id":"\#(phone.uri.pairingID.text)""#
    _ = try room.answer(phone)
    _ = try room.reveal(phone)
    holds(try order("pair-status", "{\(id),\"wait\":25}")["status"] == "revealed")
    holds(try order("pair-confirm", "{\(id),\"sas\":\"\(phone.wrongDigits)\"}").code == .codeRejected)
    holds(try order("pair-confirm", "{\(id),\"sas\":\"\(phone.digits)\"}")["status"] == "active")
    let other = try order("pair-open", "{}")
    holds(try order("pair-burn", #"{"pairing_id":"\#(other["pairing_id"] ?? "")"}"#)["status"] == "refused")
    for (verb, arguments) in [
      ("pair-open", #"{"subject":""}"#), ("pair-open", #"{"device":"x"}"#), ("pair-status", "{}"),
      ("pair-confirm", "{\(id),\"sas\":\"12345\"}"), ("pair-burn", #"{"pairing_id":"x"}"#),
    ] {
      #expect(throws: OperatorOrder.Refusal.self, "\(verb) \(arguments)") { try order(verb, arguments) }
    }
  }
}
