/// Why a connection stops carrying its session, with what the player is told of it (RFC 6455 §7.4, docs/protocol.md,
/// "Close codes").
///
/// A session cannot go on without its connection yet, so that each of these ends the session too.
internal import TLS
internal import WebSocketWire

enum ConnectionEnd: Error, Equatable, Sendable {
  /// The player's Close frame, with its code if it had one.
  case playerClosed(CloseCode?)
  /// The player's connection ended without a Close frame.
  case playerVanished(reason: String)
  case violation(CloseCode, step: String)
  /// TLS messages that cost more than the data they bring.
  case tlsExcess(TLSExcess)
  /// The player took nothing for `WRITE_STALL_TIMEOUT`.
  case playerStalled
  /// Nothing was heard of the player for `PONG_TIMEOUT`.
  case silent
  /// The session is over, whatever the connection is like.
  case session(SessionEnd)

  /// What the player is told; nil when there is nobody to tell.
  var closeCode: CloseCode? {
    switch self {
    case .playerClosed(let code): code
    case .violation(let code, _): code
    case .playerVanished, .tlsExcess, .playerStalled, .silent: nil
    case .session(let end): end.closeCode
    }
  }

  var closeReason: String {
    switch self {
    case .session(let end): end.closeReason
    case .playerClosed, .playerVanished, .violation, .tlsExcess, .playerStalled, .silent: ""
    }
  }

  /// Whether the game loses its connection in the same turn, with what was queued for it.
  var cutsGameOff: Bool {
    switch self {
    case .session(let end): end.cutsGameOff
    case .tlsExcess, .playerStalled, .silent: true
    case .playerClosed, .playerVanished, .violation: false
    }
  }

  /// The word for the log.
  var word: String {
    switch self {
    case .playerClosed: "player_closed"
    case .playerVanished: "player_vanished"
    case .violation(_, let step): step
    case .tlsExcess(let excess): excess.rawValue
    case .playerStalled: "write_stalled"
    case .silent: "pong_timeout"
    case .session(let end): end.word
    }
  }

  /// More than the word says, for the log.
  var detail: String? {
    switch self {
    case .playerVanished(let reason), .session(.gameFailed(let reason)): reason
    case .playerClosed, .violation, .tlsExcess, .playerStalled, .silent, .session: nil
    }
  }
}

extension ConnectionEnd {
  /// What a read from the player says of its connection's end; nil when it goes on.
  init?(_ result: TLSReadResult) {
    switch result {
    case .bytes, .wantsInput, .wantsTurn: return nil
    case .excessive(let excess): self = .tlsExcess(excess)
    case .closed: self = .playerVanished(reason: "close_notify without Close")
    case .truncated: self = .playerVanished(reason: "connection ended")
    case .failed(let reason): self = .playerVanished(reason: reason)
    }
  }
}
