/// Why a connection stops carrying its session, with what the player is told of it (RFC 6455 §7.4, docs/protocol.md,
/// "Close codes").
///
/// What passes as it comes ends with its connection, whatever the reason; a session of `portcullis.v1` outlives most of
/// them (`endsResumable`).
package import PortcullisProtocol
package import TLS
package import WebSocketWire

package enum ConnectionEnd: Error, Equatable, Sendable {
  /// The player's Close frame, with its code if it had one.
  case playerClosed(CloseCode?)
  /// The player's connection ended without a Close frame.
  case playerVanished(reason: String)
  case violation(CloseCode, step: String)
  /// TLS messages that cost more than the data they bring.
  case tlsExcess(TLSExcess)
  /// The player took nothing for `WRITE_STALL_TIMEOUT`, or acknowledged nothing while as much was kept for it as may be.
  case playerStalled
  /// The app stays in the game without a connection.
  case left
  /// Another connection carries the session from now on.
  case takenOver
  /// The session goes on in the gate's next process.
  case restarting
  /// A text message of `portcullis.v1` that is no object with a type.
  case malformed(step: String)
  /// Nothing was heard of the player for `PONG_TIMEOUT`.
  case silent
  /// The session is over, whatever the connection is like.
  case session(SessionEnd)

  /// What the player is told; nil when there is nobody to tell.
  package var closeCode: CloseCode? {
    switch self {
    case .playerClosed(let code): code
    case .violation(let code, _): code
    case .left: CloseCode(.left)
    case .takenOver: CloseCode(.takenOver)
    case .restarting: CloseCode(.restarting)
    case .malformed: CloseCode(.malformed)
    case .playerVanished, .tlsExcess, .playerStalled, .silent: nil
    case .session(let end): end.closeCode
    }
  }

  package var closeReason: String {
    switch self {
    case .session(let end): end.closeReason
    case .left: ClosingReason.left.rawValue
    case .takenOver: ClosingReason.takenOver.rawValue
    case .restarting: ClosingReason.restarting.rawValue
    case .malformed: ClosingReason.malformed.rawValue
    case .playerClosed, .playerVanished, .violation, .tlsExcess, .playerStalled, .silent: ""
    }
  }

  /// Whether it ends the session of an app that could else come back: the game's word and the operator's, and the app's
  /// own Close with 1000.
  package var endsResumable: Bool {
    switch self {
    case .session: true
    case .playerClosed(let code): code == .normal
    case .playerVanished, .violation, .tlsExcess, .playerStalled, .silent, .left, .takenOver, .restarting,
      .malformed:
      false
    }
  }

  /// Whether somebody may come back for the last messages of a session that is over.
  package var leavesWord: Bool {
    if case .session(let end) = self { end.leavesWord } else { true }
  }

  /// What stands in `closing` (docs/sessions.md) before the gate's Close; nil where no Close is sent, or for another reason.
  package var closingReason: ClosingReason? {
    switch self {
    case .violation(let code, _): ClosingReason.allCases.first { CloseCode($0) == code }
    case .left: .left
    case .takenOver: .takenOver
    case .restarting: .restarting
    case .malformed: .malformed
    case .session, .playerClosed, .playerVanished, .tlsExcess, .playerStalled, .silent: nil
    }
  }

  /// Whether the game loses its connection in the same turn, with what was queued for it, where the session ends too.
  package var cutsGameOff: Bool {
    switch self {
    case .session(let end): end.cutsGameOff
    case .tlsExcess, .playerStalled, .silent: true
    case .playerClosed, .playerVanished, .violation, .left, .takenOver, .restarting, .malformed: false
    }
  }

  /// The word for the log.
  package var word: String {
    switch self {
    case .playerClosed: "player_closed"
    case .playerVanished: "player_vanished"
    case .violation(_, let step): step
    case .tlsExcess(let excess): excess.rawValue
    case .playerStalled: "write_stalled"
    case .silent: "pong_timeout"
    case .left: "left"
    case .takenOver: "taken_over"
    case .restarting: "restarting"
    case .malformed(let step): step
    case .session(let end): end.word
    }
  }

  /// More than the word says, for the log.
  package var detail: String? {
    switch self {
    case .playerVanished(let reason), .session(.gameFailed(let reason)): reason
    case .playerClosed, .violation, .tlsExcess, .playerStalled, .silent, .left, .takenOver, .restarting,
      .malformed, .session:
      nil
    }
  }
}

extension ConnectionEnd {
  /// What a read from the player says of its connection's end; nil when it goes on.
  package init?(_ result: TLSReadResult) {
    switch result {
    case .bytes, .wantsInput, .wantsTurn: return nil
    case .excessive(let excess): self = .tlsExcess(excess)
    case .closed: self = .playerVanished(reason: "close_notify without Close")
    case .truncated: self = .playerVanished(reason: "connection ended")
    case .failed(let failure): self = .playerVanished(reason: failure.reason)
    }
  }
}
