/// Why a session ends: what the player is told (RFC 6455 §7.4, docs/protocol.md, "Close codes"), and what becomes of
/// the game's leg.
internal import PortcullisProtocol
internal import WebSocketWire

/// What is over is the stay in the game, whichever connection carries it.
enum SessionEnd: Error, Equatable, Sendable {
  /// The game has closed its side.
  case gameClosed
  case gameFailed(reason: String)
  /// The game took nothing for `WRITE_STALL_TIMEOUT`.
  case gameStalled
  case keyRevoked
  case replaced
  case closedByOperator
  case draining

  /// What the player is told; nil when the connection just ends.
  var closeCode: CloseCode? {
    switch self {
    case .gameClosed: .normal
    case .gameFailed: .internalError
    case .gameStalled: nil
    case .keyRevoked, .replaced, .closedByOperator: .policyViolation
    case .draining: .goingAway
    }
  }

  /// The reason in the Close frame: at most 123 bytes, and nothing that helps an attacker.
  var closeReason: String {
    switch self {
    case .gameFailed(let reason): reason
    case .keyRevoked: CloseReason.keyRevoked.rawValue
    case .replaced: CloseReason.replaced.rawValue
    case .closedByOperator: CloseReason.closedByOperator.rawValue
    case .draining: CloseReason.draining.rawValue
    case .gameClosed, .gameStalled: ""
    }
  }

  /// Whether the game loses its connection in the same turn, with what was queued for it.
  var cutsGameOff: Bool {
    switch self {
    case .keyRevoked, .replaced, .closedByOperator, .gameFailed, .gameStalled: true
    case .gameClosed, .draining: false
    }
  }

  /// The word for the log.
  var word: String {
    switch self {
    case .gameClosed: "game_closed"
    case .gameFailed: "game_failed"
    case .gameStalled: "write_stalled"
    case .keyRevoked: "key_revoked"
    case .replaced: "replaced"
    case .closedByOperator: "closed_by_operator"
    case .draining: "draining"
    }
  }
}
