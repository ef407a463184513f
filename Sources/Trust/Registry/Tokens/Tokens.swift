/// `POST /device/token` and `GET /device/self`.
package import Bytes
internal import DeviceTokens
package import DeviceWire
internal import PortcullisProtocol
internal import Time

package struct TokenForm: Equatable, Sendable {
  package let device: DeviceID
  package let nonce: Bytes32
  package let signature: DeviceSignature
  package let audience: Audience

  package init(_ form: Form) throws(FormError) {
    device = try form.identifier("device_id")
    nonce = try form.hex("nonce")
    signature = try form.signature("signature")
    audience = try form.optionalText("audience") { Audience($0) } ?? .gate
  }
}

package struct IssueToken: RegistryCall {
  private let form: TokenForm
  private let nonce: SpentNonce

  package init(_ form: TokenForm, nonce: SpentNonce) {
    self.form = form
    self.nonce = nonce
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let message = DeviceMessage.deviceAuth(
      server: transaction.server, device: form.device, nonce: nonce.bytes, for: .token(form.audience))
    var device = try transaction.device(form.device, signing: message, form.signature)
    if !form.audience.isGate {
      guard transaction.settings.tokenAudiences.contains(where: form.audience.text.isSameText) else {
        throw .refused(.badRequest, "audience")
      }
      // Others cannot tell that nobody has confirmed it.
      guard device.state == .active else { throw .refused(.devicePending, "device_pending") }
    }
    if device.isToBeSeen(at: transaction.now) {
      device.seenAt = transaction.now
      try transaction.keep(device)
    }
    let token = try transaction.token(for: device, audience: form.audience)
    var answer = DeviceAnswer()
    answer.put("token", token.text)
    answer.put("expires_at", token.expiresAt.value)
    answer.putPins(transaction.settings.pins)
    return .reply(answer.reply())
  }
}

extension DeviceRecord {
  /// Hourly at most, so that a token is no reason for a write.
  func isToBeSeen(at now: UnixTime) -> Bool {
    seenAt.map { now.milliseconds - $0.milliseconds >= 3_600_000 } ?? true
  }
}

package struct ReadSelf: RegistryCall {
  private let token: String

  package init(bearer token: String) {
    self.token = token
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let device = try transaction.device(bearer: token)
    var answer = DeviceAnswer()
    answer.putAll(device)
    answer.put("server_id", transaction.server.text)
    answer.putPins(transaction.settings.pins)
    return .reply(answer.reply())
  }
}
