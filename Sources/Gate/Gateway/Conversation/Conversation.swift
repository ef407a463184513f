/// What the gate speaks for both sides of a session whose bytes do not pass as they come: telnet with the game, messages
/// with the app (docs/telnet.md, docs/sessions.md).
///
/// Game to app                                     App to game
///   1. hear      telnet → text and events            4. take       message → lines, GMCP, answers to be counted
///   2. tell      dialect → counted messages          5. toGame     telnet, one send a turn
///   3. outgoing  kept until acknowledged             6. incoming   counted as taken, then as handled
///
/// It knows neither of the sockets: `Conversation+Game` moves bytes of the leg, `PlayerStream+Messages` those of the player.
internal import Addresses
internal import Bytes
internal import Charsets
internal import Configuration
internal import PortcullisProtocol
internal import SessionWire
internal import System
internal import TelnetWire
internal import WebSocketWire

final class Conversation {
  let dialect: Dialect
  /// Whether it outlives its connection.
  let isResumable: Bool
  private(set) var telnet: TelnetEngine
  private let charsets: CharsetLibrary
  private var decoder: CharsetDecoder
  private var encoder: CharsetEncoder
  var outgoing: OutgoingLedger
  var incoming = IncomingLedger()
  var allowance: InputAllowance
  /// By what it is resumed: the present id, and the one that the last upgrade named until that is confirmed.
  private(set) var ids: [SessionIDHash] = []

  /// What was left out of what either side has said, by words for the log: counted, and said once a turn.
  private var leftOut = LeftOut()

  /// What telnet has to say to the game, in this turn.
  var toGame: [UInt8] = []
  /// How much of it the ledger knows of.
  private var noted = 0
  /// What of earlier turns waited for the game at the end of the last one.
  private var queued: Int
  /// Text of the game that is to become one message.
  private var text: [UInt8] = []
  /// How much of that there was in this turn.
  private var told = 0
  /// What the game has said and telnet does not read yet, as it has had answers enough, or is to be asked again.
  private var unread: [UInt8] = []
  private var unreadUntil = MonotonicTime.never
  /// Something of that waits, in here or within telnet.
  var isHeld: Bool { unreadUntil != .never }
  /// Until when the app may say who it is before the game is told that it is nobody in particular.
  private var clientDeadline: MonotonicTime
  /// When the game was sent something last.
  private var lastSent: MonotonicTime
  /// Since when nothing is read of the game because the app acknowledges nothing.
  private var fullSince: MonotonicTime?
  /// Without a connection: since when the game has taken nothing of what waits for it.
  private var blockedSince: MonotonicTime?
  /// What of its messages is counted in the sum of all sessions.
  private var accountedBytes = 0

  /// - Parameters:
  ///   - client: nil if the app has not said yet who it is.
  ///   - queuedForGame: how many bytes wait for the game in front of what this says to it.
  init(
    _ dialect: Dialect, _ telnet: TelnetSettings, client: ClientDescription?, charsets: CharsetLibrary,
    settings: LoopSettings, queuedForGame: Int, now: MonotonicTime
  ) {
    self.dialect = dialect
    isResumable = dialect.isResumable && settings.sessions.resumableFor > .zero
    self.telnet = TelnetEngine(telnet, client: client)
    self.charsets = charsets
    (decoder, encoder) = charsets.coders(for: settings.telnet.charset)
    outgoing = OutgoingLedger(
      limit: settings.limits.sessionBufferBytes,
      again: AgainCache(settings.packagesToldAgain, bufferBytes: settings.limits.sessionBufferBytes))
    allowance = InputAllowance(settings.limits.inputRate)
    clientDeadline = client == nil ? now + Self.clientTime : .never
    lastSent = now
    queued = queuedForGame
    incoming.enqueue(bytes: queuedForGame)
  }

  // MARK: 1. From the game

  /// Reads what the game has said.
  func hear(_ input: Span<UInt8>, now: MonotonicTime) throws(SessionEnd) {
    if !isHeld { return try read(input, now: now) }
    unread.append(copying: input)
    try readOn(now: now)
  }

