/// Whoever guesses, forges, replays, or holds a phone that is not what it was.
import ApprovalPolicy
import Bytes
import DeviceWire
import JSON
import PortcullisProtocol
import Time
import Testing

@testable import Registry

@Suite struct CodeAttackTests {
  // MARK: Guesses

  @Test func fiveGuessesEndACode() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let asked = try part.challenge()
    let code = try part.code(phone, asked)
    let wrong = [another(than: code), "", "12345", "1234567", "１２３４５６"]
    for (number, guess) in wrong.enumerated() {
      #expect(try part.verify(asked, guess).code == .codeRejected && part.count() == number + 1)
    }
    // Burnt: the right one is none any more, and nothing is counted.
    #expect(try part.verify(asked, code).code == .codeRejected && part.count() == 5)
    // The person at the phone may ask for another one.
    let next = try part.code(phone, asked)
    for _ in 0..<4 { _ = try part.verify(asked, another(than: next)) }
    #expect(try part.verify(asked, next)["result"] == "pass" && part.count() == 0)
  }

  /// Whoever has a service's token and no phone counts nothing up, and locks nobody out.
  @Test func nobodyIsLockedOutWithoutAPhone() throws {
    let part = try CodePart()
    _ = try part.phone()
    let asked = try part.challenge()
    for number in 0..<300 {
      #expect(try part.verify(asked, String(100_000 + number)).code == .codeRejected)
    }
    #expect(try part.count() == 0 && part.challenge(login: "login-2").code == nil)
  }

  @Test func aHundredGuessesLockTheSubject() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let kept = try part.challenge(login: "kept")
    let good = try part.code(phone, kept)
    for round in 0..<20 {
      let asked = try part.challenge(login: "\(round)")
      let code = try part.code(phone, asked)
      for _ in 0..<5 {
        #expect(try part.verify(asked, another(than: code), login: "\(round)").code == .codeRejected)
      }
      part.part.pass(round == 19 ? 0 : 1)
      if round < 19 { try part.end(asked) }
    }
    #expect(try part.count() == 100)
    // All that was open has ended with it.
    #expect(try part.verify(kept, good, login: "kept").code == .codeRejected)
    #expect(try part.list(phone).array("items").isEmpty)
    #expect(try part.challenge(login: "next").code == .subjectLocked)
    // The phone that is at it learns why, as the service does.
    #expect(try part.issue(phone, kept, nonce: Bytes32()).code == .subjectLocked)
    // Time does not unlock it; an operator does.
    part.part.pass(86_400)
    #expect(try part.challenge(login: "next").code == .subjectLocked)
    #expect(try part.part.order("devices-unlock", #"{"subject":"nobody"}"#).code == .notFound)
    let unlocked = try part.part.order("devices-unlock", #"{"subject":"frodo"}"#)
    #expect(unlocked.integer("wrong_codes") == 100)
    #expect(unlocked.value?.object?["was_locked"]?.boolean == true)
    #expect(try part.part.order("devices-unlock", #"{"subject":"frodo"}"#).integer("wrong_codes") == 0)
    #expect(try part.issue(phone, kept, nonce: Bytes32()).code == .notPending)
    try part.change(phone) { $0.attestedAt = part.part.now }
    let asked = try part.challenge(login: "next")
    #expect(try part.verify(asked, part.code(phone, asked), login: "next")["result"] == "pass")
  }

  @Test func aLockStopsWhatIsOpen() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let asked = try part.challenge()
    let subject = try #require(Subject("frodo"))
    let holder = CodeHolder.subject(subject)
    try part.store.setWrongCodes(WrongCodes(count: 100, lockedAt: part.part.now), of: holder)
    #expect(try part.issue(phone, asked).code == .subjectLocked)
  }

  /// With a challenge that the gate gives to whoever asks.
  @Test func aLoginThatWasTakenFromAPhoneStaysTaken() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let asked = try part.challenge()
    #expect(try part.issue(phone, asked, nonce: Bytes32(words: 1, 1, 1, 1), spent: true).code == nil)
    try part.store.withdrawChallenges(from: phone.id)
    #expect(
      try part.issue(phone, asked, nonce: Bytes32(words: 1, 1, 1, 2), spent: true).code == .notFound)
  }

  // MARK: Forgeries

  @Test func whatIsSigned() throws {
    let part = try CodePart()
    let (phone, other) = (try part.phone(), try part.phone())
    let asked = try part.challenge()
    let forgeries: [(inout SignedIssue) -> Void] = [
      { $0.server = .test(9) }, { $0.device = other.id }, { $0.challenge = .test(9) },
      { $0.nonce = Bytes32() }, { $0.signedAt = $0.signedAt + 1 }, { $0.signals = Array("{}".utf8) },
    ]
    for forge in forgeries {
      #expect(try part.issue(phone, asked, forge: forge).code == .signatureRejected)
    }
    let token = try part.part.token(other)
    #expect(try part.issue(phone, asked, token: token).code == .tokenRejected)
    #expect(try part.issue(phone, asked, token: part.service).code == .tokenRejected)
    // Somebody with the phone's token and a key of his own.
    let thief = try Phone.make()
    let nonce = try part.nonce(phone, asked)
    #expect(
      try part.issue(
        thief, asked, nonce: nonce, token: part.part.token(phone), send: { $0.device = phone.id }
      )
      .code == .signatureRejected)
    let id = try #require(CodeChallengeID(asked["challenge_id"] ?? ""))
    #expect(try part.store.codeChallenge(id)?.code == nil)
  }

  @Test func itsTimeIsNear() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let asked = try part.challenge()
    for seconds: Int64 in [-301, 301] {
      let skewed = try part.issue(
        phone, asked, forge: { $0.signedAt = $0.signedAt + seconds },
        send: { $0.signedAt = $0.signedAt + seconds })
      #expect(skewed.code == .clockSkewed && skewed.refusal?.time == part.part.now)
    }
    for seconds: Int64 in [-300, 300] {
      #expect(
        try part.issue(
          phone, asked, forge: { $0.signedAt = $0.signedAt + seconds },
          send: { $0.signedAt = $0.signedAt + seconds }
        ).code == nil)
    }
  }

  @Test func aNonceIsGoodOnce() throws {
    let part = try CodePart()
    let (phone, other) = (try part.phone(), try part.phone())
    let asked = try part.challenge()
    let nonce = try part.nonce(phone, asked)
    #expect(try part.issue(phone, asked, nonce: part.nonce(other, asked)).code == .nonceInvalid)
    #expect(try part.issue(phone, asked, nonce: nonce).code == nil)
    #expect(try part.issue(phone, asked, nonce: nonce).code == .nonceInvalid)
    #expect(try part.nonce(phone, asked) != nonce)
    // One that was asked for by itself, and spent for this.
    let own = Bytes32(words: 1, 2, 3, 4)
    #expect(try part.issue(phone, asked, nonce: own).code == .nonceInvalid)
    #expect(try part.issue(phone, asked, nonce: own, spent: true).code == nil)
  }

  // MARK: Phones that are not what they were

  @Test func anAttestationThatIsOld() throws {
    let part = try CodePart()
    let phone = try part.phone()
    part.part.pass(600)
    let asked = try part.challenge()
    #expect(try part.issue(phone, asked).code == nil)
    part.part.pass(1)
    // The nonce is good still: the phone attests, and asks again.
    let nonce = try part.nonce(phone, asked)
    let stale = try part.issue(phone, asked, nonce: nonce)
    #expect(stale.code == .attestationStale)
    try part.change(phone) { $0.attestedAt = part.part.now }
    #expect(try part.issue(phone, asked, nonce: nonce).code == nil)
    // What a key has vouched for that was revoked since is not attested, whenever that was.
    try part.change(phone) { $0.level = .bare }
    #expect(try part.issue(phone, asked).code == .attestationStale)
    try part.change(phone) { $0.attestedAt = nil }
    #expect(try part.issue(phone, asked).code == .attestationStale)
  }

  @Test func whatItsClassExpects() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let asked = try part.challenge()
    try part.expect(#""otp_attest_max_age":60"#)
    part.part.pass(61)
    #expect(try part.issue(phone, asked).code == .attestationStale)
    try part.expect(#""otp_attest_max_age":3600,"level":"hardware_attested""#)
    #expect(try part.issue(phone, asked).code == .levelTooLow)
    try part.expect(#""presence":true"#)
    #expect(try part.issue(phone, asked).code == .presenceRequired)
    try part.expect(#""level":"bare""#)
    try part.change(phone) { $0.isRooted = true }
    #expect(try part.issue(phone, asked).code == .levelTooLow)
    try part.change(phone) { $0.isRooted = false }
    part.part.settings.minimumLevel = .hardwareAttested
    #expect(try part.issue(phone, asked).code == .levelTooLow)
  }

  /// An operator has written down why.
  @Test func whatItLacksIsPassedOver() throws {
    let part = try CodePart()
    let phone = try part.phone(level: .bare)
    try part.expect(#""level":"hardware_attested","presence":true"#)
    let asked = try part.challenge()
    let end = UnixTime(milliseconds: part.part.now.milliseconds + 60_000)
    try part.change(phone) { $0.exception = DeviceRecord.Exception(reason: "no BLE", until: end) }
    #expect(try part.issue(phone, asked).code == nil)
    part.part.pass(60)
    #expect(try part.issue(phone, asked).code == .attestationStale)
  }

  /// One that was written down for its radio does not need its key attested less.
  @Test func anExceptionIsFromWhatItNames() throws {
    let part = try CodePart()
    let phone = try part.phone(level: .bare)
    try part.expect(#""level":"hardware_attested","presence":true"#)
    let asked = try part.challenge()
    let end = UnixTime(milliseconds: part.part.now.milliseconds + 60_000)
    func issued(_ lacks: DeviceLacks) throws -> RefusalCode? {
      try part.change(phone) {
        $0.exception = DeviceRecord.Exception(reason: "why", until: end, lacks: lacks)
      }
      return try part.issue(phone, asked).code
    }
    #expect(try issued([.level, .presence]) == .attestationStale)
    #expect(try issued([.attestation, .presence]) == .levelTooLow)
    #expect(try issued([.attestation, .level]) == .presenceRequired)
    #expect(try issued([.attestation, .level, .presence]) == nil)
  }

  @Test func whatARevokedPhoneHasAskedFor() throws {
    let part = try CodePart()
    let (phone, other) = (try part.phone(), try part.phone())
    let asked = try part.challenge()
    let code = try part.code(phone, asked)
    let token = try part.part.token(phone)
    try part.part.revoke(phone)
    #expect(try part.verify(asked, code).code == .codeRejected && part.count() == 0)
    #expect(try part.issue(phone, asked, nonce: Bytes32(), token: token).code == .tokenRejected)
    // The other one answers for it.
    #expect(try part.verify(asked, part.code(other, asked))["result"] == "pass")
    #expect(try part.challenge(#""device_id":"\#(phone.id.text)""#).code == .noDevice)
  }

  @Test func aPhoneThatIsAnothersNow() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let asked = try part.challenge()
    let code = try part.code(phone, asked)
    _ = try part.part.order("devices-assign", #"{"id":"\#(phone.id.text)","subject":"sam"}"#)
    #expect(try part.verify(asked, code).code == .codeRejected)
    #expect(try part.list(phone).array("items").isEmpty)
    #expect(try part.issue(phone, asked, nonce: Bytes32(), spent: true).code == .notFound)
  }

  @Test func aPhoneThatHasOtherKeysNow() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let asked = try part.challenge()
    let code = try part.code(phone, asked)
    let next = try part.part.rotate(phone, vouchedFor: true)
    // It has ended, and so there is nothing that could be tried.
    for guess in [code, another(than: code)] {
      #expect(try part.verify(asked, guess).code == .codeRejected && part.count() == 0)
    }
    // The login is open to the same phone, by its new key.
    #expect(try part.issue(phone, asked).code == .signatureRejected)
    #expect(try part.verify(asked, part.code(next, asked))["result"] == "pass")
  }

  /// What another phone of the subject has asked for is its own affair.
  @Test func anotherPhoneHasOtherKeysNow() throws {
    let part = try CodePart()
    let (phone, other) = (try part.phone(), try part.phone())
    let asked = try part.challenge()
    let code = try part.code(phone, asked)
    _ = try part.part.rotate(other, vouchedFor: true)
    #expect(try part.verify(asked, code)["result"] == "pass")
  }

  @Test func aServiceThatIsRevoked() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let asked = try part.challenge()
    let code = try part.code(phone, asked)
    #expect(try part.part.order("services-revoke", #"{"name":"web"}"#).code == nil)
    #expect(try part.verify(asked, code).code == .tokenRejected)
    #expect(try part.list(phone).array("items").isEmpty)
    #expect(try part.issue(phone, asked, nonce: Bytes32()).code == .notPending)
  }
}

extension CodePart {
  /// Of everybody.
  func expect(_ members: String) throws {
    let bytes = Array(#"{"classes":[{"name":"all","match":{"subject":"*"},\#(members)}]}"#.utf8)
    part.settings.assurance = try AssurancePolicy(parsing: bytes.span)
  }

  /// As its time does.
  func end(_ asked: Answer) throws {
    let id = try #require(CodeChallengeID(asked["challenge_id"] ?? ""))
    var challenge = try #require(try store.codeChallenge(id))
    (challenge.state, challenge.endedAt, challenge.code) = (.expired, part.now, nil)
    try store.update(challenge)
  }
}
