/// Logins that wait for a one-time code, and the code.
public import PortcullisProtocol

/// A login that waits for a code of this phone.
public struct Login: Equatable, Sendable, Identifiable {
  /// By which the gate knows it.
  public let id: CodeChallengeID
  /// Who asks.
  public let service: String
  /// The service's own words.
  public let text: String
  /// When it is over.
  public let expiresAt: UnixSeconds
  /// What is signed for it, once.
  let nonce: Octets32

  /// Nil for an item that is none, or that cannot be shown as it is.
  init?(_ tree: JSONTree) {
    guard let object = tree.object,
      let id = object["challenge_id"]?.string.flatMap({ CodeChallengeID($0) }),
      let nonce = object["nonce"]?.string.flatMap({ Octets32(hex: $0) }),
      let service = object["service"]?.string, let text = object["text"]?.string,
      ShownText.isClean(service), ShownText.isClean(text),
      let expiresAt = object["expires_at"]?.integer.flatMap({ UnixSeconds($0) })
    else { return nil }
    (self.id, self.nonce, self.service, self.text, self.expiresAt) = (id, nonce, service, text, expiresAt)
  }
}

/// What a person types at the login.
public struct OneTimeCode: Equatable, Sendable {
  /// Six digits.
  public let text: String
  /// When it is good no more.
  public let expiresAt: UnixSeconds

  init?(_ object: JSONTree.Object) {
    guard let text = object["otp_code"]?.string, text.utf8.count == 6,
      text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
      let expiresAt = object["expires_at"]?.integer.flatMap({ UnixSeconds($0) })
    else { return nil }
    self.text = text
    self.expiresAt = expiresAt
  }
}

/// What a phone says of itself when it asks for a code: a JSON object, signed exactly as it is (docs/risk.md).
public struct PhoneSignals: Equatable, Sendable {
  /// JSON.
  public let bytes: [UInt8]

  /// Nothing.
  public static let none = Self(checked: Array("{}".utf8))

  /// Nil for what is no JSON object of at most 4,096 bytes.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count <= 4096, (try? JSONTree(parsing: bytes, depthLimit: 8))?.object != nil else {
      return nil
    }
    self.init(checked: bytes)
  }

  private init(checked bytes: [UInt8]) {
    self.bytes = bytes
  }
}

/// What is open now.
public struct Glance: Equatable, Sendable {
  /// Requests that wait for a vote, the oldest first.
  public let approvals: [Approval]
  /// Logins that wait for a code, the oldest first.
  public let logins: [Login]
}