  /// Goes on with what was not read yet.
  func readOn(now: MonotonicTime) throws(SessionEnd) {
    unreadUntil = .never
    let input = unread
    unread = []
    try read(input.span, now: now)
  }

  private func read(_ input: Span<UInt8>, now: MonotonicTime) throws(SessionEnd) {
    var position = 0
    told = 0
    reading: while true {
      // Compressed input may become a thousand times as much: no more of it in a turn than the game says elsewhere.
      if text.count + told >= GameSide.pieceBytes, telnet.holdsInput {
        unreadUntil = now
        break reading
      }
      let event = telnet.next(input, position: &position, now: now, into: &toGame)
      switch event {
      case .needMore: break reading
      case .again:
        unreadUntil = now
        break reading
      case .waits(let until):
        unreadUntil = until
        break reading
      case .text(let piece): decoder.decode(telnet.text(piece, in: input), into: &text)
      case .charset(let name):
        endText()
        use(name)
      case .compressionStarted, .compressionEnded: break
      case .dropped(let drop): leftOut.append(drop.rawValue)
      case .compressionFailed:
        endText()
        throw .gameFailed(reason: "the compressed stream is damaged")
      case .gmcpAgreed, .msdpAgreed, .prompt, .echo, .gmcp, .msdp, .mssp:
        endText()
        tell(event)
        if dialect.isResumable { outgoing.note(event) }
      }
    }
    if position < input.count { unread.append(copying: input.extracting(position..<input.count)) }
    sendText()
    noteFullness(now: now)
  }

  private func use(_ name: [UInt8]) {
    guard let charset = Charset(named: name) else { return }
    (decoder, encoder) = charsets.coders(for: charset)
  }

  // MARK: 2. To the app

  /// What stands before an event comes before it, the beginning of a character as well.
  private func endText() {
    decoder.finish(into: &text)
    sendText()
  }

  private func sendText() {
    if text.isEmpty { return }
    told += text.count
    outgoing.append(text: text.span)
    text.removeAll(keepingCapacity: text.count <= Self.usualText)
  }

  private func tell(_ event: TelnetEvent) {
    var message: [UInt8] = []
    if dialect.tell(event, to: &message) { outgoing.append(.text, message.span) }
    told += max(message.count, Self.leastEvent)
  }

  /// The stay is over, and the app is told why.
  func over(_ end: SessionEnd) {
    endText()
    if dialect == .portcullis {
      var message: [UInt8] = []
      GateMessage.ended(end.endedReason, to: &message)
      outgoing.append(.text, message.span)
    }
    unread = []
    unreadUntil = .never
  }

  // MARK: 4. From the app

  /// What a message of the app's asks of its connection.
  enum Demand {
    case nothing
    /// To be without a connection.
    case leave
    case close(step: String)
    /// The message came too fast: it was not taken, and is to be offered again.
    case wait
  }

  func take(_ message: Span<UInt8>, type: MessageType, now: MonotonicTime, atAnyRate: Bool = false) -> Demand
  {
    let before = toGame.count
    noteQueued(upTo: before)
    var demand = Demand.nothing
    let parsed: AppMessage
    do throws(MalformedMessage) {
      parsed = try dialect.read(type, message)
    } catch {
      incoming.take(bytes: 0, size: message.count, now: now)
      return .close(step: error.step)
    }
    if !parsed.isFree, !atAnyRate, !allowance.take(now: now) { return .wait }
    switch parsed {
    case .input: encode(message)
    case .typed(let text): encode(text.span)
    case .client(let new): if let client = new.applied(to: telnet.client) { update(client) }
    case .size(let size): telnet.resize(size, into: &toGame)
    case .gmcp(let package, let data): _ = telnet.sendGMCP(package: package, data: data, into: &toGame)
    case .msdp(let data): _ = telnet.sendMSDP(data, into: &toGame)
    case .ack(let number): acknowledge(number, now: now)
    case .leave: demand = .leave
    case .unknown: break
    case .refused(let refusal): leftOut.append(refusal.word)
    }
    if parsed.isCounted {
      incoming.take(bytes: toGame.count - before, size: message.count, now: now)
      noted = toGame.count
    }
    return demand
  }

