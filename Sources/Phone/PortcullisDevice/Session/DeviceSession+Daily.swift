/// What a session does day by day: votes, codes, signs of life, tokens for others, answers to desktops that are near.
internal import PortcullisClient
public import PortcullisProtocol

extension DeviceSession {
  // MARK: Approvals

  /// What the person says to what the app has shown. The bytes that are signed are those of this approval, whatever the gate
  /// has sent since.
  /// - Parameters:
  ///   - decision: what is said. What cannot be read is denied or reported, never approved.
  ///   - approval: as it was shown.
  ///   - code: the digits that the person who asks has been shown, with `approve`; another number of them throws before any prompt.
  ///   - reason: what the person is shown who unlocks the key.
  @discardableResult
  public func vote(
    _ decision: Decision, on approval: Approval, code: String = "", reason: String
  ) async throws(DeviceFailure) -> ApprovalState {
    guard decision != .approve || approval.isReadable else {
      throw DeviceFailure(.unreadable, "what cannot be shown as it is cannot be approved: deny or report it")
    }
    let isComplete =
      decision != .approve || approval.matchDigits == 0 || code.utf8.count == approval.matchDigits
    guard isComplete, let matchCode = MatchCode(code), let vote = Vote(decision, matchCode: matchCode) else {
      throw DeviceFailure(.refused, "the code has \(approval.matchDigits) digits", code: .codeRejected)
    }
    return try await alone { () async throws(DeviceFailure) in
      let state: ApprovalState
      do throws(DeviceFailure) {
        state = try await cast(vote, on: approval, at: UnixSeconds(clamping: wall), reason)
      } catch {
        guard error.kind == .clockSkewed, let time = error.gateTime else { throw error }
        state = try await cast(vote, on: approval, at: time, reason)
      }
      act(on: inbox.take(.answered(approval.id)))
      return state
    }
  }

  private func cast(
    _ vote: Vote, on approval: Approval, at time: UnixSeconds, _ reason: String
  ) async throws(DeviceFailure) -> ApprovalState {
    let (record, device, server) = try await paired()
    guard let key = record.keys.approval else {
      throw DeviceFailure(.unsupported, "this phone has no approval key, and no vote")
    }
    let message = DeviceMessage.approval(
      server: server, request: approval.id, device: device, vote: vote, summaryHash: approval.hash,
      issuedAt: time, expiresAt: approval.expiresAt)
    let signature = try await sign(message, key, .approval, reason)
    let object = try await object(
      .vote(vote, on: approval.id, by: device, issuedAt: time, signature: signature))
    guard let state = ApprovalState(object) else { throw .malformed("no state") }
    return state
  }

  // MARK: Codes

  /// The code that the person types at the login. Attests first where the gate finds that the last time was too long ago.
  /// - Parameters:
  ///   - login: as it was shown.
  ///   - signals: what the phone says of itself.
  public func code(for login: Login, signals: PhoneSignals = .none) async throws(DeviceFailure) -> OneTimeCode
  {
    try await alone { () async throws(DeviceFailure) in
      do throws(DeviceFailure) {
        return try await issue(login, signals, at: UnixSeconds(clamping: wall))
      } catch {
        if error.kind == .clockSkewed, let time = error.gateTime {
          return try await issue(login, signals, at: time)
        }
        guard error.code == .attestationStale, voucher != nil else { throw error }
        _ = try await attestNow()
        // Nothing has come of what was signed: it is good still.
        return try await issue(login, signals, at: UnixSeconds(clamping: wall))
      }
    }
  }

  private func issue(
    _ login: Login, _ signals: PhoneSignals, at time: UnixSeconds
  ) async throws(DeviceFailure) -> OneTimeCode {
    let (record, device, server) = try await paired()
    let message = DeviceMessage.otpIssue(
      server: server, device: device, challenge: login.id, nonce: login.nonce, signedAt: time,
      signalsHash: SHA2.hash(signals.bytes))
    let signature = try await sign(message, record.keys.device, .device)
    let object = try await object(
      .code(login.id, nonce: login.nonce, by: device, signals: signals, signedAt: time, signature: signature))
    guard let code = OneTimeCode(object) else { throw .malformed("not a code") }
    return code
  }

  // MARK: The rest

  /// Says that the phone is there, and hears what is expected of it.
  @discardableResult
  public func heartbeat(_ report: DeviceReport = DeviceReport()) async throws(DeviceFailure) -> DevicePolicy {
    let (record, device, _) = try await paired()
    var nonce: Octets32?
    var signature: [UInt8]?
    if report.rooted != nil {
      let challenge = try await challenge(for: .device)
      let message = DeviceMessage.deviceAuth(
        server: challenge.server, device: device, nonce: challenge.nonce, for: .heartbeat)
      nonce = challenge.nonce
      signature = try await sign(message, record.keys.device, .device)
    }
    let reply = try await ask(.heartbeat(report, nonce: nonce, signature: signature))
    try await heed(reply.object.flatMap { Pins($0) })
    guard let policy = DevicePolicy(reply.body) else { throw .malformed("no policy") }
    return policy
  }

  /// How the gate sees the phone, asked for now.
  @discardableResult
  public func refresh() async throws(DeviceFailure) -> DeviceStanding {
    let object = try await object(.itself)
    let level = object["level"]?.string.flatMap { Level(rawValue: $0) }
    let verification = object["uv"]?.string.flatMap { UserVerification(rawValue: $0) }
    if object["status"]?.string == "pending" {
      stand(.pending(level: level, userVerification: verification))
    } else {
      stand(.active(level: level, userVerification: verification, subject: object["subject"]?.string))
    }
    return standing
  }

  /// The same as the gate has sent it: JSON.
  package func itself() async throws(DeviceFailure) -> [UInt8] { try await ask(.itself).body }

  /// A token, made now.
  /// - Parameter audience: one that the gate's operator has named; nil: the gate itself.
  public func token(for audience: String? = nil) async throws(DeviceFailure) -> String {
    guard let audience = Audience(audience ?? "") else {
      throw DeviceFailure(.unusable, "an audience has at most 256 bytes")
    }
    let new = try await newToken(for: audience)
    if audience.isGate { token = new }
    return new.text
  }

  /// Answers a desktop that is near, by the device key alone: nobody is asked, and nothing is sent to the gate.
  public func answer(_ question: PresenceQuestion) async throws(DeviceFailure) -> PresenceAnswer {
    let (record, device, server) = try await paired()
    let time = UnixSeconds(clamping: wall)
    let message = DeviceMessage.presence(
      server: server, device: device, desktop: question.desktop, nonce: question.nonce, signedAt: time)
    return PresenceAnswer(
      device: device, nonce: question.nonce, signedAt: time,
      signature: try await sign(message, record.keys.device, .device))
  }

  /// The fields by which this device comes in to play, for an upgrade that is sent within a minute.
  package func admission(
    for challenge: DeviceChallenge
  ) async throws(DeviceFailure) -> [(name: String, value: String)] {
    let (record, device, server) = try await paired()
    guard server == challenge.server else { throw .otherGate(challenge.server) }
    let message = DeviceMessage.deviceAuth(
      server: server, device: device, nonce: challenge.nonce, for: .upgrade)
    let signature = try await sign(message, record.keys.device, .device)
    return [
      (HeaderName.deviceID, device.text), (HeaderName.deviceNonce, challenge.nonce.hex),
      (HeaderName.deviceSignature, ByteText.base64URL(signature)),
    ]
  }
}
