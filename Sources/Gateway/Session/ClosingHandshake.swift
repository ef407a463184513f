/// The closing handshake of RFC 6455 §7, from the gate's side: who has said Close, and what follows from it.
internal import WebSocketWire

struct ClosingHandshake: ~Copyable {
  enum State: Equatable {
    case open
    /// Our Close is out; the player's is awaited, and with `deliversRest` messages before it still go to the game.
    case awaitingReply(deliversRest: Bool)
    case done
  }

  enum Action: Equatable {
    /// Send Close with this code (nil: an empty one) and await the reply.
    case sendClose(UInt16?, reason: String)
    /// Send Close as the last frame, then end both legs.
    case replyAndFinish(UInt16?)
    /// End both legs: there is nothing more to say.
    case finish
    case nothing
  }

  private(set) var state = State.open

  /// Whether messages from the player go to the game.
  var delivers: Bool { state == .open || state == .awaitingReply(deliversRest: true) }
  var isOpen: Bool { state == .open }

  /// The gate, the game or the operator ends the session.
  mutating func end(_ end: SessionEnd) -> Action {
    switch state {
    case .open:
      switch end {
      case .playerClosed(let code):
        state = .done
        return .replyAndFinish(code)
      case .violation(let code, _):
        // "Fail the WebSocket connection" (§7.1.7): nothing that follows can be trusted to be a frame.
        state = .done
        return .replyAndFinish(code.rawValue)
      case .playerVanished, .stalled, .silent:
        state = .done
        return .finish
      case .gameClosed, .gameFailed, .keyRevoked, .replaced, .closedByOperator, .draining:
        state = .awaitingReply(deliversRest: end.deliversRest)
        return .sendClose(end.closeCode, reason: end.closeReason)
      }
    case .awaitingReply(let deliversRest):
      switch end {
      case .playerClosed, .violation, .playerVanished, .stalled, .silent:
        state = .done
        return .finish
      case .keyRevoked, .replaced, .closedByOperator:
        // The Close that is out stays the only one, but nothing more may pass.
        state = .awaitingReply(deliversRest: false)
        return .nothing
      case .gameClosed, .draining:
        state = .awaitingReply(deliversRest: deliversRest)
        return .nothing
      case .gameFailed:
        state = .awaitingReply(deliversRest: false)
        return .nothing
      }
    case .done: return .nothing
    }
  }

  /// The reply did not come in time.
  mutating func expired() -> Action {
    switch state {
    case .awaitingReply:
      state = .done
      return .finish
    case .open, .done: return .nothing
    }
  }
}
