/// `POST /presence/challenge`: a desktop wants to know whether a phone is near (docs/codes.md, "Presence").
package import Bytes
package import DeviceWire
package import Time

package struct PresenceChallengeForm: Equatable, Sendable {
  package let device: DeviceID

  package init(_ form: Form) throws(FormError) {
    device = try form.identifier("device_id")
  }
}

package struct AskPresence: RegistryCall {
  private let bearer: String
  private let device: DeviceID
  private let nonce: Bytes32
  private let expires: UnixTime

  /// - Parameters:
  ///   - bearer: the service's own token.
  ///   - nonce: issued for this device and this service; nobody hears of it if the device may not be asked.
  package init(bearer: String, _ form: PresenceChallengeForm, nonce: Bytes32, expires: UnixTime) {
    self.bearer = bearer
    device = form.device
    self.nonce = nonce
    self.expires = expires
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let desktop = try transaction.service(bearer: bearer, scope: .presence)
    _ = try transaction.device(device, near: desktop)
    var answer = DeviceAnswer()
    answer.put("nonce", nonce.hex)
    answer.put("desktop_id", desktop.desktop.text)
    answer.put("expires_at", expires)
    return .reply(answer.reply())
  }
}
