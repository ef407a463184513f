/// What a session that outlives the process notes on the path of a message; nothing where there is no slot.
internal import Charsets
internal import Conversation
internal import Keeping
internal import SessionWire
internal import System
internal import TelnetWire
internal import Upstream

extension GameSide {
  /// - Parameter bytesTaken: as its leg counts them.
  @inline(__always)
  func progress(of state: borrowing ConversationState, bytesTaken: UInt64) -> KeptProgress {
    KeptProgress(
      outgoing: state.ledger.outgoing, incoming: state.ledger.incoming, telnet: state.voice.telnet,
      held: state.voice.decoder.heldWord, bytesFromGame: bytesFromGame, bytesFromPlayer: bytesFromPlayer,
      bytesTaken: bytesTaken)
  }

  /// Telnet has had what was read, or as much as it takes for now: the rest would be lost with the process. What it answers
  /// stands in the slot with where it then is, or a game would wait for ever for what was never sent.
  @inline(__always)
  func noteRead(_ state: borrowing ConversationState) {
    guard let kept else { return }
    if hasNews(state, kept) {
      kept.didRead(
        progress(of: state, bytesTaken: kept.bytesTaken), isWhole: !state.voice.isHeld,
        changes: state.changes,
        answers: answers(in: state)
      ) { $0.tell(of: state) }
    } else {
      kept.didRead(progress(of: state, bytesTaken: kept.bytesTaken), isWhole: !state.voice.isHeld)
    }
  }

  /// What the game is about to be told of the app stands in the slot before: a game that heard of it would else be spoken
  /// to by a next process that does not know. What it does not hear then is in the slot as an answer, to be sent first.
  @inline(__always)
  func noteChanges(_ state: borrowing ConversationState) {
    guard let kept, hasNews(state, kept) else { return }
    kept.describe(
      progress(of: state, bytesTaken: kept.bytesTaken), changes: state.changes, answers: answers(in: state)
    ) {
      $0.tell(of: state)
    }
  }

  @inline(__always)
  private func hasNews(_ state: borrowing ConversationState, _ kept: PersistedLeg) -> Bool {
    state.voice.toGame.count > state.voice.noted || state.changes != kept.changes
  }

  /// Of telnet's own, where nothing else is in front of it and the slot has room.
  private func answers(in state: borrowing ConversationState) -> [UInt8]? {
    guard !waits, state.ledger.incoming.unhandled == 0, !state.voice.toGame.isEmpty,
      state.voice.toGame.count <= KeptDescription.owedLimit
    else { return nil }
    return state.voice.toGame
  }

  /// All that waits is offered, or as much as one call takes; in messages, all that are not handled.
  @inline(__always)
  func willSay(_ state: borrowing ConversationState) {
    guard let kept, maySayMore || mayBegin && !waits else { return }
    let offered = waits ? firstPiece : state.voice.toGame.count
    kept.willWrite(
      unhandled: state.ledger.incoming.unhandled, offered: offered, waiting: waits ? queued : offered)
  }

  @inline(__always)
  func noteSaid(_ state: borrowing ConversationState) {
    guard let kept else { return }
    guard kept.isWriting else { return kept.noteHandled(progress(of: state, bytesTaken: kept.bytesTaken)) }
    if kept.noteTaken(left: queued) {
      kept.didWrite(progress(of: state, bytesTaken: kept.bytesTaken), rest: waits ? rest(of: state) : .none)
    } else {
      kept.didWriteNothing(progress(of: state, bytesTaken: kept.bytesTaken))
    }
  }

  /// Nil unless the session outlives the process.
  var kept: PersistedLeg? {
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

  private var firstPiece: Int {
    switch leg {
    case .some(let leg): leg.unsent.firstPiece
    case nil: 0
    }
  }

  private func rest(of state: borrowing ConversationState) -> UnsaidRest {
    guard let torn = state.ledger.incoming.torn else { return .none }
    if torn.bytes > KeptDescription.owedLimit {
      return UnsaidRest(isTorn: true)
    }
    return UnsaidRest(owed: firstQueued(torn.bytes), endsMessage: torn.endsMessage)
  }

  private func firstQueued(_ count: Int) -> [UInt8] {
    switch leg {
    case .some(let leg): leg.unsent.copy(first: count)
    case nil: []
    }
  }
}

extension GameSession {
  /// Whether it goes on in the gate's next process, if this one ends in good order.
  var isKept: Bool { game.kept?.isGood == true }
  /// Whether it goes on there even if this one is killed now: what an app may be promised.
  var isSafe: Bool { game.kept?.isSafe == true }
}
