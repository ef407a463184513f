/// The closing handshake of RFC 6455 §7, from the gate's side: who has said Close, and what follows from it.
internal import Admission
internal import WebSocketWire

struct ClosingHandshake: ~Copyable {
  enum State: Equatable {
    case open
    /// Our Close is out; until the player's comes, its messages still go to a game that has not closed its side.
    case awaitingReply
    case done
  }

  enum Action: Equatable {
    /// Send Close and await the reply.
    case sendClose(CloseCode, reason: String)
    /// Send Close as the last frame, then end both legs. Without a code its payload is empty.
    case closeAndFinish(CloseCode?, reason: String)
    /// End both legs: there is nothing more to say.
    case finish
    case nothing
  }

  private(set) var state = State.open
  private var gameHasClosed = false

  /// Whether messages from the player go to the game.
  var delivers: Bool { state != .done && !gameHasClosed }
  var isOpen: Bool { state == .open }

  /// The player, the game, the gate or the operator ends the session.
  mutating func end(_ end: ConnectionEnd) -> Action {
    if case .session(.gameClosed) = end { gameHasClosed = true }
    switch state {
    case .open:
      switch end {
      case .session(.gameClosed), .session(.draining):
        state = .awaitingReply
        return end.closeCode.map { .sendClose($0, reason: end.closeReason) } ?? .nothing
      case .playerClosed, .violation, .left, .takenOver, .restarting, .malformed, .session(.keyRevoked),
        .session(.replaced), .session(.closedByOperator), .session(.gameFailed):
        // What the player sends from here on counts for nothing: after its own Close there is nothing, after a
        // violation nothing is a frame (§7.1.7), and in the other cases nobody would take it.
        state = .done
        return .closeAndFinish(end.closeCode, reason: end.closeReason)
      case .playerVanished, .tlsExcess, .playerStalled, .silent, .session(.gameStalled), .session(.expired),
        .session(.letGo):
        state = .done
        return .finish
      }
    case .awaitingReply:
      switch end {
      case .session(.gameClosed), .session(.draining): return .nothing
      case .playerClosed, .violation, .playerVanished, .tlsExcess, .playerStalled, .silent, .left, .takenOver,
        .restarting, .malformed, .session(.keyRevoked), .session(.replaced), .session(.closedByOperator),
        .session(.gameFailed), .session(.gameStalled), .session(.expired), .session(.letGo):
        state = .done
        return .finish
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