  private func encode(_ input: Span<UInt8>) {
    var encoded: [UInt8] = []
    encoder.encode(input, into: &encoded)
    telnet.type(encoded.span, endsLine: dialect.endsLines, into: &toGame)
  }

  func update(_ client: ClientDescription) {
    clientDeadline = .never
    telnet.update(client, into: &toGame)
  }

  private func acknowledge(_ number: Int, now: MonotonicTime) {
    let before = outgoing.acknowledged
    outgoing.acknowledge(number)
    if outgoing.acknowledged > before { fullSince = nil }
    // Nothing is under way, maybe for long.
    if outgoing.acknowledged == outgoing.last, text.isEmpty { text = [] }
    noteFullness(now: now)
  }

  // MARK: 5. To the game

  /// All of `toGame` has been sent or queued; so much waits for the game now.
  func said(stillQueued: Int, now: MonotonicTime) {
    if toGame.isEmpty, queued == stillQueued { return }
    noteQueued(upTo: toGame.count)
    if !toGame.isEmpty { lastSent = now }
    incoming.accept(bytes: queued + toGame.count - stillQueued, now: now)
    queued = stillQueued
    toGame.removeAll(keepingCapacity: toGame.count <= Self.usualText)
    noted = 0
  }

  private func noteQueued(upTo end: Int) {
    if end > noted { incoming.enqueue(bytes: end - noted) }
    noted = end
  }

  /// The `ack` that is due, if one is.
  func dueAck(now: MonotonicTime) -> [UInt8]? {
    guard dialect == .portcullis, incoming.schedule.isDue(at: now) else { return nil }
    incoming.schedule.acknowledged()
    if toGame.isEmpty { toGame = [] }
    var message: [UInt8] = []
    GateMessage.ack(received: incoming.handled, to: &message)
    return message
  }

  // MARK: Attached and detached

  /// What a connection is told first.
  /// - Parameter resumed: nil when the app has not asked for it.
  func greeting(_ id: SessionID, resumed: Bool?, _ settings: LoopSettings) -> [UInt8] {
    var message: [UInt8] = []
    GateMessage.session(
      GateMessage.Session(
        id: id.text, resumed: resumed == true, reason: resumed == false ? .unknown : nil,
        received: incoming.taken, resumeFor: Int(settings.sessions.resumableFor.components.seconds),
        maxMessage: settings.frameLimits.messageBytes, kept: false, echo: telnet.gameEchoes,
        gmcp: telnet.isGMCPAgreed, msdp: telnet.isMSDPAgreed),
      to: &message)
    return message
  }

  /// Messages are missing: the app is told, and of the state that they may have been about.
  func afterGap(_ gap: OutgoingLedger.Gap) -> [[UInt8]] {
    var message: [UInt8] = []
    GateMessage.gap(gap, to: &message)
    return [message] + outgoing.again.messages()
  }

  /// The app's message, or its time, says that it has the new id: the other one is no good any more.
  func confirmID() -> SessionIDHash? { ids.count > 1 ? ids.removeFirst() : nil }

  /// - Returns: ids that are no good any more.
  func renew(_ id: SessionIDHash, named: SessionIDHash?) -> [SessionIDHash] {
    let old = ids.filter { $0 != named }
    ids = named.map { [$0, id] } ?? [id]
    return old
  }

  func isKnown(by id: SessionIDHash) -> Bool { ids.contains(id) }

  func canResume(after received: Int) -> Bool { received <= outgoing.highestSent }

  /// A connection carries it from now on, whose app has got all up to `received`.
  func attach(after received: Int?, from address: IPAddress, now: MonotonicTime) {
    if let received {
      guard outgoing.attach(after: received) else {
        fatalError("Conversation: resumed without having been asked")
      }
      telnet.link(isAttached: true, address: Array(address.description.utf8), into: &toGame)
      // The last one may have been lost with the connection.
      incoming.schedule.demand(now: now)
    } else {
      outgoing.attach()
    }
    blockedSince = nil
    // What it has missed may fill the buffer already.
    noteFullness(now: now)
  }

