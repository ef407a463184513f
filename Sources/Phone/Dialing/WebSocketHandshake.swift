/// The client's half of the opening handshake (RFC 6455 §4.1).
internal import Bytes
package import Time
package import WebSocketWire

package struct WebSocketHandshake {
  private let key: String
  private let subprotocols: [String]
  private let offersDeflate: Bool

  package init(subprotocols: [String], offersDeflate: Bool = false, entropy: some Entropy = KernelEntropy()) {
    self.offersDeflate = offersDeflate
    key = Base64.encode(entropy.bytes(16).span)
    self.subprotocols = subprotocols
  }

  package var fields: [GateResponse.Field] {
    var fields = [
      GateResponse.Field("Connection", "Upgrade"), GateResponse.Field("Upgrade", "websocket"),
      GateResponse.Field("Sec-WebSocket-Version", "13"), GateResponse.Field("Sec-WebSocket-Key", key),
    ]
    if !subprotocols.isEmpty {
      fields.append(GateResponse.Field("Sec-WebSocket-Protocol", subprotocols.joined(separator: ", ")))
    }
    if offersDeflate {
      fields.append(GateResponse.Field("Sec-WebSocket-Extensions", PermessageDeflate.offer))
    }
    return fields
  }

  /// Checks a 101 as RFC 6455 §4.1 asks of clients; nil when the server chose none.
  package func chosenSubprotocol(in response: GateResponse) throws(GateClientError) -> String? {
    guard response["Upgrade"]?.lowercased() == "websocket" else {
      throw .protocolViolation("Upgrade is missing")
    }
    guard response["Connection"]?.lowercased() == "upgrade" else {
      throw .protocolViolation("Connection: Upgrade is missing")
    }
    guard response["Sec-WebSocket-Accept"] == WebSocketAccept.value(for: key) else {
      throw .protocolViolation("Sec-WebSocket-Accept does not answer the key")
    }
    guard let chosen = response["Sec-WebSocket-Protocol"] else { return nil }
    guard subprotocols.contains(chosen) else {
      throw .protocolViolation("a subprotocol nobody offered: \(chosen)")
    }
    return chosen
  }

  /// What the server made of the offer; nil when it chose to do without.
  package func chosenDeflate(in response: GateResponse) throws(GateClientError) -> PermessageDeflate? {
    guard let answer = response["Sec-WebSocket-Extensions"] else { return nil }
    guard offersDeflate else { throw .protocolViolation("an extension nobody asked for") }
    guard let agreement = PermessageDeflate(answering: Array(answer.utf8)) else {
      throw .protocolViolation("extensions nobody offered: \(answer)")
    }
    return agreement
  }
}
