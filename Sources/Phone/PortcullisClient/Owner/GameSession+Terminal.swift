/// What a terminal or a script needs of a session beside what an app does: bytes as they are, and when there is room.
extension GameSession {
  package nonisolated var isAttached: Bool { owner.look { $0.isAttached } }

  /// Whether one more message of input would be taken.
  package nonisolated var hasRoom: Bool { owner.look { $0.hasRoom } }

  /// Bytes of one message of input.
  package nonisolated var maxMessage: Int { owner.look { $0.maxMessage } }

  package nonisolated var client: ClientDescription { owner.look { $0.client } }

  /// Input as it is, with the line end that it has.
  package nonisolated func send(bytes: [UInt8]) throws(GameInputError) { try owner.send(bytes) }

  /// Ends the session, in the game as well.
  /// - Parameter whenSent: not before everything typed has been sent, however many connections that takes.
  package nonisolated func finish(whenSent: Bool) {
    owner.change { machine, now in machine.finish(whenSent: whenSent, now: now) }
  }

  /// `leave`, without waiting.
  package nonisolated func startLeaving() {
    owner.change { machine, now in machine.leave(now: now) }
  }

  /// `enterBackground`, without waiting.
  package nonisolated func startParting() {
    owner.change { machine, now in machine.enterBackground(now: now) }
  }

  /// Loses the connection without a word, as a network does that is gone.
  package nonisolated func cut() { owner.cut() }

  /// Calls whenever one of the above may have changed, on any thread.
  package nonisolated func observe(_ body: @escaping @Sendable () -> Void) { owner.observe(body) }
}
