/// The WebSocket subprotocols that the gate knows (docs/protocol.md).
public enum Subprotocol: String, CaseIterable, Sendable {
  /// Raw bytes either way, as without a subprotocol.
  case binary
  /// Raw bytes either way: the client speaks telnet itself.
  case telnet = "telnet.mudstandards.org"
  /// Text in UTF-8 both ways; the gate speaks telnet with the game.
  case terminal = "terminal.mudstandards.org"
  /// The same, and GMCP in text messages: `Package.Name <json>`.
  case gmcp = "gmcp.mudstandards.org"
  /// The same, and events as objects with `proto`, `id` and `data`.
  case json = "json.mudstandards.org"
  /// The gate's own: the session outlives its connection.
  case portcullis = "portcullis.v1"

  /// Whether bytes pass through it as they come.
  public var isRaw: Bool {
    switch self {
    case .binary, .telnet: true
    case .terminal, .gmcp, .json, .portcullis: false
    }
  }
}
