/// How a session goes on whose gate was killed, from what its slot says: nothing is said twice, and what may be missing is
/// named (docs/sessions.md, "After a crash").
package import SessionWire
package import TelnetWire

package struct CrashRecovery: Equatable, Sendable {
  /// What its slot says from now on. Its `owed` is to be sent before anything else, and ends the one message that was taken
  /// and is not handled, if there is one.
  package let session: KeptSession
  /// How many messages were in writes that were under way: they count as handled, and may be missing.
  package var doubt: Int? { session.description.doubt > 0 ? session.description.doubt : nil }
  /// Whether nobody knows how many of the game's messages are missing.
  package var isGapUnknown: Bool { session.progress.isLossUnknown }

  /// Nil when it cannot go on: the game has got a part of a message whose rest nobody has, or the stay was over and its last
  /// messages are lost.
  package init?(_ crashed: KeptSession) {
    if crashed.description.isTorn || crashed.description.isOver { return nil }
    var session = crashed
    if let writing = crashed.writing {
      // Whether the rest of what the game has a part of is there nobody knows: neither it nor another message can follow.
      if !crashed.description.owed.isEmpty { return nil }
      session.progress.handled += writing
      session.description.doubt += writing
    }
    // What else was taken is lost with the queue that it was in; its app has it still.
    session.progress.taken = session.progress.handled + (session.description.owedEndsMessage ? 1 : 0)
    if crashed.wasReading {
      // Nobody knows where the game was. Most likely that is where it mostly is: between two lines.
      session.progress.telnet.place = .data
      session.progress.telnet.bodyBytes = 0
      session.progress.telnet.gameSaidCR = false
      session.progress.held = 0
    }
    session.progress.isLossUnknown =
      crashed.wasReading || crashed.hasOpenBody || crashed.progress.isLossUnknown
    session.wasReading = false
    session.writing = nil
    self.session = session
  }
}

extension KeptSession {
  /// What had come of a subnegotiation is gone, and so is the message that it would have been: it has no number yet.
  fileprivate var hasOpenBody: Bool {
    switch progress.telnet.place {
    case .body, .bodyCommand: progress.telnet.bodyBytes > 0
    case .data, .command, .will, .wont, .do, .dont: false
    }
  }
}

// MARK: What it is made of again

extension CrashRecovery {
  /// With nothing to send again: what the app had not got is a gap.
  package func outgoing(limit: Int, again: AgainCache) -> OutgoingLedger {
    OutgoingLedger(
      limit: limit, again: again, afterCrashAt: session.progress.last,
      acknowledged: session.progress.acknowledged,
      highestSent: session.progress.highestSent, isLossUnknown: isGapUnknown)
  }

  /// With what is owed in the queue to the game.
  package var incoming: IncomingLedger {
    let owed = session.description.owed.count
    let ends = session.description.owedEndsMessage ? [owed] : []
    let queue = IncomingSnapshot(
      checking: session.progress.handled, waiting: owed, ends: ends, isTorn: owed > 0)
    guard let queue else {
      fatalError("CrashRecovery: \(owed) bytes are owed")
    }
    return IncomingLedger(restoring: queue)
  }

  /// A subnegotiation that was open is dropped up to its end.
  package var telnet: TelnetSnapshot {
    var snapshot = TelnetSnapshot(
      state: session.progress.telnet, client: session.description.client, charset: session.description.charset
    )
    snapshot.earlySize = session.description.earlySize
    return snapshot
  }
}
