/// The client's half of the opening handshake (RFC 6455 §4.1).
internal import Bytes
internal import System
internal import WebSocketWire

struct WebSocketHandshake {
  private let key: String
  private let subprotocols: [String]

  init(subprotocols: [String], entropy: some Entropy = KernelEntropy()) {
    key = Base64.encode(entropy.bytes(16).span)
    self.subprotocols = subprotocols
  }

  var fields: [GateResponse.Field] {
    var fields = [
      GateResponse.Field("Connection", "Upgrade"), GateResponse.Field("Upgrade", "websocket"),
      GateResponse.Field("Sec-WebSocket-Version", "13"), GateResponse.Field("Sec-WebSocket-Key", key),
    ]
    if !subprotocols.isEmpty {
      fields.append(GateResponse.Field("Sec-WebSocket-Protocol", subprotocols.joined(separator: ", ")))
    }
    return fields
  }

  /// Checks a 101 as RFC 6455 §4.1 asks of clients; nil when the server chose none.
  func chosenSubprotocol(in response: GateResponse) throws(GateClientError) -> String? {
    guard response["Upgrade"]?.lowercased() == "websocket" else {
      throw .protocolViolation("Upgrade is missing")
    }
    guard response["Connection"]?.lowercased() == "upgrade" else {
      throw .protocolViolation("Connection: Upgrade is missing")
    }
    guard response["Sec-WebSocket-Accept"] == WebSocketAccept.value(for: key) else {
      throw .protocolViolation("Sec-WebSocket-Accept does not answer the key")
    }
    // None was offered.
    guard response["Sec-WebSocket-Extensions"] == nil else {
      throw .protocolViolation("an extension nobody asked for")
    }
    guard let chosen = response["Sec-WebSocket-Protocol"] else { return nil }
    guard subprotocols.contains(chosen) else {
      throw .protocolViolation("a subprotocol nobody offered: \(chosen)")
    }
    return chosen
  }
}
