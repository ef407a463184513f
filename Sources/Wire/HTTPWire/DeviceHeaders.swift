/// What the head of a request about devices says beside its path: who asks, by which token, and the name of the request.
internal import PortcullisProtocol

/// `Authorization: Bearer <token>` (RFC 6750 §2.1).
package struct BearerToken: Equatable, Sendable {
  /// A device token takes about a kilobyte.
  package static let longest = 4096

  package let text: String

  /// Nil without one, with one of another scheme, and with what is no token.
  package init?(_ head: RequestHead) {
    // By bytes: to look for characters in a device's token was a fifth of the loop's work on a decision.
    guard let value = head.valueBytes("Authorization"), let space = value.firstIndex(of: UInt8(ascii: " "))
    else { return nil }
    let token = value[(space + 1)...]
    guard value[..<space].elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 }),
      (1...Self.longest).contains(token.count), token.allSatisfy(Self.isTokenByte)
    else { return nil }
    text = String(decoding: token, as: UTF8.self)
  }

  /// Device tokens have three parts (RFC 7515 §7.1), and services' have one.
  package var isDeviceToken: Bool { text.utf8.contains(UInt8(ascii: ".")) }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
      true
    default: false
    }
  }
}

/// By which a request is found again in the logs of all that it passes through.
package struct TraceID: Equatable, Sendable {
  package static let longest = 64

  package let text: String

  /// The client's own; nil where it has sent none, or none that can be logged as it is.
  package init?(_ head: RequestHead) {
    guard let sent = head.value(HeaderName.traceID) else { return nil }
    self.init(sent)
  }

  /// Nil for what is no token (RFC 9110 §5.6.2) of 1 to 64 characters.
  package init?(_ text: String) {
    guard text.utf8.count <= Self.longest, TokenSyntax.isToken(text) else { return nil }
    self.text = text
  }
}
