/// What the console counts in its menu: requests that take an operator's word, and phones that show their digits.
import DeviceWire
import System
import Testing
import Time

@testable import Registry

@Suite struct WaitingForOperatorsTests {
  private static let stepUp = #"""
    {"DEFAULT":{},
     "rules":[{"match":{"operation":"mud.kick"},"factors":["operator"]},
              {"match":{"operation":"mud.ban"},"factors":["operator"]}]}
    """#

  private func queue(_ outcome: Outcome) throws -> OperatorsQueue {
    guard case .reply(.value(let answer)) = outcome else { throw FormError("no value") }
    return try #require(answer as? OperatorsQueue)
  }

  @Test func requestsThatTakeAnOperatorUntilOneHasSpoken() throws {
    let part = try ApprovalPart(policy: Self.stepUp)
    let service = try part.service()
    _ = try part.phone(of: "frodo")
    let first = try part.ask(service, operation: "mud.kick")
    #expect(try part.ask(service, operation: "mud.promote").code == nil)
    let waits = try queue(part.run(WaitingForOperators())).requests
    #expect(waits.map(\.id.text) == [first.id] && waits.first?.operation == "mud.kick")
    #expect(waits.first?.text?.isEmpty == false)
    #expect(try part.order("approvals-deny", #"{"id":"\#(first.id)"}"#)["state"] == "denied")
    #expect(try queue(part.run(WaitingForOperators())).requests.isEmpty)
    let second = try part.ask(service, operation: "mud.ban")
    #expect(try queue(part.run(WaitingForOperators())).requests.map(\.id.text) == [second.id])
    // Nobody has ended it yet, and nobody can answer it any more.
    part.pass(3600)
    #expect(try queue(part.run(WaitingForOperators())).requests.isEmpty)
  }

  @Test func phonesThatShowTheirDigits() throws {
    let part = try PairingPart()
    func phones() throws -> [OperatorsQueue.Phone] {
      try queue(part.registry.run(WaitingForOperators())).phones
    }
    let phone = try PairingPhone(part.open("frodo"))
    #expect(try part.answer(phone).code == nil && phones().isEmpty)
    #expect(try part.reveal(phone)["status"] == "pending")
    let waiting = try phones()
    #expect(waiting.count == 1 && waiting.first?.subject?.name == "frodo")
    #expect(waiting.first?.name?.text == phone.name && waiting.first?.device != nil)
    #expect(try part.confirm(phone.uri.pairingID, phone.digits)["status"] == "active" && phones().isEmpty)
  }
}

@Suite struct LookAtPairingTests {
  private func look(_ part: PairingPart, _ id: PairingID) throws -> PairingLook {
    guard
      case .reply(.value(let answer)) = try part.registry.run(
        LookAtPairing(id: id), from: PairingPart.operator)
    else { throw FormError("no value") }
    return try #require(answer as? PairingLook)
  }

  /// As long as it is of use: then it is gone from the page, and from the store.
  @Test func theCodeIsTheSameUntilAPhoneHasAnswered() throws {
    let part = try PairingPart()
    let uri = try part.open("frodo")
    let opened = try look(part, uri.pairingID)
    #expect(opened.uri?.text == uri.text && uri.text.hasPrefix("PORTCULLIS:"))
    #expect(!String(decoding: opened.json, as: UTF8.self).contains("PORTCULLIS:"))
    let phone = try PairingPhone(uri)
    _ = try part.answer(phone)
    let answered = try look(part, uri.pairingID)
    #expect(answered.uri == nil && answered.device?.name?.text == phone.name)
    #expect(answered.pairing.state == .answered && answered.triesLeft == 3)
    _ = try part.reveal(phone)
    _ = try part.confirm(uri.pairingID, phone.digits == "000000" ? "000001" : "000000")
    #expect(try look(part, uri.pairingID).triesLeft == 2)
    _ = try part.burn(uri.pairingID)
    let ended = try look(part, uri.pairingID)
    #expect(ended.pairing.state == .refused && ended.device == nil && ended.uri == nil)
  }
}
