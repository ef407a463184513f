/// Why a session ends: the close code that says so (RFC 6455 §7.4, SPEC §3), and what becomes of the game's leg.
internal import TLS
internal import WebSocketWire

enum SessionEnd: Error, Equatable {
  /// The game has closed its side.
  case gameClosed
  case gameFailed(reason: String)
  /// The player's Close frame, with its code if it had one.
  case playerClosed(CloseCode?)
  /// The player's connection ended without a Close frame.
  case playerVanished(reason: String)
  case violation(CloseCode, step: String)
  case keyRevoked
  case replaced
  case closedByOperator
  case draining
  /// One side took nothing for `WRITE_STALL_TIMEOUT`.
  case stalled
  case silent

  /// What the player is told; nil when there is nobody to tell.
  var closeCode: CloseCode? {
    switch self {
    case .gameClosed: .normal
    case .gameFailed: .internalError
    case .playerClosed(let code): code
    case .violation(let code, _): code
    case .keyRevoked, .replaced, .closedByOperator: .policyViolation
    case .draining: .goingAway
    case .playerVanished, .stalled, .silent: nil
    }
  }

  /// The reason in the Close frame: at most 123 bytes, and nothing that helps an attacker.
  var closeReason: String {
    switch self {
    case .gameFailed(let reason): reason
    case .keyRevoked: "key revoked"
    case .replaced: "replaced by a newer session"
    case .closedByOperator: "closed by the operator"
    case .draining: "the gate is shutting down"
    case .gameClosed, .playerClosed, .playerVanished, .violation, .stalled, .silent: ""
    }
  }

  /// Whether the game loses its connection in the same turn, with what was queued for it.
  var cutsGameOff: Bool {
    switch self {
    case .keyRevoked, .replaced, .closedByOperator, .gameFailed, .stalled, .silent: true
    case .gameClosed, .playerClosed, .playerVanished, .violation, .draining: false
    }
  }

  /// The word for the log.
  var word: String {
    switch self {
    case .gameClosed: "game_closed"
    case .gameFailed: "game_failed"
    case .playerClosed: "player_closed"
    case .playerVanished: "player_vanished"
    case .violation(_, let step): step
    case .keyRevoked: "key_revoked"
    case .replaced: "replaced"
    case .closedByOperator: "closed_by_operator"
    case .draining: "draining"
    case .stalled: "write_stalled"
    case .silent: "pong_timeout"
    }
  }
}

extension SessionEnd {
  /// What a read from the player says of its connection's end; nil when it goes on.
  init?(_ result: TLSReadResult) {
    switch result {
    case .bytes, .wantsInput: return nil
    case .closed: self = .playerVanished(reason: "close_notify without Close")
    case .truncated: self = .playerVanished(reason: "connection ended")
    case .failed(let reason): self = .playerVanished(reason: reason)
    }
  }
}
