/// New keys in the place of the old ones, which are kept until the gate has taken them: an answer may be lost
/// (docs/devices.md).
package import PortcullisClient
package import PortcullisProtocol

package struct RotationMachine: DeviceMachine {
  package enum Outcome: Equatable, Sendable {
    case rotated(DeviceAssurance, DeviceToken?, Pins?)
    /// In a rotation before, whose answer was lost.
    case wasRotated(DeviceToken, Pins?)
  }

  private enum State {
    case idle, making
    /// Whether the gate has the new keys already.
    case probing(TokenMachine, DevicePoints)
    case rotating(VouchedRequest, DevicePoints)
    case over
  }

  private let device: DeviceID
  private let newPoints: DevicePoints?
  private let withApproval: Bool
  private let vouches: Bool
  private let isKnown: Bool
  private var state = State.idle

  /// - Parameters:
  ///   - newPoints: of keys that an earlier rotation has made, whose answer has not come.
  ///   - withApproval: whether there is to be an approval key.
  package init(
    _ device: DeviceID, newPoints: DevicePoints?, withApproval: Bool, vouches: Bool, isKnown: Bool
  ) {
    self.device = device
    self.newPoints = newPoints
    self.withApproval = withApproval
    self.vouches = vouches
    self.isKnown = isKnown
  }

  package mutating func take(_ news: DeviceNews) -> MachineTurn<Outcome>? {
    switch state {
    case .idle:
      guard news == .begun else { return nil }
      guard let newPoints else {
        state = .making
        return .ask(.makeKeys(approval: withApproval))
      }
      return probe(TokenMachine(device, by: .newDevice), newPoints, .begun)
    case .making:
      guard case .made(let points) = news else { return nil }
      return rotate(to: points)
    case .probing(let machine, let points): return probe(machine, points, news)
    case .rotating(let request, let points): return rotate(request, points, news)
    case .over: return nil
    }
  }

  private mutating func probe(
    _ machine: TokenMachine, _ points: DevicePoints, _ news: DeviceNews
  ) -> MachineTurn<Outcome>? {
    var machine = machine
    let turn = machine.take(news)
    switch turn {
    case .ask(let step):
      state = .probing(machine, points)
      return .ask(step)
    case .done(let outcome):
      state = .over
      return .done(.wasRotated(outcome.token, outcome.pins))
    // The gate has the old ones still.
    case .failed(let failure) where failure.code == .signatureRejected: return rotate(to: points)
    case .failed(let failure):
      state = .over
      return .failed(failure)
    case nil: return nil
    }
  }

  private mutating func rotate(to points: DevicePoints) -> MachineTurn<Outcome> {
    var request = VouchedRequest(.rotate, vouchingFor: vouches ? points : nil, isKnown: isKnown)
    let step = request.begin()
    state = .rotating(request, points)
    return .ask(step)
  }

  private mutating func rotate(
    _ request: VouchedRequest, _ points: DevicePoints, _ news: DeviceNews
  ) -> MachineTurn<Outcome>? {
    var request = request
    let device = device
    let progress = request.take(news) { challenge in
      .sign(
        .rotate(server: challenge.server, device: device, newKeys: points.hashes, nonce: challenge.nonce),
        by: points.approval == nil ? [.device, .newDevice] : [.device, .newDevice, .newApproval])
    } send: { challenge, evidence, signatures in
      .rotate(device, to: points, nonce: challenge.nonce, signatures, evidence: evidence)
    }
    switch progress {
    case .ask(let step):
      state = .rotating(request, points)
      return .ask(step)
    case .answered(let object):
      state = .over
      guard let assurance = DeviceAssurance(object) else { return .failed(.malformed("no level")) }
      let token = DeviceToken(object["token"]?.string, expiresAt: nil)
      return .done(.rotated(assurance, token, Pins(object)))
    case .failed(let failure):
      state = .over
      return .failed(failure)
    case nil: return nil
    }
  }
}
