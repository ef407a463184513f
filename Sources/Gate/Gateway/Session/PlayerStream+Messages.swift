/// The pump of sessions whose messages the gate reads itself: whole ones to the conversation, the conversation's messages to
/// the player.
///
/// Outbound (player to game)                      Inbound (game to player)
///   1. take     pieces → whole messages            4. hear     telnet → messages (GameSide.hear)
///   2. handle   at the app's rate, some a turn     5. tell     frames as they were kept → outbox
///   3. say      one send to the game (GameSide)
///
/// Frames come from the same two ways as elsewhere (`PlayerStream+Pump`, `PlayerStream+Deflate`), which hand each piece to
/// `take`. What came too fast waits here, one read at most, while nothing more is read; so does what is more than a turn
/// handles. Step 5 is in `PlayerStream+Telling`.
internal import Admission
internal import Bytes
internal import Configuration
internal import Conversation
internal import Scheduling
internal import SessionWire
internal import Sockets
internal import Time
internal import TLS
internal import Upstream
internal import WebSocketWire

extension PlayerStream {
  // MARK: A turn

  /// Whether there is more to do.
  ///
  /// The conversation's state is lent before and after the reading, and once for each message: each time the run time
  /// looks whether somebody else has it.
  mutating func converse(
    _ conversation: SessionConversation, _ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop
  ) throws(ConnectionEnd) -> Bool {
    try begin(&conversation.state, game, on: loop)
    if isReadingFromPlayer(client, game) { try readMessages(&client, &game, on: loop) }
    let hasMore = try exchange(&conversation.state, &client, &game, on: loop)
    if hasMore || isReadingFromPlayer(client, game) && hasInput(client) { return true }
    return !pending.isEmpty && !game.waits
      && conversation.state.ledger.allowance.next(now: loop.now) <= loop.now
  }

  private mutating func begin(
    _ state: inout ConversationState, _ game: borrowing GameSide, on loop: Loop
  ) throws(ConnectionEnd) {
    state.tick(keepAlive: loop.settings.telnet.keepAlive, now: loop.now)
    // Where the first of them came too fast, it is not read again before its time.
    if !pending.isEmpty, !game.waits, state.ledger.allowance.next(now: loop.now) <= loop.now {
      try handlePending(&state, on: loop)
    }
  }

  /// What either side has said goes to the other one; whether there is more of it.
  private mutating func exchange(
    _ state: inout ConversationState, _ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop
  ) throws(ConnectionEnd) -> Bool {
    // Elsewhere nobody acknowledges anything, and nothing is kept that was sent.
    if state.dialect.isResumable {
      state.note(
        isShortOfRoom: loop.shared.buffers.value > loop.settings.limits.sessionBuffersBytes, now: loop.now)
    }
    // What it acknowledges may wait behind what is not read of it.
    if !isReadingFromPlayer(client, game), !client.isFull { state.noteUnheard(now: loop.now) }
    if state.isStalled(now: loop.now, after: loop.settings.limits.writeStallTimeout) { throw .playerStalled }
    state.tellClient(now: loop.now)
    var sessionEnd: SessionEnd?
    do throws(SessionEnd) {
      if closing.isOpen { try hear(&state, client, &game, on: loop) }
      try game.say(&state, now: loop.now)
    } catch {
      sessionEnd = error
    }
    if let sessionEnd { throw .session(sessionEnd) }
    guard closing.isOpen else { return false }
    acknowledge(&state, &client, on: loop)
    tellNotices(&state, &client, on: loop)
    if try tell(&state, &client, &game, on: loop) { return true }
    return game.hasMore(for: state, at: loop.now) && mayHear(state, client, game, on: loop)
  }

  /// Sends what waited for the game.
  func resumeSaying(
    _ state: inout ConversationState, _ game: inout GameSide, now: MonotonicTime
  ) throws(ConnectionEnd) {
    var sessionEnd: SessionEnd?
    do throws(SessionEnd) { try game.say(&state, now: now) } catch { sessionEnd = error }
    if let sessionEnd { throw .session(sessionEnd) }
  }

  private func hasInput(_ client: borrowing ClientLeg) -> Bool {
    client.mayHaveInput || deflate?.waiting != nil
  }

