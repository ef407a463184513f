/// What the head of a request about devices says beside its path: who asks, by which token, and the name of the request.
internal import Bytes
internal import HTTPWire
internal import PortcullisProtocol
internal import System

/// `Authorization: Bearer <token>` (RFC 6750 §2.1).
struct BearerToken: Equatable {
  /// A device token takes about a kilobyte.
  static let longest = 4096

  let text: String

  /// Nil without one, with one of another scheme, and with what is no token.
  init?(_ head: RequestHead) {
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
  var isDeviceToken: Bool { text.utf8.contains(UInt8(ascii: ".")) }

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

extension Connection {
  /// Of the request about devices that is being served.
  var trace: TraceID? {
    if case .exchange(let exchange) = stage { return exchange.trace }
    return nil
  }
}

/// By which a request is found again in the logs of all that it passes through.
struct TraceID: Equatable {
  static let longest = 64

  let text: String

  /// The client's own, if it has sent one that can be logged; else a new one.
  init(_ head: RequestHead, entropy: any Entropy) {
    if let sent = head.value(HeaderName.traceID), sent.utf8.count <= Self.longest, TokenSyntax.isToken(sent) {
      text = sent
    } else {
      text = Hex.encode(entropy.bytes(8).span)
    }
  }
}
