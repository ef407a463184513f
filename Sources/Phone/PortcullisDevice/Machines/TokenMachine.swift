/// How a phone comes to a token: a challenge, signed by its device key (docs/devices.md).
package import PortcullisClient
package import PortcullisProtocol

package struct TokenMachine: DeviceMachine {
  package struct Outcome: Equatable, Sendable {
    package let token: DeviceToken
    /// Nil where the answer has none that are good.
    package let pins: Pins?
  }

  private let device: DeviceID
  private let audience: Audience
  private let signer: Signer
  private var request: VouchedRequest
  private var isBegun = false

  /// - Parameter signer: the device key; the new one, to find out whether the gate has it.
  package init(_ device: DeviceID, audience: Audience = .gate, by signer: Signer = .device) {
    self.device = device
    self.audience = audience
    self.signer = signer
    request = VouchedRequest(.device, vouchingFor: nil, isKnown: false)
  }

  package mutating func take(_ news: DeviceNews) -> MachineTurn<Outcome>? {
    if news == .begun, !isBegun {
      isBegun = true
      return .ask(request.begin())
    }
    let (device, audience, signer) = (device, audience, signer)
    let progress = request.take(news) { challenge in
      .sign(
        .deviceAuth(server: challenge.server, device: device, nonce: challenge.nonce, for: .token(audience)),
        by: [signer])
    } send: { challenge, _, signatures in
      .token(
        device, nonce: challenge.nonce, signature: signatures.device ?? signatures.newDevice,
        audience: audience)
    }
    switch progress {
    case .ask(let step): return .ask(step)
    case .answered(let object):
      guard let token = DeviceToken(object["token"]?.string, expiresAt: object["expires_at"]?.integer) else {
        return .failed(.malformed("not a token"))
      }
      return .done(Outcome(token: token, pins: Pins(object)))
    case .failed(let failure): return .failed(failure)
    case nil: return nil
    }
  }
}
