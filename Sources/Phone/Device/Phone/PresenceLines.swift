/// What goes between a desktop and a phone that is near, whatever carries it: a line of JSON either way
/// (docs/codes.md, "Presence").
package import Bytes
package import DeviceWire
internal import JSON

/// What a desktop asks: the gate's challenge for the two of them, as it came.
package struct PresenceQuestion: Equatable, Sendable {
  package let nonce: Bytes32
  package let desktop: DesktopID
  /// When an answer comes too late.
  package let expiresAt: UnixSeconds

  package init(nonce: Bytes32, desktop: DesktopID, expiresAt: UnixSeconds) {
    self.nonce = nonce
    self.desktop = desktop
    self.expiresAt = expiresAt
  }

  package init?(line: String) { self.init(json: Array(line.utf8)) }

  init?(json: [UInt8]) {
    guard let object = (try? JSONValue(parsing: json.span, depthLimit: 4))?.object,
      let nonce = object["nonce"]?.string.flatMap({ Bytes32(hex: $0) }),
      let desktop = object["desktop_id"]?.string.flatMap({ DesktopID($0) }),
      let expiresAt = object["expires_at"]?.integer.flatMap({ UnixSeconds($0) })
    else { return nil }
    self.init(nonce: nonce, desktop: desktop, expiresAt: expiresAt)
  }

  package var line: String {
    var form = PhoneForm()
    form.add("nonce", nonce.hex)
    form.add("desktop_id", desktop.text)
    form.add("expires_at", expiresAt.value)
    return String(decoding: form.bytes, as: UTF8.self)
  }
}

/// What a phone answers: all that the gate wants to see, but for how near it was.
package struct PresenceAnswer: Equatable, Sendable {
  package let device: DeviceID
  package let nonce: Bytes32
  package let signedAt: UnixSeconds
  package let signature: DeviceSignature

  init(device: DeviceID, nonce: Bytes32, signedAt: UnixSeconds, signature: DeviceSignature) {
    self.device = device
    self.nonce = nonce
    self.signedAt = signedAt
    self.signature = signature
  }

  package init?(line: String) {
    let json = Array(line.utf8)
    guard let object = (try? JSONValue(parsing: json.span, depthLimit: 4))?.object,
      let device = object["device_id"]?.string.flatMap({ DeviceID($0) }),
      let nonce = object["nonce"]?.string.flatMap({ Bytes32(hex: $0) }),
      let signedAt = object["signed_at"]?.integer.flatMap({ UnixSeconds($0) }),
      let signature = object["signature"]?.string.flatMap({ DeviceSignature(base64: $0) })
    else { return nil }
    self.init(device: device, nonce: nonce, signedAt: signedAt, signature: signature)
  }

  /// - Parameter strength: in dBm, as the desktop has measured it.
  func form(strength: Int64? = nil) -> PhoneForm {
    var form = PhoneForm()
    form.add("device_id", device.text)
    form.add("nonce", nonce.hex)
    form.add("signed_at", signedAt.value)
    form.add("signature", Base64.encodeURL(signature.der.span))
    form.add("rssi", strength)
    return form
  }

  package var line: String { String(decoding: form().bytes, as: UTF8.self) }
}
