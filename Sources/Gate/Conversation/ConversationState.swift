/// What a conversation keeps from turn to turn, when it is to be looked at again, and what its messages take.
package import Admission
package import Charsets
internal import Configuration
package import SessionWire
package import Time
package import TelnetWire

package struct ConversationState: ~Copyable {
  package let dialect: Dialect
  package var telnet: TelnetEngine
  package let charsets: CharsetLibrary
  package var decoder: CharsetDecoder
  var encoder: CharsetEncoder
  package var outgoing: OutgoingLedger
  package var incoming = IncomingLedger()
  package var allowance: InputAllowance
  /// Of messages that `INPUT_RATE` does not count; beyond it they count.
  var freeAllowance: InputAllowance
  /// What the app has said of itself and telnet was not told yet. `INPUT_RATE` does not count that, and each description
  /// costs the game as much as what is typed.
  var newClient: ClientDescription?
  var descriptions = InputAllowance(descriptionRate)
  /// Messages that may not have reached the game, as the process before was killed while it sent them; until the app has
  /// been heard, as what told it may be lost.
  package var doubt = 0
  /// After a restart: until when nothing is read of the game while the messages for the app fill their buffer, as if its
  /// connection were still there, so that none of them has to go.
  package var keepsAllUntil = MonotonicTime(nanoseconds: 0)
  /// Grows with what a session that outlives the process says of itself and no message tells.
  package var changes: UInt32 = 0
  /// By what it is resumed: the present id, and the one that the last upgrade named until that is confirmed.
  package var ids: [SessionIDHash] = []

  /// How many requests wait for the vote of the device that plays, when it has not been told yet.
  package var approvalsOpen: Int?
  /// A login waits for its one-time code, and it has not been told yet.
  package var isCodeWanted = false

  /// The order of the upgrade that has attached it last.
  package var upgradeOrder: UInt64 = 0

  /// The telnet options that are on and counted, as bits.
  var countedOptions: UInt16 = 0

  /// What was left out of what either side has said, by words for the log: counted, and said once a turn.
  package var leftOut = LeftOut()

  /// What telnet has to say to the game, in this turn.
  package var toGame: [UInt8] = []
  /// How much of it the ledger knows of.
  package var noted = 0
  /// What of earlier turns waited for the game at the end of the last one.
  package var queued: Int
  /// Text of the game that is to become one message.
  package var text: [UInt8] = []
  /// How much of that there was in this turn.
  package var told = 0
  /// What the game has said and telnet does not read yet, as it has had answers enough, or is to be asked again.
  package var unread: [UInt8] = []
  package var unreadUntil = MonotonicTime.never
  /// Something of that waits, in here or within telnet.
  package var isHeld: Bool { unreadUntil != .never }
  /// Until when the app may say who it is before the game is told that it is nobody in particular.
  var clientDeadline: MonotonicTime
  /// When the game was sent something last.
  var lastSent: MonotonicTime
  /// All sessions together keep more than they may, as of this turn.
  package var isShortOfRoom = false
  /// Since when nothing is read of the game because the app acknowledges nothing; while nothing is read of the app either,
  /// this stands still.
  var fullSince: MonotonicTime? {
    didSet { if fullSince == nil || fullFrom == nil { fullFrom = fullSince } }
  }
  /// The same by the clock. What has come too fast can keep the app from being read for as long as it likes.
  private var fullFrom: MonotonicTime?
  /// Then its own buffer was not full, but that of all.
  private var lacksRoomOfAll = false
  /// Without a connection: since when the game has taken nothing of what waits for it.
  package var blockedSince: MonotonicTime?
  /// What of its messages is counted in the sum of all sessions.
  var accountedBytes = 0

  /// - Parameter queuedForGame: how many bytes wait for the game in front of what this says to it.
  package init(
    _ dialect: Dialect, _ telnet: TelnetSettings, charsets: CharsetLibrary, settings: LoopSettings,
    queuedForGame: Int, now: MonotonicTime
  ) {
    self.dialect = dialect
    self.telnet = TelnetEngine(telnet, client: nil)
    self.charsets = charsets
    (decoder, encoder) = charsets.coders(for: settings.telnet.charset)
    outgoing = OutgoingLedger(
      limit: settings.limits.sessionBufferBytes,
      again: AgainCache(settings.packagesToldAgain, bufferBytes: settings.limits.sessionBufferBytes))
    allowance = InputAllowance(settings.limits.inputRate)
    freeAllowance = InputAllowance(settings.limits.inputRate, times: Self.freeTimes)
    clientDeadline = now + Self.clientTime
    lastSent = now
    queued = queuedForGame
    incoming.enqueue(bytes: queuedForGame)
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
    (decoder, encoder) = charsets.coders(for: charset)
    clientDeadline = telnet.client == nil ? now + Self.clientTime : .never
    self.telnet = telnet
    self.outgoing = outgoing
    self.incoming = incoming
    allowance = InputAllowance(settings.limits.inputRate)
    freeAllowance = InputAllowance(settings.limits.inputRate, times: Self.freeTimes)
    lastSent = now
    queued = queuedForGame
    countedOptions = self.telnet.agreedOptions
  }

  // MARK: What is due

  /// Nothing is read of the game while the app's messages fill their buffer, nor while there is no room for more of them
  /// and some are not acknowledged.
  package var mayHear: Bool {
    !(outgoing.isAttached && (outgoing.isFull || isShortOfRoom && hasUnacknowledged))
  }

  /// The same without a connection.
  package func mayHearDetached(at now: MonotonicTime) -> Bool { now >= keepsAllUntil || !outgoing.isFull }

  package func mayReadOn(at now: MonotonicTime) -> Bool { unreadUntil <= now }

  /// Once the app's time runs, it is what the app acknowledges that stops it, and not the room that others make: else
  /// those who acknowledge nothing would have it all in the end.
  package mutating func noteFullness(now: MonotonicTime) {
    if !outgoing.isAttached || !hasUnacknowledged {
      fullSince = nil
    } else if !mayHear, fullSince == nil || lacksRoomOfAll && outgoing.isFull {
      fullSince = now
      lacksRoomOfAll = !outgoing.isFull
    }
  }

  package mutating func note(isShortOfRoom isShort: Bool, now: MonotonicTime) {
    isShortOfRoom = isShort
    noteFullness(now: now)
  }

  /// Nothing is read of the app at present, its acknowledgements neither: its time stands still.
  package mutating func noteUnheard(now: MonotonicTime) {
    if fullSince != nil { fullSince = now }
  }

  /// The app has acknowledged nothing for so long that it is given up.
  package func isStalled(now: MonotonicTime, after time: Duration) -> Bool {
    guard let fullSince, let fullFrom else { return false }
    return now - fullSince >= stallTime(time) || now - fullFrom >= stallTime(time) * Self.unheardTimes
  }

  /// Who has not got so much that an acknowledgement is due at once may be about to send one, and that takes its time: of a
  /// message where there is room of its own, or of a buffer that is smaller than what it may wait for.
  @usableFromInline
  func stallTime(_ time: Duration) -> Duration {
    outgoing.isFull && outgoing.isAcknowledgementDue ? time : max(time, AckSchedule.delay * 2)
  }

  /// Without a connection: notes whether the game takes what waits for it, and says whether it has stalled.
  package mutating func gameStalls(waits: Bool, hasProgressed: Bool, now: MonotonicTime, after time: Duration)
    -> Bool
  {
    if !waits {
      blockedSince = nil
    } else if blockedSince == nil || hasProgressed {
      blockedSince = now
    }
    guard let blockedSince else { return false }
    return now - blockedSince >= time
  }

  /// Does what the time has come for.
  package mutating func tick(keepAlive: Duration?, now: MonotonicTime) {
    tellClient(now: now)
    if clientDeadline <= now { update(newClient.take() ?? ClientDescription()) }
    if let silence = keepAlive, now - lastSent >= silence { telnet.keepAlive(into: &toGame) }
  }

  /// Put in where it is called: a call would be given a copy of the whole.
  @inlinable
  @inline(__always)
  package func nextDeadline(keepAlive: Duration?, stallTimeout: Duration, now: MonotonicTime) -> MonotonicTime
  {
    var next = clientDeadline
    // What could be read already waits for something else, which brings a turn with it.
    if unreadUntil > now { next = min(next, unreadUntil) }
    if newClient != nil { next = min(next, descriptions.next(now: now)) }
    if keepsAllUntil > now { next = min(next, keepsAllUntil) }
    if let silence = keepAlive { next = min(next, lastSent + silence) }
    if let fullSince { next = min(next, fullSince + stallTime(stallTimeout)) }
    if let blockedSince { next = min(next, blockedSince + stallTimeout) }
    if case .portcullis = dialect, outgoing.isAttached { next = min(next, incoming.schedule.deadline) }
    return next
  }

  /// The options that are on since the last look; one that was off meanwhile counts again.
  package mutating func takeNewOptions() -> UInt16 {
    let agreed = telnet.agreedOptions
    if agreed == countedOptions { return 0 }
    defer { countedOptions = agreed }
    return agreed & ~countedOptions
  }

  package mutating func takeLeftOut() -> LeftOut? {
    if leftOut.count == 0 { return nil }
    defer { leftOut = LeftOut() }
    return leftOut
  }

  /// Time for the apps of all sessions to come back after a restart.
  package static let returnTime: Duration = .seconds(60)
  static let clientTime: Duration = .milliseconds(500)
  /// A window that is dragged is told of often enough by that.
  /// Apps acknowledge once for some messages, and describe themselves when a window changes.
  private static let freeTimes = 10
  private static let descriptionRate = Rate(count: 10, per: .seconds(1), burst: 10)
  /// So many times as long as an app that is read may one acknowledge nothing that is not, because it says too much.
  private static let unheardTimes = 10
  /// What an event costs, however short it is.
  static let leastEvent = 64
  /// So much of a game's words is read at once.
  package static let pieceBytes = 16 * 1024
  /// So much of a buffer stays for the next message.
  static let usualText = 1024
}
