/// Why a session ends: what the player is told (RFC 6455 §7.4, docs/protocol.md, "Close codes"), and what becomes of
/// the game's leg.
package import PortcullisProtocol
package import WebSocketWire

/// What is over is the stay in the game, whichever connection carries it.
package enum SessionEnd: Error, Equatable, Sendable {
  /// The game has closed its side.
  case gameClosed
  case gameFailed(reason: String)
  /// The game took nothing for `WRITE_STALL_TIMEOUT`.
  case gameStalled
  case keyRevoked
  case replaced
  case closedByOperator
  case draining
  /// Nobody came back in `SESSION_RESUME_FOR`.
  case expired
  /// Without a connection, and given up for others.
  case letGo

  /// What the player is told; nil when the connection just ends.
  package var closeCode: CloseCode? {
    switch self {
    case .gameClosed: .normal
    case .gameFailed: .internalError
    case .gameStalled: nil
    case .keyRevoked, .replaced, .closedByOperator: .policyViolation
    case .draining: .goingAway
    case .expired, .letGo: nil
    }
  }

  /// The reason in the Close frame: at most 123 bytes, and nothing that helps an attacker.
  package var closeReason: String {
    switch self {
    case .gameFailed(let reason): reason
    case .keyRevoked: CloseReason.keyRevoked.rawValue
    case .replaced: CloseReason.replaced.rawValue
    case .closedByOperator: CloseReason.closedByOperator.rawValue
    case .draining: CloseReason.draining.rawValue
    case .gameClosed, .gameStalled, .expired, .letGo: ""
    }
  }

  /// Whether the game loses its connection in the same turn, with what was queued for it.
  package var cutsGameOff: Bool {
    switch self {
    case .keyRevoked, .replaced, .closedByOperator, .gameFailed, .gameStalled, .expired, .letGo: true
    case .gameClosed, .draining: false
    }
  }

  /// The word for the log.
  package var word: String {
    switch self {
    case .gameClosed: "game_closed"
    case .gameFailed: "game_failed"
    case .gameStalled: "write_stalled"
    case .keyRevoked: "key_revoked"
    case .replaced: "replaced"
    case .closedByOperator: "closed_by_operator"
    case .draining: "draining"
    case .expired: "expired"
    case .letGo: "let_go"
    }
  }

  /// What `ended` tells the app (docs/sessions.md).
  package var endedReason: EndedReason {
    switch self {
    case .gameClosed: .gameClosed
    case .gameFailed, .gameStalled: .gameFailed
    case .keyRevoked: .revoked
    case .replaced: .replaced
    case .closedByOperator: .closedByOperator
    case .draining: .shutdown
    case .expired: .expired
    case .letGo: .letGo
    }
  }

  /// Whether somebody may come back for the last messages: not with a key that was revoked, and not to a session that was
  /// given up.
  package var leavesWord: Bool {
    switch self {
    case .gameClosed, .gameFailed, .gameStalled, .replaced, .closedByOperator: true
    case .keyRevoked, .draining, .expired, .letGo: false
    }
  }
}
