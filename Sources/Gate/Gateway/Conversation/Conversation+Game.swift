/// The game's leg as a conversation sees it: what comes of it is read a piece a turn, and what is for it leaves in one send.
internal import Admission
internal import Bytes
internal import Configuration
internal import Conversation
internal import Sockets
internal import System
internal import Time
internal import Upstream

extension GameSide {
  /// What of an earlier read telnet has not read yet, or else one read of the game's.
  mutating func hear(_ state: inout ConversationState, on loop: Loop) throws(SessionEnd) {
    if state.mayReadOn(at: loop.now) {
      try state.readOn(now: loop.now)
    } else if !state.voice.isHeld, mayHaveInput {
      leg?.kept?.willRead()
      try receive(&state, on: loop)
    } else {
      return
    }
    noteRead(state)
  }

  /// Whether there is more to hear at once.
  func hasMore(for state: borrowing ConversationState, at now: MonotonicTime) -> Bool {
    state.voice.isHeld ? state.mayReadOn(at: now) : mayHaveInput
  }

  private mutating func receive(_ state: inout ConversationState, on loop: Loop) throws(SessionEnd) {
    try loop.scratch.withBytes { (bytes) throws(SessionEnd) in
      var room = bytes._mutatingExtracting(0..<ConversationState.pieceBytes)
      switch leg?.receive(into: &room, gapBytes: 0, slotBytes: ConversationState.pieceBytes) {
      case .bytes(let count)?:
        bytesFromGame += UInt64(count)
        try state.read(bytes.span.extracting(0..<count), now: loop.now)
      case .wouldBlock?, nil: break
      case .ended?: throw .gameClosed
      case .failed(let error)?: throw .gameFailed(reason: PlayerStream.peerReason(error))
      }
    }
  }

  /// Sends what the conversation has for the game, after what already waits, and tells it what the game has taken.
  mutating func say(_ state: inout ConversationState, now: MonotonicTime) throws(SessionEnd) {
    if kept != nil { return try sayNoting(&state, now: now) }
    if !state.voice.toGame.isEmpty {
      if case .failed(let error)? = leg?.send(state.voice.toGame.span) {
        throw .gameFailed(reason: PlayerStream.peerReason(error))
      }
      bytesFromPlayer += UInt64(state.voice.toGame.count)
    } else if waits, case .failed(let error)? = leg?.resumeSending() {
      throw .gameFailed(reason: PlayerStream.peerReason(error))
    }
    state.said(stillQueued: queued, now: now)
  }

  /// The same, with a note before each call to the socket and after it: one that takes a part of a message leaves the rest to
  /// the next process, should this one not come to it.
  private mutating func sayNoting(_ state: inout ConversationState, now: MonotonicTime) throws(SessionEnd) {
    if !state.voice.toGame.isEmpty {
      noteChanges(state)
      if !waits { willSay(state) }
      if case .failed(let error)? = leg?.sendOnce(state.voice.toGame.span) {
        throw .gameFailed(reason: PlayerStream.peerReason(error))
      }
      bytesFromPlayer += UInt64(state.voice.toGame.count)
    }
    state.said(stillQueued: queued, now: now)
    noteSaid(state)
    while maySayMore {
      willSay(state)
      if case .failed(let error)? = leg?.resumeOnce() {
        throw .gameFailed(reason: PlayerStream.peerReason(error))
      }
      state.said(stillQueued: queued, now: now)
      noteSaid(state)
    }
  }
}

extension SessionConversation {
  /// What a turn without a connection comes to.
  enum DetachedTurn {
    case waits(hasMore: Bool)
    case ends(SessionEnd)
  }

  /// One turn of a session that nobody listens to.
  func proceedDetached(_ game: inout GameSide, on loop: Loop) -> DetachedTurn {
    do throws(SessionEnd) {
      guard game.leg != nil else { throw .gameFailed(reason: "the game's connection is lost") }
      state.tick(keepAlive: loop.settings.telnet.keepAlive, now: loop.now)
      // A game that takes nothing is not listened to either, as its answers would pile up.
      let mayHear = state.mayHearDetached(at: loop.now) && !loop.isRestarting
      if !game.waits, mayHear { try game.hear(&state, on: loop) }
      try game.say(&state, now: loop.now)
      let stalls = state.gameStalls(
        waits: game.waits, hasProgressed: game.takeProgress(), now: loop.now,
        after: loop.settings.limits.writeStallTimeout)
      if stalls { throw .gameStalled }
      // It may have taken what waited just now.
      return .waits(hasMore: !game.waits && mayHear && game.hasMore(for: state, at: loop.now))
    } catch {
      return .ends(error)
    }
  }
}
