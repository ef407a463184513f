/// What a conversation keeps from turn to turn, when it is to be looked at again, and what its messages take.
///
/// One struct of four: what the game says and is told, what the app has and has not, whether the app keeps up, and what is
/// still to be passed on.
package import Admission
package import Charsets
internal import Configuration
package import SessionWire
package import Time
package import TelnetWire

package struct ConversationState: ~Copyable {
  package let dialect: Dialect
  package let charsets: CharsetLibrary
  package var voice: GameVoice
  package var ledger: AppLedger
  package var fullness = Fullness()
  package var notices: Notices
  /// Grows with what a session that outlives the process says of itself and no message tells.
  package var changes: UInt32 = 0

  /// - Parameter queuedForGame: how many bytes wait for the game in front of what this says to it.
  package init(
    _ dialect: Dialect, _ telnet: TelnetSettings, charsets: CharsetLibrary, settings: LoopSettings,
    queuedForGame: Int, now: MonotonicTime
  ) {
    self.dialect = dialect
    self.charsets = charsets
    voice = GameVoice(
      TelnetEngine(telnet, client: nil), charsets.coders(for: settings.telnet.charset), queued: queuedForGame,
      now: now)
    let outgoing = OutgoingLedger(
      limit: settings.limits.sessionBufferBytes,
      again: AgainCache(settings.packagesToldAgain, bufferBytes: settings.limits.sessionBufferBytes))
    var incoming = IncomingLedger()
    incoming.enqueue(bytes: queuedForGame)
    ledger = AppLedger(
      outgoing, incoming, allowance: InputAllowance(settings.limits.inputRate),
      freeAllowance: InputAllowance(settings.limits.inputRate, times: Self.freeTimes))
    notices = Notices(clientDeadline: now + Self.clientTime)
  }

  /// One of `portcullis.v1` that outlived the process before, without a connection at first.
  /// - Parameter queuedForGame: how many bytes wait for the game; `incoming` knows of them.
  package init(
    _ telnet: consuming TelnetEngine, _ outgoing: consuming OutgoingLedger, _ incoming: IncomingLedger,
    charsets: CharsetLibrary, settings: LoopSettings, queuedForGame: Int, now: MonotonicTime
  ) {
    dialect = .portcullis
    self.charsets = charsets
    let charset = Charset(named: telnet.charset.name) ?? settings.telnet.charset
    notices = Notices(clientDeadline: telnet.client == nil ? now + Self.clientTime : .never)
    voice = GameVoice(telnet, charsets.coders(for: charset), queued: queuedForGame, now: now)
    ledger = AppLedger(
      outgoing, incoming, allowance: InputAllowance(settings.limits.inputRate),
      freeAllowance: InputAllowance(settings.limits.inputRate, times: Self.freeTimes))
  }

  // MARK: What is due

  package var mayHear: Bool { fullness.mayHear(ledger) }

  /// The same without a connection.
  package func mayHearDetached(at now: MonotonicTime) -> Bool {
    now >= ledger.keepsAllUntil || !ledger.outgoing.isFull
  }

  package func mayReadOn(at now: MonotonicTime) -> Bool { voice.unreadUntil <= now }

  package mutating func noteFullness(now: MonotonicTime) { fullness.note(ledger, now: now) }

  package mutating func note(isShortOfRoom isShort: Bool, now: MonotonicTime) {
    fullness.isShortOfRoom = isShort
    noteFullness(now: now)
  }

  package mutating func noteUnheard(now: MonotonicTime) { fullness.noteUnheard(now: now) }

  package func isStalled(now: MonotonicTime, after time: Duration) -> Bool {
    fullness.isStalled(ledger, now: now, after: time)
  }

  /// Without a connection: notes whether the game takes what waits for it, and says whether it has stalled.
  package mutating func gameStalls(waits: Bool, hasProgressed: Bool, now: MonotonicTime, after time: Duration)
    -> Bool
  {
    voice.stalls(waits: waits, hasProgressed: hasProgressed, now: now, after: time)
  }

  /// Does what the time has come for.
  package mutating func tick(keepAlive: Duration?, now: MonotonicTime) {
    tellClient(now: now)
    if notices.clientDeadline <= now { update(notices.newClient.take() ?? ClientDescription()) }
    if let silence = keepAlive, now - voice.lastSent >= silence {
      voice.telnet.keepAlive(into: &voice.toGame)
    }
  }

  package func nextDeadline(keepAlive: Duration?, stallTimeout: Duration, now: MonotonicTime) -> MonotonicTime
  {
    var next = notices.clientDeadline
    // What could be read already waits for something else, which brings a turn with it.
    if voice.unreadUntil > now { next = min(next, voice.unreadUntil) }
    if notices.newClient != nil { next = min(next, notices.descriptions.next(now: now)) }
    if ledger.keepsAllUntil > now { next = min(next, ledger.keepsAllUntil) }
    if let silence = keepAlive { next = min(next, voice.lastSent + silence) }
    if let since = fullness.since { next = min(next, since + fullness.stallTime(ledger, stallTimeout)) }
    if let since = voice.blockedSince { next = min(next, since + stallTimeout) }
    if case .portcullis = dialect, ledger.outgoing.isAttached {
      next = min(next, ledger.incoming.schedule.deadline)
    }
    return next
  }

  package mutating func takeNewOptions() -> UInt16 { voice.takeNewOptions() }

  package mutating func takeLeftOut() -> LeftOut? { notices.takeLeftOut() }

  /// Time for the apps of all sessions to come back after a restart.
  package static let returnTime: Duration = .seconds(60)
  static let clientTime: Duration = .milliseconds(500)
  /// Apps acknowledge once for some messages, and describe themselves when a window changes.
  private static let freeTimes = 10
  /// What an event costs, however short it is.
  static let leastEvent = 64
  /// So much of a game's words is read at once.
  package static let pieceBytes = 16 * 1024
  /// So much of a buffer stays for the next message.
  static let usualText = 1024
}
