/// A session over keys, a store and a gate in memory: from the code to the vote, and what goes wrong on the way.
import PortcullisClient
import PortcullisProtocol
import Testing

@testable import PortcullisDevice

@Suite(.timeLimit(.minutes(1))) struct DeviceSessionTests {
  private let keys = HashingKeys()
  private let store = MemoryStore()
  private let gate = ScriptedGate()
  private let pins = DevicePins()

  private func session(wall: Int64 = 1_800_000_010) -> DeviceSession {
    DeviceSession(keys: keys, store: store, transport: gate, pins: pins, clock: .still(at: wall))
  }

  private func paired() async throws -> DeviceSession {
    let session = session()
    let path = "/pair/00010203-0405-0607-0809-0a0b0c0d0e0f"
    await gate.put(
      path,
      [
        .init(
          body:
            "{\"device_id\":\"\(Sample.device)\",\"server_id\":\"\(Sample.server)\",\"s\":\"\(Sample.octets(6).hex)\"}"
        ),
        nil, .init(body: "{\"status\":\"pending\"}"),
        .init(body: "{\"status\":\"active\",\"pins\":[\"\(Sample.pin.base64URL)\"]}"),
      ])
    try await session.pair(PairingCode(Sample.uri), as: Sample.name()) { _ in }
    return session
  }

  private func open(_ items: String...) async {
    await gate.put("/approvals", "{\"items\":[\(items.joined(separator: ","))],\"cursor\":\"c\"}")
  }

  private static let decision = "/approvals/11111111-2222-4333-8444-555555555555/decision"

  @Test func fromTheCodeToTheVote() async throws {
    let session = try await paired()
    #expect(await store.record?.device?.text == Sample.device)
    #expect(pins.current?.hashes == [Sample.pin.bytes])
    let summary = try Sample.summary()
    await open(Sample.item(summary))
    let approval = try #require(try await session.approvals().first)
    #expect(approval.summary?.operation == "promote")
    await gate.put(Self.decision, "{\"state\":\"approved\",\"votes_needed\":0}")
    let state = try await session.vote(.approve, on: approval, code: "27", reason: "Promote gandalf")
    #expect(state.word == "approved")
    let signed = try #require(await keys.signed.last)
    #expect(signed.reason == "Promote gandalf" && signed.name.text == "approval-1")
    let digits = try #require(MatchCode("27"))
    let vote = try #require(Vote(.approve, matchCode: digits))
    #expect(
      signed.bytes
        == DeviceMessage.approval(
          server: try Sample.serverID(), request: approval.id, device: try Sample.deviceID(), vote: vote,
          summaryHash: SHA2.hash(summary), issuedAt: UnixSeconds(clamping: 1_800_000_010),
          expiresAt: UnixSeconds(clamping: 1_800_000_060)
        ).bytes)
  }

  @Test func aWrongNumberOfDigitsAsksNobody() async throws {
    let session = try await paired()
    await open(Sample.item(try Sample.summary()))
    let approval = try #require(try await session.approvals().first)
    let before = await keys.signed.count
    for code in ["", "1", "123", "1a"] {
      await #expect(throws: DeviceFailure.self) {
        try await session.vote(.approve, on: approval, code: code, reason: "")
      }
    }
    #expect(await keys.signed.count == before)
  }

  /// Its text is never given out, and nobody approves what he cannot read.
  @Test func whatCannotBeReadIsDeniedOrReported() async throws {
    let session = try await paired()
    let hidden = Array(
      String(decoding: try Sample.summary(), as: UTF8.self)
        .replacing("to wizard", with: "to \u{202E}wizard").utf8)
    await open(
      Sample.item(hidden), Sample.item([0x7B, 0x20, 0x7D], id: "21111111-2222-4333-8444-555555555555"))
    let approvals = try await session.approvals()
    #expect(approvals.map(\.isReadable) == [false, false])
    let failure = await #expect(throws: DeviceFailure.self) {
      try await session.vote(.approve, on: approvals[0], code: "27", reason: "")
    }
    #expect(failure?.kind == .unreadable)
    await gate.put(Self.decision, "{\"state\":\"reported\",\"votes_needed\":0}")
    #expect(try await session.vote(.report, on: approvals[0], reason: "").word == "reported")
    let signed = try #require(await keys.signed.last)
    let vote = try #require(Vote(.report, matchCode: .none))
    #expect(
      signed.bytes
        == DeviceMessage.approval(
          server: try Sample.serverID(), request: approvals[0].id, device: try Sample.deviceID(), vote: vote,
          summaryHash: SHA2.hash(hidden), issuedAt: UnixSeconds(clamping: 1_800_000_010),
          expiresAt: UnixSeconds(clamping: 1_800_000_060)
        ).bytes)
  }

  @Test func aWrongClockIsMendedOnceThenTold() async throws {
    let session = try await paired()
    await open(Sample.item(try Sample.summary(), digits: 0))
    let approval = try #require(try await session.approvals().first)
    let skewed = ScriptedGate.Answer(
      status: 400, code: "clock_skewed",
      body: "{\"error\":{\"code\":\"clock_skewed\",\"message\":\"x\",\"time\":1700000000}}")
    await gate.put(Self.decision, [skewed, .init(body: "{\"state\":\"approved\",\"votes_needed\":0}")])
    #expect(try await session.vote(.approve, on: approval, reason: "").word == "approved")
    #expect(await gate.bodies(Self.decision).last?.contains("\"issued_at\":1700000000") == true)
    await gate.put(Self.decision, [skewed])
    let failure = await #expect(throws: DeviceFailure.self) {
      try await session.vote(.approve, on: approval, reason: "")
    }
    #expect(failure?.kind == .clockSkewed && failure?.gateTime?.value == 1_700_000_000)
  }

  @Test func twoVotesAtOnceAreTwoPromptsOneAfterTheOther() async throws {
    let session = try await paired()
    await open(Sample.item(try Sample.summary(), digits: 0))
    let approval = try #require(try await session.approvals().first)
    await gate.put(Self.decision, "{\"state\":\"approved\",\"votes_needed\":0}")
    await keys.fail(.approval, .cancelled)
    let both = [Decision.approve, .deny].map { decision in
      Task { try await session.vote(decision, on: approval, reason: decision.rawValue) }
    }
    for vote in both { await #expect(throws: DeviceFailure.self) { try await vote.value } }
    // A cancel ends its own: the next one asks again.
    await keys.fail(.approval, nil)
    #expect(try await session.vote(.approve, on: approval, reason: "3").word == "approved")
  }

  @Test func anApprovalKeyThatIsGoneIsToldAndNothingIsMade() async throws {
    let session = try await paired()
    await open(Sample.item(try Sample.summary(), digits: 0))
    let approval = try #require(try await session.approvals().first)
    let made = await keys.names.count
    await keys.fail(.approval, .gone)
    let failure = await #expect(throws: DeviceFailure.self) {
      try await session.vote(.deny, on: approval, reason: "")
    }
    #expect(failure?.kind == .approvalKeyGone)
    #expect(await keys.names.count == made)
  }

  @Test func whatCannotBeReadIsNotNothing() async throws {
    await store.fail(.locked)
    let session = session()
    for error in [DeviceStoreError.locked, .later, .broken("x")] {
      await store.fail(error)
      let failure = await #expect(throws: DeviceFailure.self) {
        try await session.pair(PairingCode(Sample.uri), as: Sample.name()) { _ in }
      }
      #expect(failure?.kind == .storage)
    }
    #expect(await keys.names.isEmpty)
    #expect(await gate.asked.isEmpty)
  }

  @Test func aPhoneThatBelongsToAGateIsNotWrittenOver() async throws {
    let session = try await paired()
    let before = await store.record
    let failure = await #expect(throws: DeviceFailure.self) {
      try await session.pair(PairingCode(Sample.uri), as: Sample.name()) { _ in }
    }
    #expect(failure?.kind == .alreadyPaired)
    #expect(await store.record == before)
  }

  @Test func aTokenThatTheGateHasEndedIsRenewedOnce() async throws {
    let session = try await paired()
    await gate.put("/device/token", [.init(body: "{\"token\":\"t1\"}"), .init(body: "{\"token\":\"t2\"}")])
    let ended = ScriptedGate.Answer(status: 401, code: "token_rejected", body: "{}")
    await gate.put("/approvals", [ended, .init(body: "{\"items\":[],\"cursor\":\"c\"}")])
    #expect(try await session.approvals().isEmpty)
    #expect(await gate.asked.compactMap(\.token) == ["Bearer t1", "Bearer t2"])
    await gate.put("/approvals", [ended])
    let failure = await #expect(throws: DeviceFailure.self) { try await session.approvals() }
    #expect(failure?.code == .tokenRejected)
  }

  @Test func anotherGateIsNotSigned() async throws {
    let session = try await paired()
    let before = await keys.signed.count
    await gate.put(
      "/attest/challenge",
      "{\"nonce\":\"\(Sample.octets(9).hex)\",\"server_id\":\"\(Sample.device)\"}")
    let failure = await #expect(throws: DeviceFailure.self) { try await session.token() }
    #expect(failure?.kind == .untrusted)
    #expect(await keys.signed.count == before)
  }

  @Test func aRotationWhoseAnswerWasLost() async throws {
    let session = try await paired()
    await gate.put("/device/rotate", [nil])
    await #expect(throws: DeviceFailure.self) { try await session.rotate() }
    let kept = try #require(await store.record)
    #expect(kept.keys.device.text == "device-0" && kept.newKeys?.device.text == "device-2")
    // Another start of the app.
    let later = self.session()
    #expect(try await later.rotate() == nil)
    #expect(await store.record?.keys == kept.newKeys)
    #expect(await store.record?.newKeys == nil)
    #expect(await keys.removed.map(\.text) == ["device-0", "approval-1"])
    #expect(await keys.names.count == 4)
  }

  @Test func forgetting() async throws {
    let session = try await paired()
    try await session.forget()
    #expect(await store.record == nil)
    #expect(pins.current == nil)
    #expect(await session.standing == .none)
    let failure = await #expect(throws: DeviceFailure.self) { try await session.token() }
    #expect(failure?.kind == .notPaired)
  }

  @Test func listsComeInTheForeground() async throws {
    let session = try await paired()
    await open(Sample.item(try Sample.summary(), expires: 1_900_000_000))
    await gate.put("/auth/otp", [.init(status: 403, code: "device_pending", body: "{}")])
    await session.enterForeground()
    var seen: [Approval] = []
    var failure: DeviceFailure?
    for await event in session.events {
      if case .approvals(let approvals) = event { seen = approvals }
      if case .failure(let told) = event { failure = told }
      if !seen.isEmpty, failure != nil { break }
    }
    #expect(seen.count == 1 && failure?.code == .devicePending)
    await session.enterBackground()
  }

  @Test func presenceIsSignedWithoutTheGate() async throws {
    let session = try await paired()
    let asked = await gate.asked.count
    let line =
      "{\"nonce\":\"\(Sample.octets(1).hex)\",\"desktop_id\":\"\(Sample.server)\",\"expires_at\":1800000020}"
    let question = try #require(PresenceQuestion(line: line))
    #expect(question.line == line)
    let answer = try await session.answer(question)
    #expect(PresenceAnswer(line: answer.line) == answer && answer.nonce == question.nonce)
    #expect(await gate.asked.count == asked)
    #expect(PresenceQuestion(line: line + String(repeating: " ", count: 512)) == nil)
  }
}
