/// What becomes of an app's key when Apple or the gate fails: each error in each call, at a first start, in play and with kills.
import Testing
import PortcullisTesting

@testable import PortcullisClient

@Suite struct KeyMachineTests {
  enum Start: CaseIterable, Sendable {
    case first, inPlay, killed
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let call: KeyMachine.Call
    let code: Int
    let start: Start
    var testDescription: String { "\(call.rawValue) \(code) \(start)" }

    static let all = [KeyMachine.Call.generateKey, .attestKey, .generateAssertion].flatMap { call in
      (0...4).flatMap { code in Start.allCases.map { Case(call: call, code: code, start: $0) } }
    }
  }

  /// The call fails for twenty hours: so many keys, so many hashes, and how it ends.
  @Test(arguments: Case.all) func eachErrorThatGoesOn(_ one: Case) throws {
    // In play there is a key that works, until the call that fails is needed.
    var world = one.start == .inPlay ? KeyWorld.registered : KeyWorld()
    if one.start == .inPlay {
      #expect(world.attempt() == .asserted)
      if one.call != .generateAssertion { world.refuse(99) }
    }
    world.failures = [one.call: one.code]
    let outcome = try world.settle(kills: one.start == .killed)
    let isKilled = one.start == .killed
    let kind: GameFailure.Kind? =
      switch outcome {
      case .waits(_, let kind), .ends(let kind): kind
      case .asserted, .refused: nil
      }
    switch (one.call, one.code) {
    case (_, 1):
      #expect(kind == .unsupported)
      #expect(world.count(one.call) == (one.call == .generateAssertion && one.start == .inPlay ? 2 : 1))
      #expect(
        world.keys
          == (one.call == .generateKey || (one.call == .generateAssertion && one.start == .inPlay) ? 0 : 1))
    case (.generateKey, _):
      #expect(world.keys == 0 && kind == .attestation)
      // Pauses of half an hour, and some shorter ones before.
      #expect((40...70).contains(world.count(.generateKey)))
    case (.attestKey, 4):
      #expect(world.keys == 1 && world.hashes.count == 1 && kind == .attestation)
      #expect((40...70).contains(world.count(.attestKey)))
    case (.attestKey, let code):
      // One more key, and with kills, which forget that one was given up, as many as a day has.
      let keys = isKilled ? 3 : one.start == .inPlay ? 1 : 2
      #expect(world.keys == keys && world.hashes.count == keys)
      #expect(world.count(.attestKey) == (code == 0 ? 2 : 1) * keys)
      #expect(kind == (isKilled ? .keyBrake : .attestation))
    case (.generateAssertion, 4):
      #expect(world.keys == (one.start == .inPlay ? 0 : 1) && kind == .attestation)
    case (.generateAssertion, let code):
      let keys = isKilled ? 3 : one.start == .inPlay ? 1 : 2
      #expect(world.keys == keys)
      let asserted = keys + (one.start == .inPlay ? 1 : 0)
      #expect(
        world.count(.generateAssertion) == (code == 3 ? 1 : 2) * asserted + (one.start == .inPlay ? 1 : 0))
      #expect(kind == (isKilled ? .keyBrake : .attestation))
    }
  }

  /// It fails once, and the next time it works: the key that can be kept is kept.
  @Test(arguments: Case.all) func eachErrorThatPasses(_ one: Case) throws {
    var world = one.start == .inPlay && one.call == .generateAssertion ? KeyWorld.registered : KeyWorld()
    world.failures = [one.call: one.code]
    var outcome = world.attempt()
    if one.code == 1 {
      #expect(outcome == .ends(.unsupported))
      return
    }
    // A key that is lost at once is replaced in the same attempt, which fails as well.
    world.failures = [:]
    if one.start == .killed { try world.kill() }
    if case .waits(let until, let kind) = outcome {
      #expect(kind == .attestation)
      world.wall = until ?? world.wall + 1
      outcome = world.attempt()
      #expect(outcome == .asserted)
    }
  }

  /// Six hours without Apple's servers, with a kill each hour: one key, one hash, and at most 24 questions.
  @Test func anOutageOfApples() throws {
    var world = KeyWorld()
    world.failures = [.attestKey: 4]
    let begun = world.wall
    var nextKill = begun + 3_600
    while world.wall < begun + 6 * 3_600 {
      guard case .waits(let until?, .attestation) = world.attempt() else {
        Issue.record("it should wait")
        return
      }
      world.wall = until
      if world.wall > nextKill {
        try world.kill()
        nextKill += 3_600
      }
    }
    #expect(world.count(.attestKey) <= 24 && world.count(.attestKey) >= 12)
    world.failures = [:]
    #expect(world.attempt() == .asserted)
    #expect(world.keys == 1 && world.hashes.count == 1 && world.bodies.count == 1)
  }

  /// A pause ends early when the network changes, but not within a minute of the last question.
  @Test func aLongPauseEndsEarlyButNotAtOnce() throws {
    var world = KeyWorld()
    world.failures = [.attestKey: 4]
    for _ in 0..<6 {
      guard case .waits(let until?, _) = world.attempt() else { return }
      world.wall = until
    }
    guard case .waits(let until?, _) = world.attempt() else { return }
    let asked = world.wall
    #expect(until > asked + 1_000)
    world.wall += 5
    guard case .waits(let sooner?, _) = world.attempt(isHurried: true) else { return }
    #expect(sooner == asked + 60)
    let calls = world.count(.attestKey)
    world.wall = sooner
    world.failures = [:]
    #expect(world.attempt() == .asserted && world.count(.attestKey) == calls + 1)
  }

  /// Whatever the clock says, and whatever was saved: half an hour at most.
  @Test func aClockThatJumpsDoesNotParkAnybody() throws {
    let year = 31_536_000.0
    for jump in [-year, year] {
      var world = KeyWorld()
      world.failures = [.attestKey: 4]
      _ = world.attempt()
      try world.kill()
      world.failures = [:]
      world.wall += jump
      if case .waits(let until?, _) = world.attempt() {
        #expect(until <= world.wall + 1_800)
        world.wall = until
        #expect(world.attempt() == .asserted)
      }
      #expect(world.keys == 1)
    }
  }

  /// A gate of before gives a minute, and a phone whose clock is a year ahead finds each challenge old: one is enough for each.
  @Test(arguments: [(60, 0), (86_400, -31_536_000), (86_400, 31_536_000)])
  func aChallengeThatWasJustGivenIsUsed(seconds: Int, gateIsAhead: Int) {
    var world = KeyWorld()
    world.challengeTime = seconds
    world.gateIsAhead = gateIsAhead
    #expect(world.attempt() == .asserted)
    #expect(world.keys == 1 && world.challenges == 1)
  }

  // MARK: The gate

  /// A lost answer costs no key: the same bytes go out until the gate has answered.
  @Test func aLostAnswerToARegistration() throws {
    var world = KeyWorld()
    world.refusal = .some(nil)
    for _ in 0..<200 {
      #expect(world.attempt() == .refused)
      try world.kill()
    }
    world.refusal = nil
    #expect(world.attempt() == .asserted)
    #expect(world.keys == 1 && world.bodies.count == 1)
  }

  @Test(arguments: [(429, "rate_limited"), (503, "store_unavailable")])
  func aRegistrationThatHasToWait(status: Int, code: String) throws {
    var world = KeyWorld()
    world.refusal = GateRefusal(status: status, code: code)
    for _ in 0..<5 { #expect(world.attempt() == .refused) }
    world.refusal = nil
    #expect(world.attempt() == .asserted && world.keys == 1 && world.bodies.count == 1)
  }

  @Test func aRegistrationThatIsRefused() throws {
    var spent = KeyWorld()
    spent.refusal = GateRefusal(status: 401, code: "nonce_invalid")
    // The key is spent; one more is tried, which is spent as well.
    #expect(spent.attempt() == .ends(.refused) && spent.keys == 2)
    var forbidden = KeyWorld()
    forbidden.refusal = GateRefusal(status: 403, code: "attestation_rejected")
    #expect(forbidden.attempt() == .ends(.refused))
    #expect(forbidden.attempt() == .ends(.refused) && forbidden.keys == 1)
    // The record was dropped: another start tries another key.
    try forbidden.kill()
    forbidden.refusal = nil
    #expect(forbidden.attempt() == .asserted && forbidden.keys == 2)
    var wrong = KeyWorld()
    wrong.refusal = GateRefusal(status: 400, code: "bad_request")
    #expect(wrong.attempt() == .ends(.refused) && wrong.keys == 1)
  }

  /// Two sessions hear that the gate does not know the key: one new key, not two.
  @Test func aKeyThatTheGateDoesNotKnow() {
    var world = KeyWorld.registered
    world.refuse(99)
    #expect(world.attempt() == .asserted)
    let unknown = GateRefusal(status: 401, code: "key_unknown").failure
    let isGivenUpTwice = world.machine.refused(ScriptedAppAttest.key(99), unknown)
    #expect(!isGivenUpTwice)
    #expect(world.attempt() == .asserted && world.keys == 1)
    // Refused again before anybody got in: that is the end.
    world.refuse(1)
    #expect(world.attempt() == .ends(.refused))
  }

  /// Three keys a day, over starts of the app and whatever the gate says; then none before the first of them is a day old.
  @Test func threeKeysADay() throws {
    var world = KeyWorld()
    let begun = world.wall
    for number in 1...3 {
      #expect(world.attempt() == .asserted)
      world.machine.accepted()
      world.refuse(number)
      try world.kill()
      world.wall += 600
    }
    #expect(world.attempt() == .waits(until: begun + 86_400, .keyBrake) && world.keys == 3)
    // The network changes nothing about it.
    #expect(world.attempt(isHurried: true) == .waits(until: begun + 86_400, .keyBrake))
    world.wall = begun + 86_400
    #expect(world.attempt() == .asserted && world.keys == 4)
  }

  @Test func inTheBackgroundNoKeyIsLost() {
    var world = KeyWorld.registered
    world.failures = [.generateAssertion: 3]
    for _ in 0..<5 { #expect(world.attempt(isForeground: false) == .waits(until: nil, .attestation)) }
    #expect(world.keys == 0 && world.machine.record.key?.id == ScriptedAppAttest.key(99))
  }

  @Test func withoutAppAttest() {
    var machine = KeyMachine(AppKeyRecord(), isSupported: false, registers: true, seed: 1)
    guard case .end(let failure) = machine.next(wall: 0) else {
      Issue.record("it should end")
      return
    }
    #expect(failure.kind == .unsupported)
  }

  // MARK: What is saved

  @Test func aRecordComesBackAsItWas() throws {
    let nonce = String(repeating: "ab", count: 32)
    let stages: [AppKeyRecord.Stage] = [
      .made, .challenged(nonce: nonce, until: 5),
      .attested(nonce: nonce, until: 5, attestation: [0, 255, 1]),
      .registered,
    ]
    for stage in stages {
      var record = AppKeyRecord(key: AppKeyRecord.Key(id: ScriptedAppAttest.key(7), stage: stage))
      record.failures = 3
      record.unknowns = 1
      record.notBefore = 1_700_000_000
      record.madeAt = [1, 2, 3]
      #expect(try AppKeyRecord(saved: record.bytes) == record)
    }
    #expect(try AppKeyRecord(saved: AppKeyRecord().bytes) == AppKeyRecord())
  }

  @Test(arguments: [
    "", "null", "[]", "{}", #"{"v":1}"#, #"{"v":"1"}"#,
    #"{"v":1,"failures":-1,"unknowns":0,"notBefore":0,"madeAt":""}"#,
    #"{"v":1,"failures":0,"unknowns":0,"notBefore":0,"madeAt":"x"}"#,
    #"{"v":1,"keyId":"short","stage":"made","failures":0,"unknowns":0,"notBefore":0,"madeAt":""}"#,
    #"{"v":1,"failures":9999999999999999999999,"unknowns":0,"notBefore":0,"madeAt":""}"#,
  ]) func aRecordThatIsBroken(text: String) {
    #expect(throws: RecordError.broken) { try AppKeyRecord(saved: Array(text.utf8)) }
  }

  @Test func aRecordOfALaterVersion() {
    #expect(throws: RecordError.later) { try AppKeyRecord(saved: Array(#"{"v":2,"what":"ever"}"#.utf8)) }
  }

  @Test func base64BothWays() {
    for count in 0..<40 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
      #expect(TextEncoding.bytes(ofBase64: TextEncoding.base64(bytes)) == bytes)
    }
    for text in ["A", "AA", "AAA", "AA=A", "A===", "AB==", "AAA*", "AAAA="] {
      #expect(TextEncoding.bytes(ofBase64: text) == nil, "\(text)")
    }
  }
}
