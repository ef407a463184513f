/// What goes between a desktop and a phone that is near, whatever carries it: a line of JSON either way (docs/codes.md).
public import PortcullisProtocol

/// What a desktop asks: the gate's challenge for the two of them, as it came.
public struct PresenceQuestion: Equatable, Sendable {
  /// Good once.
  public let nonce: Octets32
  /// Who asks.
  public let desktop: DesktopID
  /// When an answer comes too late.
  public let expiresAt: UnixSeconds

  /// - Parameters:
  ///   - nonce: the gate's.
  ///   - desktop: who asks.
  ///   - expiresAt: when an answer comes too late.
  public init(nonce: Octets32, desktop: DesktopID, expiresAt: UnixSeconds) {
    self.nonce = nonce
    self.desktop = desktop
    self.expiresAt = expiresAt
  }

  /// Nil for what is no question; a line has at most 512 bytes.
  public init?(line: String) {
    guard line.utf8.count <= 512,
      let object = (try? JSONTree(parsing: Array(line.utf8), depthLimit: 4))?.object,
      let nonce = object["nonce"]?.string.flatMap({ Octets32(hex: $0) }),
      let desktop = object["desktop_id"]?.string.flatMap({ DesktopID($0) }),
      let expiresAt = object["expires_at"]?.integer.flatMap({ UnixSeconds($0) })
    else { return nil }
    self.init(nonce: nonce, desktop: desktop, expiresAt: expiresAt)
  }

  /// Without its line end.
  public var line: String {
    var form = JSONForm()
    form.add("nonce", nonce.hex)
    form.add("desktop_id", desktop.text)
    form.add("expires_at", expiresAt.value)
    return String(decoding: form.bytes, as: UTF8.self)
  }
}

/// What a phone answers: all that the gate wants to see, but for how near it was.
public struct PresenceAnswer: Equatable, Sendable {
  /// Who answers.
  public let device: DeviceID
  /// Of the question.
  public let nonce: Octets32
  /// By the phone's clock.
  public let signedAt: UnixSeconds
  /// DER.
  public let signature: [UInt8]

  init(device: DeviceID, nonce: Octets32, signedAt: UnixSeconds, signature: [UInt8]) {
    self.device = device
    self.nonce = nonce
    self.signedAt = signedAt
    self.signature = signature
  }

  /// Nil for what is no answer; a line has at most 512 bytes.
  public init?(line: String) {
    guard line.utf8.count <= 512,
      let object = (try? JSONTree(parsing: Array(line.utf8), depthLimit: 4))?.object,
      let device = object["device_id"]?.string.flatMap({ DeviceID($0) }),
      let nonce = object["nonce"]?.string.flatMap({ Octets32(hex: $0) }),
      let signedAt = object["signed_at"]?.integer.flatMap({ UnixSeconds($0) }),
      let signature = object["signature"]?.string.flatMap({ ByteText.bytes(base64: $0) }),
      (8...72).contains(signature.count)
    else { return nil }
    self.init(device: device, nonce: nonce, signedAt: signedAt, signature: signature)
  }

  /// - Parameter strength: of the signal in dBm, where it was measured.
  package func form(strength: Int64? = nil) -> JSONForm {
    var form = JSONForm()
    form.add("device_id", device.text)
    form.add("nonce", nonce.hex)
    form.add("signed_at", signedAt.value)
    form.add("signature", ByteText.base64URL(signature))
    form.add("rssi", strength)
    return form
  }

  /// Without its line end.
  public var line: String { String(decoding: form().bytes, as: UTF8.self) }
}
