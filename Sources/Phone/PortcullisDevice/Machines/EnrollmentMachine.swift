/// How a phone comes to a gate without a QR code: its keys, and what vouches for them; an operator confirms it where that is
/// not enough (docs/devices.md).
package import PortcullisClient
package import PortcullisProtocol

package struct EnrollmentMachine: DeviceMachine {
  package struct Outcome: Equatable, Sendable {
    package let device: DeviceID
    package let server: ServerID
    package let assurance: DeviceAssurance
    package let pins: Pins
    package let token: DeviceToken?
  }

  private let points: DevicePoints
  private let platform: DevicePlatform
  private let name: DeviceName?
  private var request: VouchedRequest
  private var isBegun = false

  package init(
    _ points: DevicePoints, platform: DevicePlatform, name: DeviceName?, vouches: Bool, isKnown: Bool
  ) {
    self.points = points
    self.platform = platform
    self.name = name
    request = VouchedRequest(.enroll, vouchingFor: vouches ? points : nil, isKnown: isKnown)
  }

  package mutating func take(_ news: DeviceNews) -> MachineTurn<Outcome>? {
    if news == .begun, !isBegun {
      isBegun = true
      return .ask(request.begin())
    }
    let (points, platform, name) = (points, platform, name)
    let progress = request.take(news) { challenge in
      .sign(
        .enroll(server: challenge.server, keys: points.hashes, nonce: challenge.nonce, platform: platform),
        by: points.approval == nil ? [.device] : [.device, .approval])
    } send: { challenge, evidence, signatures in
      .enroll(points, platform: platform, name: name, nonce: challenge.nonce, signatures, evidence: evidence)
    }
    switch progress {
    case .ask(let step): return .ask(step)
    case .answered(let object):
      return Outcome(object).map { .done($0) } ?? .failed(.malformed("not the answer to an enrolment"))
    case .failed(let failure): return .failed(failure)
    case nil: return nil
    }
  }
}

extension EnrollmentMachine.Outcome {
  fileprivate init?(_ object: JSONTree.Object) {
    guard let device = object["device_id"]?.string.flatMap({ DeviceID($0) }),
      let server = object["server_id"]?.string.flatMap({ ServerID($0) }),
      let assurance = DeviceAssurance(object), let pins = Pins(object)
    else { return nil }
    self.device = device
    self.server = server
    self.assurance = assurance
    self.pins = pins
    token = DeviceToken(object["token"]?.string, expiresAt: nil)
  }
}
