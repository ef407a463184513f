/// How a software phone answers a desktop: by its device key, without the gate and without asking its person.
internal import Crypto
internal import DeviceWire
package import Dialing
internal import Time

extension SoftwarePhone {
  package func answer(_ question: PresenceQuestion) throws(GateClientError) -> PresenceAnswer {
    let device = try device()
    guard let server = state.server else {
      throw .device(.unusable(path: file.path, reason: "this phone belongs to no gate: pair or enroll it"))
    }
    let signedAt = UnixSeconds(SystemClock().wall())
    let text = try signing { () throws(IssuingError) in
      try keys.device.sign(
        .presence(
          server: server, device: device, desktop: question.desktop, nonce: question.nonce,
          signedAt: signedAt))
    }
    guard let signature = DeviceSignature(base64: text) else { throw .device(.issuing(.unsupportedKey)) }
    return PresenceAnswer(device: device, nonce: question.nonce, signedAt: signedAt, signature: signature)
  }
}
