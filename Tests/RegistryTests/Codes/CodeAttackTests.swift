/// Whoever guesses, forges, replays, or holds a phone that is not what it was.
import ApprovalPolicy
import Bytes
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing

@testable import Registry

@Suite struct CodeAttackTests {
  // MARK: Guesses

  @Test func fiveGuessesEndACode() throws {
    let room = try CodeRoom()
    let phone = try room.phone()
    let asked = try room.challenge()
    let code = try room.code(phone, asked)
    let wrong = [another(than: code), "", "12345", "1234567", "１２３４５６"]
    for (number, guess) in wrong.enumerated() {
      #expect(try room.verify(asked, guess).code == .codeRejected && room.count() == number + 1)
    }
    // Burnt: the right one is none any more, and nothing is counted.
    #expect(try room.verify(asked, code).code == .codeRejected && room.count() == 5)
    // The person at the phone may ask for another one.
    let next = try room.code(phone, asked)
    for _ in 0..<4 { _ = try room.verify(asked, another(than: next)) }
    #expect(try room.verify(asked, next)["result"] == "pass" && room.count() == 0)
  }

  /// Whoever has a service's token and no phone counts nothing up, and locks nobody out.
  @Test func nobodyIsLockedOutWithoutAPhone() throws {
    let room = try CodeRoom()
    _ = try room.phone()
    let asked = try room.challenge()
    for number in 0..<300 {
      #expect(try room.verify(asked, String(100_000 + number)).code == .codeRejected)
    }
    #expect(try room.count() == 0 && room.challenge(login: "login-2").code == nil)
  }

  @Test func aHundredGuessesLockTheSubject() throws {
    let room = try CodeRoom()
    let phone = try room.phone()
    let kept = try room.challenge(login: "kept")
    let good = try room.code(phone, kept)
    for round in 0..<20 {
      let asked = try room.challenge(login: "\(round)")
      let code = try room.code(phone, asked)
      for _ in 0..<5 {
        #expect(try room.verify(asked, another(than: code), login: "\(round)").code == .codeRejected)
      }
      room.room.pass(round == 19 ? 0 : 1)
      if round < 19 { try room.end(asked) }
    }
    #expect(try room.count() == 100)
    // All that was open has ended with it.
    #expect(try room.verify(kept, good, login: "kept").code == .codeRejected)
    #expect(try room.list(phone).array("items").isEmpty)
    #expect(try room.challenge(login: "next").code == .subjectLocked)
    // The phone that is at it learns why, as the service does.
    #expect(try room.issue(phone, kept, nonce: Bytes32()).code == .subjectLocked)
    // Time does not unlock it; an operator does.
    room.room.pass(86_400)
    #expect(try room.challenge(login: "next").code == .subjectLocked)
    #expect(try room.room.order("devices-unlock", #"{"subject":"nobody"}"#).code == .notFound)
    let unlocked = try room.room.order("devices-unlock", #"{"subject":"frodo"}"#)
    #expect(unlocked.integer("wrong_codes") == 100)
    #expect(unlocked.value?.object?["was_locked"]?.boolean == true)
    #expect(try room.room.order("devices-unlock", #"{"subject":"frodo"}"#).integer("wrong_codes") == 0)
    #expect(try room.issue(phone, kept, nonce: Bytes32()).code == .notPending)
    try room.change(phone) { $0.attestedAt = room.room.now }
    let asked = try room.challenge(login: "next")
    #expect(try room.verify(asked, room.code(phone, asked), login: "next")["result"] == "pass")
  }

  @Test func aLockStopsWhatIsOpen() throws {
    let room = try CodeRoom()
    let phone = try room.phone()
    let asked = try room.challenge()
    let subject = try #require(Subject("frodo"))
    let holder = CodeHolder.subject(subject)
    try room.store.setWrongCodes(WrongCodes(count: 100, lockedAt: room.room.now), of: holder)
    #expect(try room.issue(phone, asked).code == .subjectLocked)
  }

  /// With a challenge that the gate gives to whoever asks.
  @Test func aLoginThatWasTakenFromAPhoneStaysTaken() throws {
    let room = try CodeRoom()
    let phone = try room.phone()
    let asked = try room.challenge()
    #expect(try room.issue(phone, asked, nonce: Bytes32(words: 1, 1, 1, 1), spent: true).code == nil)
    try room.store.withdrawChallenges(from: phone.id)
    #expect(
      try room.issue(phone, asked, nonce: Bytes32(words: 1, 1, 1, 2), spent: true).code == .notFound)
  }

  // MARK: Forgeries

