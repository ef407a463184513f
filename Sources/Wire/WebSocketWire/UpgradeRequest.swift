/// The server's side of the opening handshake (RFC 6455 §4.2): what an upgrade asks for, and the `101` that
/// grants it.
internal import Bytes
internal import Crypto
package import HTTPWire
package import PortcullisProtocol

/// A request that asks for a WebSocket as RFC 6455 §4.2.1 says; whether it is let in is for others to say.
package struct UpgradeRequest: Sendable {
  /// 24 characters, canonical base64 of 16 bytes.
  package let key: String
  /// As offered, in order of preference.
  package let subprotocols: [String]
  package let extensions: [ExtensionOffer]

  /// Whether the request asks for a WebSocket at all, however badly (RFC 9110 §7.8).
  package static func isAsked(by head: RequestHead) -> Bool {
    head.hasToken("websocket", in: "Upgrade") && head.hasToken("upgrade", in: "Connection")
  }

  package init(_ head: RequestHead) throws(UpgradeRefusal) {
    guard head.method == .get else { throw .method }
    guard Self.isAsked(by: head) else { throw .notAsked }
    guard head.version == .http11 else { throw .httpVersion }
    guard head.value("Sec-WebSocket-Version") == "13" else { throw .version }
    guard let key = head.valueBytes("Sec-WebSocket-Key"), Self.isCanonicalKey(key) else { throw .key }
    self.key = String(decoding: key, as: UTF8.self)
    subprotocols = head.listElements("Sec-WebSocket-Protocol")
    guard subprotocols.allSatisfy(TokenSyntax.isToken) else { throw .subprotocols }
    guard let extensions = ExtensionOffer.list(head.valueBytes("Sec-WebSocket-Extensions") ?? []) else {
      throw .extensions
    }
    self.extensions = extensions
  }

  /// `101 Switching Protocols`.
  ///
  /// - Parameters:
  ///   - subprotocol: the one of those that were offered that is spoken; nil for none.
  ///   - extensions: what was agreed on, as it stands in its field; nil for none.
  package func response(subprotocol: String? = nil, extensions: String? = nil, date: String? = nil) -> [UInt8]
  {
    var head = ResponseHead(.switchingProtocols)
    if let date { head.add("Date", date) }
    head.add("Upgrade", "websocket")
    head.add("Connection", "Upgrade")
    head.add("Sec-WebSocket-Accept", WebSocketAccept.value(for: key))
    if let subprotocol { head.add("Sec-WebSocket-Protocol", subprotocol) }
    if let extensions { head.add("Sec-WebSocket-Extensions", extensions) }
    return head.ended()
  }

  /// 16 bytes in 24 characters of RFC 4648 §4, spare bits zero: there is one way to write them.
  private static func isCanonicalKey(_ text: [UInt8]) -> Bool {
    guard text.count == 24, let bytes = Base64.decode(text.span), bytes.count == 16 else { return false }
    return Base64.encode(bytes.span).utf8.elementsEqual(text)
  }
}

/// Why a request is no good as an upgrade; its framing is fine, so the connection may go on.
package enum UpgradeRefusal: String, Error, CaseIterable, Sendable {
  case method
  case notAsked = "no_upgrade"
  case httpVersion = "http_version"
  case version = "websocket_version"
  case key = "websocket_key"
  case subprotocols = "websocket_protocol"
  case extensions = "websocket_extensions"

  package var code: RefusalCode {
    switch self {
    case .method: .methodNotAllowed
    case .notAsked, .version: .upgradeRequired
    case .httpVersion: .versionNotSupported
    case .key, .subprotocols, .extensions: .badRequest
    }
  }

  /// The word for the log.
  package var step: String { rawValue }
}

/// `Sec-WebSocket-Accept` (RFC 6455 §4.2.2, step 5.4): proof that the server read the key as a WebSocket
/// server does.
package enum WebSocketAccept {
  package static func value(for key: String) -> String {
    Base64.encode(SHA1.digest(Array((key + globallyUniqueIdentifier).utf8).span).span)
  }

  private static let globallyUniqueIdentifier = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
}
