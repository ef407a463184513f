/// A phone's side of a pairing, from the code that it has scanned to the operator's word (docs/devices-messages.md,
/// "Pairing").
package import PortcullisClient
package import PortcullisProtocol

package struct PairingMachine: DeviceMachine {
  package struct Outcome: Equatable, Sendable {
    package let device: DeviceID
    package let server: ServerID
    package let pins: Pins
  }

  private enum State: Equatable {
    case idle, challenging
    case vouching(DeviceChallenge)
    case signing(DeviceEvidence?, nonce: Octets32?)
    case offering
    /// Pauses before it offers again.
    case offeringLater
    case revealing(DeviceID, ServerID)
    case revealingLater(DeviceID, ServerID)
    case over
  }

  private let uri: PairingURI
  private let points: DevicePoints
  private let name: DeviceName
  private let platform: DevicePlatform
  /// What the phone commits to before it has seen the gate's part of the digits.
  private let secretPart: Octets32
  private let vouches: Bool
  private var isKnown: Bool
  /// Whether the gate was reached: then a lost connection is no reason to give up.
  private var hasHeard = false
  private var state = State.idle

  /// - Parameters:
  ///   - secretPart: 32 random bytes.
  ///   - vouches: whether evidence goes with the offer.
  ///   - isKnown: whether the gate knows the app's key.
  package init(
    _ uri: PairingURI, _ points: DevicePoints, name: DeviceName, platform: DevicePlatform,
    secretPart: Octets32,
    vouches: Bool, isKnown: Bool = false
  ) {
    self.uri = uri
    self.points = points
    self.name = name
    self.platform = platform
    self.secretPart = secretPart
    self.vouches = vouches
    self.isKnown = isKnown
  }

  private var commit: Octets32 { SHA2.hash(secretPart.bytes) }

  private var message: DeviceMessage {
    .pair(pairing: uri.pairingID, serverKeyHash: uri.pin, keys: points.hashes, commit: commit, name: name)
  }

  private var reveal: DeviceCall { .reveal(uri.pairingID, secretPart) }

  package mutating func take(_ news: DeviceNews) -> MachineTurn<Outcome>? {
    switch (state, news) {
    case (.idle, .begun), (.offeringLater, .paused): return begin()
    case (.challenging, .challenged(let challenge)):
      hasHeard = true
      state = .vouching(challenge)
      return .ask(.vouch(points, challenge, isKnown: isKnown))
    case (.vouching(let challenge), .vouched(let evidence)):
      state = .signing(evidence, nonce: challenge.nonce)
      return sign()
    case (.signing(let evidence, let nonce), .signed(let signatures)):
      state = .offering
      return .ask(
        .send(
          .offer(
            uri.pairingID, points, platform: platform, name: name, commit: commit,
            mac: uri.secret.authenticate(message), signatures, evidence: evidence, nonce: nonce)))
    case (.offering, .answered(let reply)):
      hasHeard = true
      return heed(offered: reply)
    case (.revealing(let device, let server), .answered(let reply)):
      return heed(decided: reply, device, server)
    case (.revealingLater(let device, let server), .paused):
      state = .revealing(device, server)
      return .ask(.send(reveal))
    case (.challenging, .unanswered(let failure)), (.offering, .unanswered(let failure)),
      (.revealing, .unanswered(let failure)):
      return wait(failure)
    case (.idle, _), (.challenging, _), (.vouching, _), (.signing, _), (.offering, _), (.offeringLater, _),
      (.revealing, _), (.revealingLater, _), (.over, _):
      return nil
    }
  }

  private mutating func begin() -> MachineTurn<Outcome> {
    guard vouches else {
      state = .signing(nil, nonce: nil)
      return sign()
    }
    state = .challenging
    return .ask(.challenge(.enroll))
  }

  private func sign() -> MachineTurn<Outcome> {
    .ask(.sign(message, by: points.approval == nil ? [.device] : [.device, .approval]))
  }

  /// Said again, an offer gets the same answer; its evidence has a nonce, which is good once.
  private mutating func wait(_ failure: DeviceFailure) -> MachineTurn<Outcome> {
    let isLost = failure.kind == .timeout || hasHeard && [.offline, .unreachable].contains(failure.kind)
    let isBusy = failure.status == 429 || failure.status == 503
    guard isLost || isBusy else { return end(failure) }
    if case .revealing(let device, let server) = state {
      state = .revealingLater(device, server)
    } else {
      state = .offeringLater
    }
    return .ask(.pause(1, because: failure))
  }

  private mutating func heed(offered reply: DeviceReply) -> MachineTurn<Outcome> {
    if reply.refusal == .keyKnown, vouches, !isKnown {
      isKnown = true
      return begin()
    }
    guard reply.status == 200 else { return heed(refusal: reply) }
    guard let object = reply.object, let device = object["device_id"]?.string.flatMap({ DeviceID($0) }),
      let server = object["server_id"]?.string.flatMap({ ServerID($0) }),
      let gatesPart = object["s"]?.string.flatMap({ Octets32(hex: $0) })
    else { return end(.malformed("not the answer to a pairing")) }
    state = .revealing(device, server)
    let digits = PairingDigits(of: .pairSAS(pairMessageHash: message.digest, s: gatesPart, r: secretPart))
    return .ask(.show(digits, then: reveal))
  }

  private mutating func heed(
    decided reply: DeviceReply, _ device: DeviceID, _ server: ServerID
  ) -> MachineTurn<Outcome> {
    guard reply.status == 200 else { return heed(refusal: reply) }
    guard let object = reply.object else { return end(reply.failure) }
    switch object["status"]?.string {
    case "pending": return .ask(.send(reveal))
    case "refused": return end(DeviceFailure(.rejected, "the operator has not taken this phone"))
    case "active":
      guard let pins = Pins(object) else { return end(.malformed("no pins")) }
      state = .over
      return .done(Outcome(device: device, server: server, pins: pins))
    default: return end(.malformed("no status of a pairing"))
    }
  }

  private mutating func heed(refusal reply: DeviceReply) -> MachineTurn<Outcome> {
    guard reply.status == 410 else { return wait(reply.failure) }
    return end(
      DeviceFailure(
        .rejected, "the gate does not take this code: it was used, refused, or is older than five minutes",
        code: .pairingRejected, status: 410, trace: reply.trace))
  }

  private mutating func end(_ failure: DeviceFailure) -> MachineTurn<Outcome> {
    state = .over
    return .failed(failure)
  }
}
