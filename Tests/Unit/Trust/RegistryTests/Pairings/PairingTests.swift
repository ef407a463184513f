/// Pairings: the way to an active device, what is said twice, and what ends one.
import Addresses
import Bytes
import DeviceWire
import JSON
import PortcullisProtocol
import Time
import Testing

@testable import Registry

@Suite struct PairingTests {
  @Test func fromTheCodeToTheDevice() throws {
    let part = try PairingPart()
    let uri = try part.open()
    #expect(uri.host == "GATE.EXAMPLE" && uri.port == 443 && uri.serverKeyHash == bytes32(0x51))
    holds(try part.status(uri.pairingID)["status"] == "open")

    let phone = try PairingPhone(uri)
    let answered = try part.answer(phone)
    #expect(answered["server_id"] == part.registry.server.text)
    var device = try part.device(answered)
    #expect(device.state == .pending && device.level == .bare && device.verification == .app)
    let seen = try part.status(uri.pairingID)
    #expect(seen["status"] == "phone" && seen["device_name"] == phone.name && seen["level"] == "bare")

    let waiting = try part.reveal(phone)
    #expect(waiting["status"] == "pending")
    #expect(waiting.value.object?["pins"]?.array?.count == 2)
    holds(try part.status(uri.pairingID)["status"] == "revealed")

    let confirmed = try part.confirm(uri.pairingID, phone.digits)
    #expect(confirmed["status"] == "active" && confirmed["device_id"] == answered["device_id"])
    device = try part.device(answered)
    #expect(device.state == .active && device.subject?.name == "frodo" && device.name?.text == phone.name)
    holds(try part.reveal(phone)["status"] == "active")
    #expect(part.registry.effects.contains(.deviceActive(device.active)))
    #expect(try part.record(uri.pairingID).secret == nil)
  }

  /// Which phone it is that has answered, he sees by its own name; another one may have photographed the code.
  @Test func theOperatorsNameStandsOnceThePhoneIsConfirmed() throws {
    let part = try PairingPart()
    let phone = try part.revealed(name: "Frodo's")
    let seen = try part.status(phone.uri.pairingID)
    #expect(seen["status"] == "revealed" && seen["device_name"] == phone.name)
    let said = try part.confirm(phone.uri.pairingID, phone.digits)
    #expect(said["device_name"] == "Frodo's")
  }

  /// It is active by its evidence before its digits are typed.
  @Test(arguments: [nil, "sam"]) func aPhoneThatIsActiveMeanwhileIsTheSubjects(other: String?) throws {
    let part = try PairingPart()
    let phone = try part.revealed("frodo")
    let id = try #require(try part.record(phone.uri.pairingID).answer).device
    var device = try #require(try part.registry.store.device(id))
    device.state = .active
    device.subject = other.flatMap { Subject($0) }
    try part.registry.store.update(device)
    let said = try part.confirm(phone.uri.pairingID, phone.digits)
    #expect(said["status"] == "active")
    // Whom an operator has named by hand he has named.
    #expect(try part.registry.store.device(id)?.subject?.name == other ?? "frodo")
  }

