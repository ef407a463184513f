/// What a session that outlives the process notes on the path of a message; nothing where there is no slot.
internal import Charsets
internal import Keeping
internal import SessionWire
internal import System
internal import TelnetWire

extension GameSide {
  @inline(__always)
  func progress(of state: borrowing ConversationState) -> KeptProgress {
    KeptProgress(
      outgoing: state.outgoing, incoming: state.incoming, telnet: state.telnet,
      held: state.decoder.heldWord, bytesFromGame: bytesFromGame, bytesFromPlayer: bytesFromPlayer)
  }

  /// Telnet has had what was read, or as much as it takes for now: the rest would be lost with the process.
  @inline(__always)
  func noteRead(_ state: borrowing ConversationState) {
    guard let kept else { return }
    kept.didRead(progress(of: state), isWhole: !state.isHeld)
  }

  @inline(__always)
  func willSay(_ state: borrowing ConversationState) {
    guard let kept, maySayMore || mayBegin && !state.toGame.isEmpty else { return }
    kept.willWrite(unhandled: state.incoming.unhandled)
  }

  @inline(__always)
  func noteSaid(_ state: borrowing ConversationState) {
    guard let kept else { return }
    kept.didWrite(progress(of: state), rest: waits ? rest(of: state) : .none)
  }

  /// Nil unless the session outlives the process.
  var kept: KeptLeg? {
    switch leg {
    case .some(let leg): leg.kept
    case nil: nil
    }
  }

  /// Something waits for the game, and its socket has not refused it.
  var maySayMore: Bool {
    switch leg {
    case .some(let leg): leg.unsent.mayGoOn
    case nil: false
    }
  }

  private var mayBegin: Bool {
    switch leg {
    case .some(let leg): leg.unsent.mayBegin
    case nil: false
    }
  }

  private func rest(of state: borrowing ConversationState) -> UnsaidRest {
    guard let torn = state.incoming.torn else { return .none }
    if torn.bytes > KeptDescription.owedLimit {
      return UnsaidRest(owed: [], isTorn: true, endsMessage: false)
    }
    return UnsaidRest(owed: firstQueued(torn.bytes), isTorn: false, endsMessage: torn.endsMessage)
  }

  private func firstQueued(_ count: Int) -> [UInt8] {
    switch leg {
    case .some(let leg): leg.unsent.copy(first: count)
    case nil: []
    }
  }
}

extension GameSession {
  /// Whether it goes on in the gate's next process.
  var isKept: Bool { game.kept?.isGood == true }
}