  @Test func whatIsSigned() throws {
    let room = try CodeRoom()
    let (phone, other) = (try room.phone(), try room.phone())
    let asked = try room.challenge()
    let forgeries: [(inout SignedIssue) -> Void] = [
      { $0.server = .test(9) }, { $0.device = other.id }, { $0.challenge = .test(9) },
      { $0.nonce = Bytes32() }, { $0.signedAt = $0.signedAt + 1 }, { $0.signals = Array("{}".utf8) },
    ]
    for forge in forgeries {
      #expect(try room.issue(phone, asked, forge: forge).code == .signatureRejected)
    }
    let token = try room.room.token(other)
    #expect(try room.issue(phone, asked, token: token).code == .tokenRejected)
    #expect(try room.issue(phone, asked, token: room.service).code == .tokenRejected)
    // Somebody with the phone's token and a key of his own.
    let thief = try Phone.make()
    let nonce = try room.nonce(phone, asked)
    #expect(
      try room.issue(
        thief, asked, nonce: nonce, token: room.room.token(phone), send: { $0.device = phone.id }
      )
      .code == .signatureRejected)
    let id = try #require(CodeChallengeID(asked["challenge_id"] ?? ""))
    #expect(try room.store.codeChallenge(id)?.code == nil)
  }

  @Test func itsTimeIsNear() throws {
    let room = try CodeRoom()
    let phone = try room.phone()
    let asked = try room.challenge()
    for seconds: Int64 in [-301, 301] {
      let skewed = try room.issue(
        phone, asked, forge: { $0.signedAt = $0.signedAt + seconds },
        send: { $0.signedAt = $0.signedAt + seconds })
      #expect(skewed.code == .clockSkewed && skewed.refusal?.time == room.room.now)
    }
    for seconds: Int64 in [-300, 300] {
      #expect(
        try room.issue(
          phone, asked, forge: { $0.signedAt = $0.signedAt + seconds },
          send: { $0.signedAt = $0.signedAt + seconds }
        ).code == nil)
    }
  }

  @Test func aNonceIsGoodOnce() throws {
    let room = try CodeRoom()
    let (phone, other) = (try room.phone(), try room.phone())
    let asked = try room.challenge()
    let nonce = try room.nonce(phone, asked)
    #expect(try room.issue(phone, asked, nonce: room.nonce(other, asked)).code == .nonceInvalid)
    #expect(try room.issue(phone, asked, nonce: nonce).code == nil)
    #expect(try room.issue(phone, asked, nonce: nonce).code == .nonceInvalid)
    #expect(try room.nonce(phone, asked) != nonce)
    // One that was asked for by itself, and spent for this.
    let own = Bytes32(words: 1, 2, 3, 4)
    #expect(try room.issue(phone, asked, nonce: own).code == .nonceInvalid)
    #expect(try room.issue(phone, asked, nonce: own, spent: true).code == nil)
  }

  // MARK: Phones that are not what they were

  @Test func anAttestationThatIsOld() throws {
    let room = try CodeRoom()
    let phone = try room.phone()
    room.room.pass(600)
    let asked = try room.challenge()
    #expect(try room.issue(phone, asked).code == nil)
    room.room.pass(1)
    // The nonce is good still: the phone attests, and asks again.
    let nonce = try room.nonce(phone, asked)
    let stale = try room.issue(phone, asked, nonce: nonce)
    #expect(stale.code == .attestationStale)
    try room.change(phone) { $0.attestedAt = room.room.now }
    #expect(try room.issue(phone, asked, nonce: nonce).code == nil)
    // What a key has vouched for that was revoked since is not attested, whenever that was.
    try room.change(phone) { $0.level = .bare }
    #expect(try room.issue(phone, asked).code == .attestationStale)
    try room.change(phone) { $0.attestedAt = nil }
    #expect(try room.issue(phone, asked).code == .attestationStale)
  }

  @Test func whatItsClassExpects() throws {
    let room = try CodeRoom()
    let phone = try room.phone()
    let asked = try room.challenge()
    try room.expect(#""otp_attest_max_age":60"#)
    room.room.pass(61)
    #expect(try room.issue(phone, asked).code == .attestationStale)
    try room.expect(#""otp_attest_max_age":3600,"level":"hardware_attested""#)
    #expect(try room.issue(phone, asked).code == .levelTooLow)
    try room.expect(#""presence":true"#)
    #expect(try room.issue(phone, asked).code == .presenceRequired)
    try room.expect(#""level":"bare""#)
    try room.change(phone) { $0.isRooted = true }
    #expect(try room.issue(phone, asked).code == .levelTooLow)
    try room.change(phone) { $0.isRooted = false }
    room.room.settings.minimumLevel = .hardwareAttested
    #expect(try room.issue(phone, asked).code == .levelTooLow)
  }

  /// An operator has written down why.
  @Test func whatItLacksIsPassedOver() throws {
    let room = try CodeRoom()
    let phone = try room.phone(level: .bare)
    try room.expect(#""level":"hardware_attested","presence":true"#)
    let asked = try room.challenge()
    let end = UnixTime(milliseconds: room.room.now.milliseconds + 60_000)
    try room.change(phone) { $0.exception = DeviceRecord.Exception(reason: "no BLE", until: end) }
    #expect(try room.issue(phone, asked).code == nil)
    room.room.pass(60)
    #expect(try room.issue(phone, asked).code == .attestationStale)
  }

  /// One that was written down for its radio does not need its key attested less.
  @Test func anExceptionIsFromWhatItNames() throws {
    let room = try CodeRoom()
    let phone = try room.phone(level: .bare)
    try room.expect(#""level":"hardware_attested","presence":true"#)
    let asked = try room.challenge()
    let end = UnixTime(milliseconds: room.room.now.milliseconds + 60_000)
    func issued(_ lacks: DeviceLacks) throws -> RefusalCode? {
      try room.change(phone) {
        $0.exception = DeviceRecord.Exception(reason: "why", until: end, lacks: lacks)
      }
      return try room.issue(phone, asked).code
    }
    #expect(try issued([.level, .presence]) == .attestationStale)
    #expect(try issued([.attestation, .presence]) == .levelTooLow)
    #expect(try issued([.attestation, .level]) == .presenceRequired)
    #expect(try issued([.attestation, .level, .presence]) == nil)
  }

  @Test func whatARevokedPhoneHasAskedFor() throws {
    let room = try CodeRoom()
    let (phone, other) = (try room.phone(), try room.phone())
    let asked = try room.challenge()
    let code = try room.code(phone, asked)
    let token = try room.room.token(phone)
    try room.room.revoke(phone)
    #expect(try room.verify(asked, code).code == .codeRejected && room.count() == 0)
    #expect(try room.issue(phone, asked, nonce: Bytes32(), token: token).code == .tokenRejected)
    // The other one answers for it.
    #expect(try room.verify(asked, room.code(other, asked))["result"] == "pass")
    #expect(try room.challenge(#""device_id":"\#(phone.id.text)""#).code == .noDevice)
  }

  @Test func aPhoneThatIsAnothersNow() throws {
    let room = try CodeRoom()
    let phone = try room.phone()
    let asked = try room.challenge()
    let code = try room.code(phone, asked)
    _ = try room.room.order("devices-assign", #"{"id":"\#(phone.id.text)","subject":"sam"}"#)
    #expect(try room.verify(asked, code).code == .codeRejected)
    #expect(try room.list(phone).array("items").isEmpty)
    #expect(try room.issue(phone, asked, nonce: Bytes32(), spent: true).code == .notFound)
  }

  @Test func aPhoneThatHasOtherKeysNow() throws {
    let room = try CodeRoom()
    let phone = try room.phone()
    let asked = try room.challenge()
    let code = try room.code(phone, asked)
    let keys = try Phone.make().keys
    try room.change(phone) { $0.keys = keys }
    #expect(try room.verify(asked, code).code == .codeRejected)
  }

  @Test func aServiceThatIsRevoked() throws {
    let room = try CodeRoom()
    let phone = try room.phone()
    let asked = try room.challenge()
    let code = try room.code(phone, asked)
    #expect(try room.room.order("services-revoke", #"{"name":"web"}"#).code == nil)
    #expect(try room.verify(asked, code).code == .tokenRejected)
    #expect(try room.list(phone).array("items").isEmpty)
    #expect(try room.issue(phone, asked, nonce: Bytes32()).code == .notPending)
  }
}

extension CodeRoom {
  /// Of everybody.
  func expect(_ members: String) throws {
    let bytes = Array(#"{"classes":[{"name":"all","match":{"subject":"*"},\#(members)}]}"#.utf8)
    room.settings.assurance = try AssurancePolicy(parsing: bytes.span)
  }

  /// As its time does.
  func end(_ asked: Answer) throws {
    let id = try #require(CodeChallengeID(asked["challenge_id"] ?? ""))
    var challenge = try #require(try store.codeChallenge(id))
    (challenge.state, challenge.endedAt, challenge.code) = (.expired, room.now, nil)
    try store.update(challenge)
  }
}