  /// Whoever confirms a phone by its name has not seen the digits, and may have another one in mind.
  @Test(arguments: [false, true]) func aPhoneInItsPairingIsConfirmedByItsDigitsAlone(revealed: Bool) throws {
    let part = try PairingPart()
    let phone = try PairingPhone(part.open("frodo"))
    #expect(try part.answer(phone).code == nil)
    if revealed { #expect(try part.reveal(phone)["status"] == "pending") }
    let id = try #require(try part.record(phone.uri.pairingID).answer).device
    for subject in [nil, "sam"] {
      let said = try part.confirmDevice(id, subject: subject)
      #expect(said.code == .notPending && said.step == "device_in_pairing")
    }
    #expect(try part.registry.store.device(id)?.state == .pending)
    if !revealed { #expect(try part.reveal(phone)["status"] == "pending") }
    #expect(try part.confirm(phone.uri.pairingID, phone.digits)["status"] == "active")
    #expect(try part.registry.store.device(id)?.subject?.name == "frodo")
    // It is a device like others from then on.
    #expect(try part.confirmDevice(id, subject: "sam").code == nil)
    #expect(try part.registry.store.device(id)?.subject?.name == "sam")
  }

  @Test func aPhoneThatIsRevokedMeanwhileIsNotPaired() throws {
    let part = try PairingPart()
    let phone = try part.revealed()
    let id = try #require(try part.record(phone.uri.pairingID).answer).device
    try part.registry.run(RevokeDevice(id: id), from: PairingPart.operator)
    #expect(try part.confirm(phone.uri.pairingID, phone.digits).code == .pairingRejected)
    #expect(try part.record(phone.uri.pairingID).state == .refused)
    #expect(try part.reveal(phone)["status"] != "active")
    #expect(try part.registry.store.device(id)?.state == .revoked)
  }

  @Test func evidenceRaisesTheLevel() throws {
    let part = try PairingPart()
    part.registry.settings.minimumLevel = .appAttested
    let phone = try PairingPhone(part.open())
    holds(try part.answer(phone).code == .levelTooLow)
    let device = try part.device(part.answer(phone, evidence: appKey(1)))
    #expect(device.level == .appAttested && device.attestedKey == appKey(1))
    let other = try PairingPhone(part.open())
    holds(try part.answer(other, evidence: appKey(1)).code == .attestationRejected)
  }

  /// Before anything dear is done about evidence: only what is new, and would be taken without it, is worth a look.
  @Test func whetherEvidenceIsWorthALook() throws {
    let part = try PairingPart()
    let phone = try PairingPhone(part.open())
    #expect(try part.ask(phone) == .permitted)
    #expect(try part.record(phone.uri.pairingID).answer == nil)
    let answered = try part.answer(phone, evidence: appKey(1))
    guard case .answered(let bytes) = try part.ask(phone) else {
      Issue.record("it is judged again")
      return
    }
    #expect(try JSONValue(parsing: bytes.span, depthLimit: 4) == answered.value)
    let other = try PairingPhone(phone.uri)
    #expect(try part.ask(other) == .refused(RegistryRefusal(.pairingRejected, "pairing_used")))
  }

  /// One message, whether its evidence is judged or not, is one of ten.
  @Test func withItsEvidenceItCountsOnce() throws {
    let part = try PairingPart()
    for number in 0..<PairingMemory.answersAMinute {
      let phone = try PairingPhone(part.open())
      #expect(try part.ask(phone) == .permitted)
      #expect(try part.answer(phone, evidence: appKey(UInt64(number))).code == nil)
    }
    guard case .refused(let refusal) = try part.ask(PairingPhone(part.open())) else {
      Issue.record("it is not refused")
      return
    }
    #expect(refusal.code == .rateLimited && refusal.step == "pairing_rate")
  }

  /// The answers were lost.
  @Test func whatIsSaidTwiceIsAnsweredTwice() throws {
    let part = try PairingPart()
    let phone = try PairingPhone(part.open())
    let first = try part.answer(phone)
    let second = try part.answer(phone)
    #expect(first.value == second.value)
    _ = try part.reveal(phone)
    holds(try part.answer(phone).value == first.value)
    holds(try part.reveal(phone)["status"] == "pending")
    let confirmed = try part.confirm(phone.uri.pairingID, phone.digits)
    holds(try part.confirm(phone.uri.pairingID, phone.digits).value == confirmed.value)
    holds(try part.confirm(phone.uri.pairingID, phone.wrongDigits).code == .notPending)
    holds(try part.answer(phone).code == .pairingRejected)
    #expect(try part.registry.store.count(.active) == 1)
  }

  /// A photographed code: whoever answers first has the pairing, and only the phone in the operator's hand has its digits.
  @Test func aSecondPhoneIsTurnedAway() throws {
    let part = try PairingPart()
    let thief = try PairingPhone(part.open())
    let owner = try PairingPhone(thief.uri)
    holds(try part.answer(thief).code == nil)
    let late = try part.answer(owner)
    #expect(late.code == .pairingRejected && late.step == "pairing_used")
    holds(try part.reveal(owner, bytes32(0x78)).code == .pairingRejected)
  }

  /// A proxy between phone and gate that has seen the code shows each side another value, and the digits differ.
  @Test func aProxyHasOtherDigits() throws {
    let part = try PairingPart()
    let proxy = try part.revealed()
    let phone = try PairingPhone(proxy.uri)
    phone.s = bytes32(0x0A)
    #expect(try phone.digits != proxy.digits)
    holds(try part.confirm(proxy.uri.pairingID, phone.digits).code == .codeRejected)
  }

  @Test func fiveWrongMACsBurnIt() throws {
    let part = try PairingPart()
    let phone = try PairingPhone(part.open())
    for _ in 1...4 {
      let said = try part.answer(phone) { $0["mac"] = bytes32(1).hex }
      #expect(said.code == .pairingRejected && said.step == "pairing_mac")
    }
    #expect(try part.record(phone.uri.pairingID).state == .open)
    holds(try part.answer(phone) { $0["mac"] = bytes32(1).hex }.code == .pairingRejected)
    #expect(try part.record(phone.uri.pairingID).state == .refused)
    let said = try part.answer(phone)
    #expect(said.code == .pairingRejected && said.step == "pairing_ended")
  }

  @Test func threeWrongDigitsBurnIt() throws {
    let part = try PairingPart()
    let phone = try part.revealed()
    let id = phone.uri.pairingID
    for _ in 1...2 { holds(try part.confirm(id, phone.wrongDigits).code == .codeRejected) }
    holds(try part.confirm(id, phone.wrongDigits).code == .pairingRejected)
    holds(try part.confirm(id, phone.digits).code == .pairingRejected)
    holds(try part.reveal(phone)["status"] == "refused")
    // The phone is forgotten, and its keys may come again.
    #expect(try part.registry.store.count(.pending) == 0)
    holds(try part.answer(PairingPhone(part.open(), phone.phone)).code == nil)
  }

  @Test func nothingIsConfirmedBeforeTheReveal() throws {
    let part = try PairingPart()
    let phone = try PairingPhone(part.open())
    holds(try part.confirm(phone.uri.pairingID, "000000").code == .notPending)
    _ = try part.answer(phone)
    holds(try part.confirm(phone.uri.pairingID, "000000").code == .notPending)
    holds(try part.reveal(phone, bytes32(0x78)).code == .pairingRejected)
    #expect(try part.record(phone.uri.pairingID).wrongDigits == 0)
  }

  @Test(arguments: 0...2) func fiveMinutesEndIt(stage: Int) throws {
    let part = try PairingPart()
    let phone = try PairingPhone(part.open())
    if stage > 0 { _ = try part.answer(phone) }
    if stage > 1 { _ = try part.reveal(phone) }
    part.pass(299)
    holds(try part.status(phone.uri.pairingID)["status"] != "refused")
    part.pass(1)
    switch stage {
    case 0: holds(try part.answer(phone).code == .pairingRejected)
    case 1: holds(try part.reveal(phone)["status"] == "refused")
    default: holds(try part.confirm(phone.uri.pairingID, phone.digits).code == .pairingRejected)
    }
    #expect(try part.record(phone.uri.pairingID).state == .refused)
    #expect(try part.registry.store.count(.pending) == 0)
  }

  @Test func theOperatorGivesUp() throws {
    let part = try PairingPart()
    let phone = try part.revealed()
    holds(try part.burn(phone.uri.pairingID)["status"] == "refused")
    holds(try part.confirm(phone.uri.pairingID, phone.digits).code == .pairingRejected)
    #expect(part.registry.effects.contains(.wake(.pairing(phone.uri.pairingID))))
    let other = try part.revealed()
    _ = try part.confirm(other.uri.pairingID, other.digits)
    holds(try part.burn(other.uri.pairingID)["status"] == "active")
  }

  @Test func unknownOnesAreAllTheSame() throws {
    let part = try PairingPart()
    let phone = try PairingPhone(part.open())
    phone.uri = try #require(
      PairingURI(
        pairingID: PairingID(random: KernelEntropy()), secret: phone.uri.secret,
        serverKeyHash: phone.uri.serverKeyHash, host: "h", port: 1))
    holds(try part.answer(phone).code == .pairingRejected)
    holds(try part.reveal(phone).code == .pairingRejected)
    holds(try part.status(phone.uri.pairingID).code == .notFound)
    holds(try part.confirm(phone.uri.pairingID, "000000").code == .notFound)
  }

  @Test func tenAnswersAMinute() throws {
    let part = try PairingPart()
    let phone = try PairingPhone(part.open())
    for _ in 1...10 { holds(try part.answer(phone).code == nil) }
    let said = try part.answer(phone)
    #expect(said.code == .rateLimited && said.retryAfter != nil)
    holds(try part.answer(phone, from: .address(IPAddress(v4: 0x0A00_0002))).code == nil)
    part.pass(60)
    holds(try part.answer(phone).code == nil)
    for number in 1...10 as ClosedRange<UInt64> {
      holds(try part.answer(phone, from: .address(IPAddress(v6: 7, number))).code == nil)
    }
    holds(try part.answer(phone, from: .address(IPAddress(v6: 7, 99))).code == .rateLimited)
  }

  // MARK: What is signed

  @Test func eachKeySigns() throws {
    let part = try PairingPart()
    let phone = try PairingPhone(part.open())
    let other = try PairingPhone(phone.uri)
    for name in ["signature", "approval_signature"] {
      let said = try part.answer(phone) { body in body[name] = try other.body()[name] }
      #expect(said.code == .signatureRejected, "\(name)")
    }
    // None of that has cost a try, or made a device.
    #expect(try part.record(phone.uri.pairingID).wrongMACs == 0)
    #expect(try part.registry.store.count(.pending) == 0)
    holds(try part.answer(phone).code == nil)
  }

  @Test(arguments: ["device_name", "commit", "device_pubkey"]) func theMACCoversAll(name: String) throws {
    let part = try PairingPart()
    let phone = try PairingPhone(part.open())
    let other = try TestPhone()
    let key = TestPhone.text(try other.keys.device.spki)
    let said = try part.answer(phone) { body in
      body[name] = ["device_name": "another", "commit": bytes32(3).hex, "device_pubkey": key][name]
    }
    #expect(said.step == "pairing_mac")
  }

  @Test(arguments: [
    "device_pubkey", "device_name", "commit", "mac", "signature", "approval_signature", "approval_pubkey",
  ])
  func membersAreNeeded(name: String) throws {
    let part = try PairingPart()
    let phone = try PairingPhone(part.open())
    #expect(throws: FormError.self) { try part.answer(phone) { $0[name] = nil } }
    #expect(throws: FormError.self) { try part.answer(phone) { $0[name] = "\u{202E}" } }
  }

  @Test func aPhoneWithoutApprovalKeyHasNoVote() throws {
    let part = try PairingPart()
    let phone = try PairingPhone(part.open(), TestPhone(hasApprovalKey: false))
    #expect(try part.device(part.answer(phone)).verification == .none)
  }

  // MARK: Keys that are known

  @Test func aPhoneThatHasEnrolledIsTheSame() throws {
    let part = try PairingPart()
    let devices = DevicePart(part.registry)
    let enrolled = try TestPhone()
    _ = try devices.enroll(enrolled)
    let phone = try PairingPhone(part.open(), enrolled)
    holds(try part.answer(phone).code == nil)
    #expect(try part.registry.store.count(.pending) == 1)
  }

  @Test func anActivePhoneIsNotPairedAgain() throws {
    let part = try PairingPart()
    let devices = DevicePart(part.registry)
    let active = try devices.activePhone("sam")
    let phone = try PairingPhone(part.open(), active)
    holds(try part.answer(phone).code == .keyKnown)
    _ = try devices.revoke(active)
    holds(try part.answer(phone).code == .deviceRevoked)
  }

  @Test func aSubjectHasRoomForFive() throws {
    let part = try PairingPart()
    part.registry.settings.devicesPerSubject = 1
    let first = try part.revealed()
    holds(try part.confirm(first.uri.pairingID, first.digits)["status"] == "active")
    let second = try part.revealed()
    holds(try part.confirm(second.uri.pairingID, second.digits).code == .tooManyOpen)
    #expect(try part.record(second.uri.pairingID).state == .revealed)
  }

  // MARK: Waiting

  @Test func whoWaitsIsWoken() throws {
    let part = try PairingPart()
    let phone = try PairingPhone(part.open())
    let id = phone.uri.pairingID
    _ = try part.answer(phone)
    let watch = try part.registry.run(
      PairingStatus(id, of: .host), from: PairingPart.operator, wait: .seconds(25))
    guard case .wait(.pairing(id), .process(1), _) = watch else { throw FormError("\(watch)") }
    let poll = try part.registry.run(
      RevealPairing(id, r: phone.r), from: PairingPart.home, wait: .seconds(25))
    guard case .wait(.pairing(id), .pairing(id), otherwise: .answered(let bytes)) = poll else {
      throw FormError("\(poll)")
    }
    #expect(try JSONValue(parsing: bytes.span, depthLimit: 4).object?["status"]?.string == "pending")
    let seen = try Said(
      part.registry.run(PairingStatus(id, of: .host), from: PairingPart.operator, wait: .seconds(25)))
    #expect(seen["status"] == "revealed")
    _ = try part.confirm(id, phone.digits)
    let told = try Said(
      part.registry.run(RevealPairing(id, r: phone.r), from: PairingPart.home, wait: .seconds(25)))
    #expect(told["status"] == "active")
  }

  // MARK: Time

  @Test func upkeepEndsWhatIsLate() throws {
    let part = try PairingPart()
    let phone = try part.revealed()
    let upkeep = UpkeepCall()
    _ = try part.registry.run(upkeep, from: .gate)
    #expect(try part.record(phone.uri.pairingID).state == .revealed)
    part.pass(300)
    _ = try part.registry.run(upkeep, from: .gate)
    #expect(try part.record(phone.uri.pairingID).state == .refused)
    #expect(try part.registry.store.count(.pending) == 0)
    part.pass(30 * 86_400 + 1)
    _ = try part.registry.run(upkeep, from: .gate)
    #expect(try part.registry.store.pairing(phone.uri.pairingID) == nil)
  }

  @Test func whoIsForgottenLeavesNoPairing() throws {
    let part = try PairingPart()
    let devices = DevicePart(part.registry)
    let done = try part.revealed("merry")
    _ = try part.confirm(done.uri.pairingID, done.digits)
    let open = try part.revealed("merry")
    let other = try part.revealed("pippin")
    let paired = try #require(try part.record(other.uri.pairingID).answer?.device)
    _ = try part.confirm(other.uri.pairingID, other.digits)
    holds(try devices.order("devices-forget", #"{"subject":"merry"}"#).code == nil)
    for phone in [done, open] {
      #expect(try part.registry.store.pairing(phone.uri.pairingID) == nil)
      holds(try part.reveal(phone).code == .pairingRejected)
    }
    #expect(try part.registry.store.count(.pending) == 0)
    holds(try devices.order("devices-forget", #"{"id":"\#(paired.text)"}"#).code == nil)
    #expect(try part.registry.store.pairing(other.uri.pairingID) == nil)
  }

  @Test func allAreEndedWhereTimeIsUncertain() throws {
    let part = try PairingPart()
    let phones = try (0..<70).map { _ in try part.open() }
    _ = try part.registry.run(UpkeepCall(endsAll: true), from: .gate)
    for uri in phones { #expect(try part.record(uri.pairingID).state == .refused) }
  }

  @Test func thereIsABoundOfOpenOnes() throws {
    let part = try PairingPart()
    for _ in 0..<PairingRecord.openLimit { _ = try part.open() }
    let said = try Said(part.registry.run(OpenPairing(subject: nil, name: nil), from: PairingPart.operator))
    #expect(said.code == .tooManyOpen)
    part.pass(300)
    _ = try part.registry.run(UpkeepCall(), from: .gate)
    _ = try part.registry.run(UpkeepCall(), from: .gate)
    _ = try part.open()
  }

  @Test(
    arguments: [
      ("https://gate.example", "gate.example", 443), ("https://gate.example:8443", "gate.example", 8443),
      ("https://gate.example/", "gate.example", 443), ("https://[2001:db8::1]:8443", "2001:db8::1", 8443),
      ("https://[::1]", "::1", 443), ("https://10.0.0.1:1", "10.0.0.1", 1),
    ] as [(String, String, UInt16)])
  func addressesOfURLs(url: String, host: String, port: UInt16) throws {
    let address = try #require(PublicAddress(url))
    #expect(address.host == host && address.port == port)
  }

  @Test(arguments: [
    "http://gate.example", "https://", "https://:1", "https://h:70000", "https://[::1", "https://h:",
  ])
  func otherURLs(url: String) {
    #expect(PublicAddress(url) == nil)
  }
}

/// The part's upkeep, run as a call is.
private struct UpkeepCall: RegistryCall {
  var endsAll = false

  func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    if endsAll {
      try PairingUpkeep().endAll(&transaction)
    } else {
      _ = try PairingUpkeep().tend(&transaction)
    }
    return .reply(.answered([]))
  }
}
