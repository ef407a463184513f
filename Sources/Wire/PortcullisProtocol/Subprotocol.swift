/// The WebSocket subprotocols that the gate speaks (docs/protocol.md): raw bytes either way in all of them.
public enum Subprotocol: String, CaseIterable, Sendable {
  case binary
  case telnet = "telnet.mudstandards.org"
}
