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

  /// Nil when it cannot go on: the game has got a part of a message whose rest nobody has, so that whatever came next would
  /// be glued to it; or the stay was over and its last messages are lost.
  /// - Parameter bytesTaken: what the leg's socket counts now (`Socket.bytesTaken`).
  package init?(_ crashed: KeptSession, bytesTaken: UInt64? = nil) {
    if crashed.description.isOver { return nil }
    var session = crashed
    switch InterruptedWrite(crashed, bytesTaken: bytesTaken) {
    case .none: if crashed.description.isTorn { return nil }
    case .torn: return nil
    case .ofOwed(let bytes): session.note(takenOfOwed: bytes)
    case .whole(let messages):
      // It may have left or not: none of them is said again.
      session.description.owed = []
      (session.description.owedIsWhole, session.description.owedEndsMessage) = (false, false)
      session.description.isTorn = false
      session.progress.handled += messages
      session.description.doubt += messages
    }
    session.progress.bytesTaken = bytesTaken ?? 0
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
    session.offered = 0
    self.session = session
  }
}

/// What a kill has left of the write to the game that it fell into.
private enum InterruptedWrite {
  /// There was none.
  case none
  /// So many bytes of what was owed have left, and nothing after them.
  case ofOwed(Int)
  /// All of it has left or nothing has: messages that count as handled.
  case whole(messages: Int)
  /// A part of something has left, or may have, and its rest is lost.
  case torn

  init(_ session: KeptSession, bytesTaken: UInt64?) {
    guard let messages = session.writing else {
      self = .none
      return
    }
    let owed = session.description.owed.count
    switch Self.taken(session, bytesTaken) {
    case .some(let taken) where owed > 0 && taken <= owed: self = .ofOwed(taken)
    case .some(session.offered): self = .whole(messages: messages)
    case .some(0) where !session.description.isTorn: self = .whole(messages: messages)
    case .some: self = .torn
    case nil:
      let isBegun = session.description.isTorn || owed > 0 && !session.description.owedIsWhole
      self = isBegun || session.offered > Self.indivisible ? .torn : .whole(messages: messages)
    }
  }

  /// How many bytes have left; nil where the socket does not tell.
  private static func taken(_ session: KeptSession, _ bytesTaken: UInt64?) -> Int? {
    guard let bytesTaken, session.progress.bytesTaken > 0, bytesTaken >= session.progress.bytesTaken else {
      return nil
    }
    let taken = bytesTaken - session.progress.bytesTaken
    return taken <= UInt64(session.offered) ? Int(taken) : nil
  }

  /// A UNIX socket, which does not count, takes so much in one piece or not at all.
  private static let indivisible = 16 * 1024
}

extension KeptSession {
  /// What else was offered has not left, and is its app's still.
  fileprivate mutating func note(takenOfOwed bytes: Int) {
    if bytes == 0 { return }
    description.owed.removeFirst(bytes)
    description.owedIsWhole = false
    guard description.owed.isEmpty else { return }
    if description.owedEndsMessage { progress.handled += 1 }
    description.owedEndsMessage = false
  }

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
