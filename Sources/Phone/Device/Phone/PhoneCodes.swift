/// A phone's requests about one-time codes: which logins wait, and the code of one (docs/codes.md, "One-time codes").
package import Bytes
package import Crypto
package import DeviceWire
internal import JSON

/// A login that waits for a code.
package struct OpenLogin: Equatable, Sendable {
  package let id: CodeChallengeID
  /// What is signed for it, once.
  package let nonce: Bytes32
  package let service: String
  /// The service's words.
  package let text: String
  package let expiresAt: UnixSeconds

  init?(_ value: JSONValue) {
    guard let object = value.object, let id = object["challenge_id"]?.string.flatMap({ CodeChallengeID($0) }),
      let nonce = object["nonce"]?.string.flatMap({ Bytes32(hex: $0) }),
      let service = object["service"]?.string, let text = object["text"]?.string,
      ShownText.isClean(service), ShownText.isClean(text),
      let expiresAt = object["expires_at"]?.integer.flatMap({ UnixSeconds($0) })
    else { return nil }
    (self.id, self.nonce, self.service, self.text, self.expiresAt) = (id, nonce, service, text, expiresAt)
  }
}

package struct OpenLogins: Equatable, Sendable {
  /// In the order in which they were asked for.
  package let items: [OpenLogin]
  package let cursor: String

  init?(_ object: JSONObject) {
    guard let values = object["items"]?.array, let cursor = object["cursor"]?.string,
      PhoneCursor.isOne(cursor)
    else { return nil }
    let items = values.compactMap { OpenLogin($0) }
    guard items.count == values.count else { return nil }
    self.items = items
    self.cursor = cursor
  }
}

/// What a person types at the login.
package struct PhoneCode: Equatable, Sendable {
  /// Six digits.
  package let text: String
  package let expiresAt: UnixSeconds

  init?(_ object: JSONObject) {
    guard let text = object["otp_code"]?.string, text.utf8.count == 6,
      text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
      let expiresAt = object["expires_at"]?.integer.flatMap({ UnixSeconds($0) })
    else { return nil }
    self.text = text
    self.expiresAt = expiresAt
  }
}

extension PhoneRequest {
  /// - Parameter cursor: of the answer before; what has come since then, for which the gate is to wait.
  package static func logins(after cursor: String? = nil) -> Self {
    guard let cursor else { return Self(get: "/auth/otp", needsToken: true) }
    return Self(
      get: "/auth/otp?after=\(cursor)&wait=\(longestWait)", needsToken: true, waitSeconds: longestWait)
  }

  /// - Parameter signals: what the phone says of itself and of where it is.
  package static func code(
    for login: OpenLogin, by device: DeviceID, at server: ServerID, _ keys: PhoneKeys, signals: Signals,
    signedAt: UnixSeconds
  ) throws(IssuingError) -> Self {
    let message = DeviceMessage.otpIssue(
      server: server, device: device, challenge: login.id, nonce: login.nonce, signedAt: signedAt,
      signalsHash: signals.hash)
    var form = PhoneForm()
    form.add("device_id", device.text)
    form.add("challenge_id", login.id.text)
    form.add("nonce", login.nonce.hex)
    form.add("signed_at", signedAt.value)
    form.add("signals", Base64.encodeURL(signals.bytes.span))
    form.add("signature", try keys.device.sign(message))
    return Self(post: "/auth/otp/issue", form, needsToken: true)
  }
}
