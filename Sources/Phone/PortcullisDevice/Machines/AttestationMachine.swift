/// How a phone shows that its app is still the genuine one (docs/devices.md).
package import PortcullisProtocol

package struct AttestationMachine: DeviceMachine {
  package struct Outcome: Equatable, Sendable {
    package let assurance: DeviceAssurance
    package let token: DeviceToken?
  }

  private let device: DeviceID
  private var request: VouchedRequest
  private var isBegun = false

  package init(_ device: DeviceID, _ points: DevicePoints, isKnown: Bool) {
    self.device = device
    request = VouchedRequest(.attest, vouchingFor: points, isKnown: isKnown)
  }

  package mutating func take(_ news: DeviceNews) -> MachineTurn<Outcome>? {
    if news == .begun, !isBegun {
      isBegun = true
      return .ask(request.begin())
    }
    let device = device
    let progress = request.take(news) { challenge in
      .sign(
        .deviceAuth(server: challenge.server, device: device, nonce: challenge.nonce, for: .token(.gate)),
        by: [.device])
    } send: { challenge, evidence, signatures in
      .attest(device, nonce: challenge.nonce, signatures, evidence)
    }
    switch progress {
    case .ask(let step): return .ask(step)
    case .answered(let object):
      guard let assurance = DeviceAssurance(object) else { return .failed(.malformed("no level")) }
      return .done(
        Outcome(
          assurance: assurance, token: DeviceToken(object["device_token"]?.string, expiresAt: nil)))
    case .failed(let failure): return .failed(failure)
    case nil: return nil
    }
  }
}