  func detach() {
    outgoing.detach()
    fullSince = nil
    telnet.link(isAttached: false, into: &toGame)
  }

  var hasUnacknowledged: Bool { outgoing.acknowledged < outgoing.last }

  // MARK: What is due

  /// Nothing is read of the game while the app's messages fill their buffer.
  func mayHear(bufferIsShort: Bool) -> Bool {
    !(outgoing.isAttached && (outgoing.isFull || bufferIsShort && hasUnacknowledged))
  }

  func mayReadOn(at now: MonotonicTime) -> Bool { unreadUntil <= now }

  private func noteFullness(now: MonotonicTime) {
    if !outgoing.isFull || !outgoing.isAttached {
      fullSince = nil
    } else if fullSince == nil {
      fullSince = now
    }
  }

  /// The app has acknowledged nothing for so long that it is given up.
  func isStalled(now: MonotonicTime, after time: Duration) -> Bool {
    guard let fullSince else { return false }
    return now - fullSince >= time
  }

  /// Without a connection: notes whether the game takes what waits for it, and says whether it has stalled.
  func gameStalls(waits: Bool, hasProgressed: Bool, now: MonotonicTime, after time: Duration) -> Bool {
    if !waits {
      blockedSince = nil
    } else if blockedSince == nil || hasProgressed {
      blockedSince = now
    }
    guard let blockedSince else { return false }
    return now - blockedSince >= time
  }

  /// Does what the time has come for.
  func tick(keepAlive: Duration?, now: MonotonicTime) {
    if clientDeadline <= now { update(ClientDescription()) }
    if let silence = keepAlive, now - lastSent >= silence { telnet.keepAlive(into: &toGame) }
  }

  func nextDeadline(keepAlive: Duration?, stallTimeout: Duration, now: MonotonicTime) -> MonotonicTime {
    var next = clientDeadline
    // What could be read already waits for something else, which brings a turn with it.
    if unreadUntil > now { next = min(next, unreadUntil) }
    if let silence = keepAlive { next = min(next, lastSent + silence) }
    if let fullSince { next = min(next, fullSince + stallTimeout) }
    if let blockedSince { next = min(next, blockedSince + stallTimeout) }
    if dialect == .portcullis, outgoing.isAttached { next = min(next, incoming.schedule.deadline) }
    return next
  }

  func takeLeftOut() -> LeftOut? {
    if leftOut.count == 0 { return nil }
    defer { leftOut = LeftOut() }
    return leftOut
  }

  // MARK: Memory

  /// Of messages that are kept.
  var bufferedBytes: Int { outgoing.bufferedBytes }
  /// What they take, with room that is free.
  var heldBytes: Int { outgoing.allocatedBytes }

  /// How much more memory, or less, they take than when this was asked last.
  func takeBufferChange() -> Int {
    let bytes = heldBytes
    defer { accountedBytes = bytes }
    return bytes - accountedBytes
  }

  func evict(downTo bytes: Int) {
    while outgoing.bufferedBytes > bytes, outgoing.evictOldest() > 0 {}
    outgoing.trim()
  }

  func forgetMessages() {
    outgoing = OutgoingLedger(limit: outgoing.limit, again: AgainCache(.usual, bufferBytes: 0))
  }

  private static let clientTime: Duration = .milliseconds(500)
  /// What an event costs, however short it is.
  private static let leastEvent = 64
  /// So much of a buffer stays for the next message.
  private static let usualText = 1024
}

/// What a conversation could not pass on.
struct LeftOut {
  private(set) var count = 0
  /// What the last of it was.
  private(set) var word = ""

  mutating func append(_ word: String) {
    count += 1
    self.word = word
  }
}

extension AppMessage.Refusal {
  /// `client_name` and the like.
  var word: String { (kind.map { $0.rawValue } ?? "message") + "_" + member }
}