  private mutating func readMessages(
    _ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop
  ) throws(ConnectionEnd) {
    if let deflate {
      if hasInput(client) { try readDeflated(deflate, &client, &game, on: loop) }
    } else if client.mayHaveInput {
      try readFromPlayer(&client, &game, on: loop)
    }
  }

  /// The game is heard while all it has said before is on its way to the player. One that asks and asks, and takes none of
  /// telnet's answers, is not: what the player has typed can never be so much.
  private func mayHear(
    _ state: borrowing ConversationState, _ client: borrowing ClientLeg, _ game: borrowing GameSide,
    on loop: Loop
  ) -> Bool {
    if game.queued > 2 * queueBytes { return false }
    return client.unsent.isEmpty && !state.ledger.outgoing.hasUnsent && state.mayHear
  }

  private mutating func hear(
    _ state: inout ConversationState, _ client: borrowing ClientLeg, _ game: inout GameSide, on loop: Loop
  ) throws(SessionEnd) {
    guard game.leg != nil else { throw .gameFailed(reason: "the game's connection is lost") }
    guard game.hasMore(for: state, at: loop.now), mayHear(state, client, game, on: loop) else { return }
    let before = game.bytesFromGame
    state.voice.told = 0
    try game.hear(&state, on: loop)
    // What came compressed may have become much more.
    taken += max(Int(game.bytesFromGame - before), state.voice.told)
  }

  // MARK: 1. Whole messages

  /// A piece of a message, in order; the message is handled with its last one.
  mutating func take(
    _ payload: Span<UInt8>, type: MessageType, endsMessage: Bool, _ state: inout ConversationState,
    on loop: Loop
  ) throws(ConnectionEnd) {
    if assembly.isEmpty, endsMessage { return try handle(payload, type, &state, on: loop) }
    assembly.append(copying: payload)
    guard endsMessage else { return }
    let message = assembly
    assembly = []
    try handle(message.span, type, &state, on: loop)
  }

  // MARK: 2. At the app's rate

  private mutating func handle(
    _ message: Span<UInt8>, _ type: MessageType, _ state: inout ConversationState, on loop: Loop
  ) throws(ConnectionEnd) {
    guard pending.isEmpty, mayHandle(message), try handleNow(message, type, &state, on: loop) else {
      return pending.append(message, type: type)
    }
  }

  /// A turn at once handles so much. What is larger waits for a turn of its own among those of sessions with more to do, so
  /// that the most expensive message delays nobody who was served together with it.
  private func mayHandle(_ message: Span<UInt8>) -> Bool {
    handled + message.count + Self.messageShare <= Self.handledBytes
  }

  private mutating func handlePending(
    _ state: inout ConversationState, on loop: Loop, all: Bool = false, atAnyRate: Bool = false
  ) throws(ConnectionEnd) {
    while let (message, type) = pending.first {
      guard all || handled == 0 || mayHandle(message.span) else { return }
      let isTaken = try handleNow(message.span, type, &state, on: loop, atAnyRate: atAnyRate)
      guard isTaken else { return }
      pending.removeFirst()
    }
  }

  /// False when it came too fast.
  private mutating func handleNow(
    _ message: Span<UInt8>, _ type: MessageType, _ state: inout ConversationState, on loop: Loop,
    atAnyRate: Bool = false
  ) throws(ConnectionEnd) -> Bool {
    if let id = state.confirmID() { loop.shared.directory.remove(id) }
    switch state.take(message, type: type, now: loop.now, atAnyRate: atAnyRate) {
    case .nothing: break
    case .wait: return false
    case .leave: throw .left
    case .close(let step): throw .malformed(step: step)
    }
    handled += message.count + Self.messageShare
    taken += message.count + Self.messageShare
    return true
  }

  /// What was more than a turn handles and, `atAnyRate`, what came too fast. Returns the end that they ask for themselves.
  mutating func finishMessages(
    _ state: inout ConversationState, on loop: Loop, atAnyRate: Bool
  ) -> ConnectionEnd? {
    do throws(ConnectionEnd) {
      try handlePending(&state, on: loop, all: true, atAnyRate: atAnyRate)
      return nil
    } catch {
      return error
    }
  }

  // MARK: Measures

  /// So many bytes of messages are handled at once in a turn: a command line has some hundred.
  static let handledBytes = 4096
  /// What a message costs beside its bytes.
  static let messageShare = 64
}
