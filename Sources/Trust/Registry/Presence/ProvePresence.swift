/// `POST /presence/verify`: what a phone has answered to a desktop that asked whether it is near.
package import Bytes
package import DeviceWire
internal import JSON
internal import PortcullisProtocol
internal import System

package struct PresenceForm: Equatable, Sendable {
  package let device: DeviceID
  package let nonce: Bytes32
  package let signedAt: UnixSeconds
  package let signature: DeviceSignature
  /// In dBm, in the desktop's own words; nil where it has not measured any.
  package let strength: Int64?

  package init(_ form: Form) throws(FormError) {
    device = try form.identifier("device_id")
    nonce = try form.hex("nonce")
    signedAt = try form.required("signed_at") { $0.integer.flatMap { UnixSeconds($0) } }
    signature = try form.signature("signature")
    let strength = try form.optional("rssi") { (value) -> Int64? in
      guard let strength = value.integer,
        SignalStrengths.measured.contains(strength) || strength == SignalStrengths.unmeasured
      else { return nil }
      return strength
    }
    self.strength = strength == SignalStrengths.unmeasured ? nil : strength
  }
}

package struct ProvePresence: RegistryCall {
  private let bearer: String
  private let form: PresenceForm
  private let nonce: SpentNonce

  /// - Parameters:
  ///   - bearer: the service's own token.
  ///   - nonce: the form's, which was issued for this device and this service.
  package init(bearer: String, _ form: PresenceForm, nonce: SpentNonce) {
    self.bearer = bearer
    self.form = form
    self.nonce = nonce
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let desktop = try transaction.service(bearer: bearer, scope: .presence)
    let device = try transaction.device(form.device, near: desktop)
    let message = DeviceMessage.presence(
      server: transaction.server, device: device.id, desktop: desktop.desktop, nonce: nonce.bytes,
      signedAt: form.signedAt)
    guard form.signature.isValid(for: message, by: device.keys.device, verifier: transaction.verifier) else {
      throw .refused(.presenceRejected, "presence_signature")
    }
    transaction.know(.device(device.id))
    // Said only to a phone that has signed, so that its person can set its clock.
    try transaction.requireTimely(form.signedAt, "presence_signed_at")
    guard transaction.settings.presenceStrengths.admit(form.strength, at: desktop.site) else {
      throw .refused(.presenceRejected, "presence_rssi")
    }
    try transaction.record(.presenceProved, .device(device.id))
    transaction.announce(
      .near(
        PresencePass(
          device: device.id, key: device.keys.device.hash, subject: device.subject, desktop: desktop.id,
          at: transaction.now)))
    var answer = DeviceAnswer()
    answer.put("result", "pass")
    answer.put("device_id", device.id.text)
    answer.put("expires_at", transaction.now.adding(transaction.settings.presenceMaximumAge))
    return .reply(answer.reply())
  }
}
