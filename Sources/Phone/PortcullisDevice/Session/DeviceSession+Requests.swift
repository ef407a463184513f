/// A session's requests: with a token where one is needed, which is made anew once when the gate does not take it.
internal import PortcullisClient
internal import PortcullisProtocol

extension DeviceSession {
  /// The gate's answer, whatever it is, to a request that needs no token.
  func exchange(_ call: DeviceCall, _ token: DeviceToken? = nil) async throws(DeviceFailure) -> DeviceReply {
    guard let record = try await loaded() else { throw .notPaired }
    return try await line.exchange(call, at: record, token: token)
  }

  /// A good answer; any other is thrown. A token that the gate has ended is renewed once.
  func ask(_ call: DeviceCall) async throws(DeviceFailure) -> DeviceReply {
    var reply = try await exchange(call, call.needsToken ? try await freshToken() : nil)
    if call.needsToken, reply.refusal == .tokenRejected {
      token = nil
      reply = try await exchange(call, try await freshToken())
    }
    guard reply.status == 200 else {
      heed(reply.failure)
      throw reply.failure
    }
    return reply
  }

  func object(_ call: DeviceCall) async throws(DeviceFailure) -> JSONTree.Object {
    let reply = try await ask(call)
    guard let object = reply.object else { throw reply.failure }
    return object
  }

  func challenge(for purpose: ChallengePurpose) async throws(DeviceFailure) -> DeviceChallenge {
    let reply = try await exchange(.challenge(for: purpose))
    guard reply.status == 200 else { throw reply.failure }
    guard let challenge = reply.object.flatMap({ DeviceChallenge($0) }) else {
      throw .malformed("not a challenge; does the gate have DEVICES_PATH set?")
    }
    let server = try await loaded()?.server
    guard server == nil || server == challenge.server else {
      throw .otherGate(challenge.server)
    }
    return challenge
  }

  // MARK: Tokens

  private func freshToken() async throws(DeviceFailure) -> DeviceToken {
    if let token, token.isGood(at: wall) { return token }
    let new = try await newToken(for: .gate)
    token = new
    return new
  }

  func newToken(for audience: Audience) async throws(DeviceFailure) -> DeviceToken {
    let (record, device, _) = try await paired()
    let outcome = try await run(TokenMachine(device, audience: audience), MachineContext(keys: record.keys))
    try await heed(outcome.pins)
    return outcome.token
  }

  /// Keys that the gate will show from now on. They came over a connection whose key was pinned already, or which an
  /// authority has vouched for.
  func heed(_ pins: Pins?) async throws(DeviceFailure) {
    guard let pins, pins != record?.pins else { return }
    try await remember { $0.pins = pins }
  }

  /// What a failure says of the phone's standing.
  func heed(_ failure: DeviceFailure) {
    switch failure.code {
    case .deviceRevoked: stand(.revoked)
    case .devicePending: stand(.pending(level: nil, userVerification: nil))
    default: if failure.kind == .keysLost { stand(.keysLost) }
    }
  }
}
