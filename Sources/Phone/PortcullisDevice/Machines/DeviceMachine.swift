/// What all machines of a device have in common: they are told what has happened, and say what is to be done next. They have
/// no clock, no key and no connection.
package import PortcullisProtocol

/// What is to be done; the news of it is told back.
package enum DeviceStep: Equatable, Sendable {
  /// Ask the gate for a challenge. Then `challenged`, or `unanswered`.
  case challenge(ChallengePurpose)
  /// Have these keys vouched for. Then `vouched`.
  case vouch(DevicePoints, DeviceChallenge, isKnown: Bool)
  /// Then `signed`.
  case sign(DeviceMessage, by: [Signer])
  /// Then `answered` or `unanswered`.
  case send(DeviceCall)
  /// The person at the phone reads the digits to the operator, who types them. The request is what is sent meanwhile.
  case show(PairingDigits, then: DeviceCall)
  /// So many seconds, unless all of it has taken too long: then the failure is the end. Then `paused`.
  case pause(Double, because: DeviceFailure)
  /// Make new keys beside the old ones, and remember them before anything else. Then `made`.
  case makeKeys(approval: Bool)
}

/// Which key signs.
package enum Signer: Equatable, Sendable {
  case device, approval, newDevice, newApproval
}

/// What has happened.
package enum DeviceNews: Equatable, Sendable {
  case begun
  case challenged(DeviceChallenge)
  case vouched(DeviceEvidence)
  case signed(Signatures)
  case answered(DeviceReply)
  /// Whether the gate has done it, nobody knows.
  case unanswered(DeviceFailure)
  case paused
  case made(DevicePoints)
}

package enum MachineTurn<Outcome: Sendable>: Sendable {
  case ask(DeviceStep)
  case done(Outcome)
  case failed(DeviceFailure)
}

package protocol DeviceMachine {
  associatedtype Outcome: Sendable

  /// Nil for news that this machine does not wait for: they came late, or twice. Nothing changes then.
  mutating func take(_ news: DeviceNews) -> MachineTurn<Outcome>?
}

/// The part that enrolment, attestation and rotation share: a challenge, evidence where there is any, signatures, a request.
struct VouchedRequest {
  private enum State: Equatable {
    case idle, challenging
    case vouching(DeviceChallenge)
    case signing(DeviceChallenge, DeviceEvidence?)
    case sending
    case over
  }

  enum Progress {
    case ask(DeviceStep)
    case answered(JSONTree.Object)
    case failed(DeviceFailure)
  }

  private let purpose: ChallengePurpose
  /// Nil: nothing vouches for them.
  private let vouchedPoints: DevicePoints?
  private var isKnown: Bool
  private var isRenewed = false
  private var state = State.idle

  /// - Parameters:
  ///   - points: what to vouch for; nil: nothing is vouched for.
  ///   - isKnown: whether the gate knows the app's key.
  init(_ purpose: ChallengePurpose, vouchingFor points: DevicePoints?, isKnown: Bool) {
    self.purpose = purpose
    vouchedPoints = points
    self.isKnown = isKnown
  }

  mutating func begin() -> DeviceStep {
    state = .challenging
    return .challenge(purpose)
  }

  mutating func take(
    _ news: DeviceNews, sign: (DeviceChallenge) -> DeviceStep,
    send: (DeviceChallenge, DeviceEvidence?, Signatures) -> DeviceCall
  ) -> Progress? {
    switch (state, news) {
    case (.challenging, .challenged(let challenge)):
      guard let vouchedPoints else {
        state = .signing(challenge, nil)
        return .ask(sign(challenge))
      }
      state = .vouching(challenge)
      return .ask(.vouch(vouchedPoints, challenge, isKnown: isKnown))
    case (.vouching(let challenge), .vouched(let evidence)):
      state = .signing(challenge, evidence)
      return .ask(sign(challenge))
    case (.signing(let challenge, let evidence), .signed(let signatures)):
      state = .sending
      return .ask(.send(send(challenge, evidence, signatures)))
    case (.sending, .answered(let reply)): return heed(reply)
    case (.challenging, .unanswered(let failure)), (.sending, .unanswered(let failure)):
      state = .over
      return .failed(failure)
    case (.idle, _), (.challenging, _), (.vouching, _), (.signing, _), (.sending, _), (.over, _): return nil
    }
  }

  private mutating func heed(_ reply: DeviceReply) -> Progress {
    if reply.status == 200 {
      state = .over
      return reply.object.map { .answered($0) } ?? .failed(reply.failure)
    }
    if reply.refusal == .keyKnown, vouchedPoints != nil, !isKnown {
      isKnown = true
      return .ask(begin())
    }
    // It was good for two minutes, and the person may have taken longer.
    if reply.refusal == .nonceInvalid, !isRenewed {
      isRenewed = true
      return .ask(begin())
    }
    state = .over
    return .failed(reply.failure)
  }
}
