/// A conversation on the connection that carries it: its beginning, its last words, and when it is to be looked at.
internal import Addresses
internal import Admission
internal import Bytes
internal import Configuration
internal import Conversation
internal import PortcullisProtocol
internal import Requests
internal import SessionWire
internal import System
internal import Telemetry
internal import Time
internal import TLS
internal import TelnetWire
internal import WebSocketWire

extension Connection {
  // MARK: Beginning

  func conversation(in dialect: Dialect, _ admission: AdmissionAttempt) -> SessionConversation {
    let shared = loop.shared
    let telnet = TelnetSettings(
      loop.settings.telnet, dialect, charsets: shared.telnetCharsets, address: source.address,
      device: shared.pseudonyms.flatMap { admission.credential.pseudonym(under: $0) })
    let conversation = SessionConversation(
      dialect, telnet, charsets: shared.charsets, settings: loop.settings,
      queuedForGame: admission.session.game.queued, now: loop.now)
    if let header = admission.client { conversation.state.take(header) }
    return conversation
  }

  /// The first messages: who the session is, then what the app has missed.
  func begin(
    _ conversation: SessionConversation, _ attachment: Attachment, _ admission: AdmissionAttempt,
    isResumed: Bool
  ) {
    let session = attachment.session
    conversation.state.attach(
      after: isResumed ? admission.resume?.received : nil, from: source.address, now: loop.now)
    conversation.state.ledger.upgradeOrder = admission.order
    guard conversation.dialect == .portcullis else { return }
    let id = name(session, conversation, asked: isResumed ? admission.resume : nil)
    let resumed: Bool? = admission.resume == nil ? nil : isResumed
    // In its slot, and its leg in the store, before the app hears of it; who found none free may find one now.
    if session.game.kept == nil {
      loop.keep(session, conversation)
    } else {
      loop.describe(session, conversation)
    }
    say([
      conversation.state.greeting(
        id, next: loop.shared.resumeNonces.nonce(of: id), resumed: resumed, isKept: session.isSafe,
        loop.settings)
    ])
    if isResumed {
      let gap = conversation.state.ledger.outgoing.takeGap()
      loop.shared.log.sessionResumed(
        peerName, session.name, missing: gap.map { $0.messages } ?? 0,
        waited: session.detachment?.lasted ?? .zero)
      counters.gapMessages.add(gap?.messages ?? 0)
      if let gap {
        say(conversation.state.afterGap(gap))
      } else if admission.resume?.wantsState == true, !conversation.state.ledger.outgoing.hasGapAhead {
        say(conversation.state.ledger.outgoing.again.messages())
      }
      if let header = admission.client { conversation.state.take(header) }
    }
    // It was over before: what it has still to say, and nothing after that.
    if session.isOver { endSession(attachment, .session(.gameClosed)) }
  }

  /// A new id for the session. The one that the upgrade named stays good until the app is heard, as the answer may be lost.
  private func name(_ session: GameSession, _ conversation: SessionConversation, asked: ResumeRequest?)
    -> SessionID
  {
    let id = SessionID(loop.shared.entropy)
    let hash = SessionIDHash(of: id)
    for old in conversation.state.renew(hash, named: asked.map { SessionIDHash(of: $0.id) }) {
      loop.shared.directory.remove(old)
    }
    if conversation.isResumable { loop.shared.directory.place(hash, at: loop.reference(to: session.token)) }
    return id
  }

  private func say(_ messages: [[UInt8]]) {
    counters.messagesToPlayers.add(messages.count)
    for message in messages { _ = client.tls.write(PlayerStream.textFrame(message).span) }
  }

  /// In the next turn, beside what the game has said. In other dialects nobody is told.
  func tell(_ notice: DeviceNotice, _ session: GameSession) {
    guard case .session(let attachment) = stage, attachment.session === session,
      let conversation = session.game.conversation, conversation.dialect == .portcullis
    else { return }
    switch notice {
    case .approvals(let open): conversation.state.notices.approvalsOpen = open
    case .codeWanted: conversation.state.notices.isCodeWanted = true
    }
    loop.continueLater(self)
  }

  // MARK: Ending

  /// What was said before the end is for the game. Returns the end that it comes to.
  func hearOut(
    _ conversation: SessionConversation, _ attachment: Attachment, _ end: ConnectionEnd
  ) -> ConnectionEnd {
    var end = end
    switch end {
    case .playerClosed, .playerVanished, .violation:
      // The player's last words are for the game, however fast they came; where somebody may come back, what came too fast
      // is said again.
      var isLast = false
      if case .playerClosed = end { isLast = !loop.canStay(attachment.session, after: end) }
      if attachment.stream.finishMessages(&conversation.state, on: loop, atAnyRate: isLast) == .left {
        end = .left
      }
    case .session, .tlsExcess, .playerStalled, .silent, .left, .takenOver, .restarting, .malformed: break
    }
    conversation.state.tellClient()
    do throws(SessionEnd) {
      try attachment.session.game.say(&conversation.state, now: loop.now)
    } catch {
      attachment.session.game.leg = nil
    }
    return end
  }

  /// The player is told all that there was, and how it ended.
  func conclude(_ conversation: SessionConversation, _ attachment: Attachment, _ end: ConnectionEnd) {
    let session = attachment.session
    switch end {
    case .session(let reason):
      if !session.isOver {
        conversation.state.over(reason)
        if conversation.isResumable { loop.conclude(session, because: end) }
      }
    case .playerClosed, .playerVanished, .violation, .tlsExcess, .playerStalled, .silent, .left, .takenOver,
      .restarting, .malformed:
      return
    }
    do throws(ConnectionEnd) {
      _ = try attachment.stream.tell(
        &conversation.state, &client, &session.game, on: loop, all: true)
    } catch {
      // The player is gone already.
      client.giveUpSending()
    }
  }

  // MARK: Deadlines

  func conversationDeadline(_ attachment: Attachment) -> MonotonicTime {
    guard let conversation = attachment.session.game.conversation else { return .never }
    return deadline(of: conversation.state, attachment)
  }

  @inline(__always)
  private func deadline(of state: borrowing ConversationState, _ attachment: Attachment) -> MonotonicTime {
    guard attachment.stream.closing.isOpen else { return .never }
    let deadline = state.nextDeadline(
      keepAlive: loop.settings.telnet.keepAlive, stallTimeout: loop.settings.limits.writeStallTimeout,
      now: loop.now)
    guard !attachment.stream.pending.isEmpty, !attachment.session.game.waits else { return deadline }
    return min(deadline, state.ledger.allowance.next(now: loop.now))
  }

  /// After a turn: what it keeps, what it has left out, and what is due earlier than anything that was waited for.
  func noteConversed(_ conversation: SessionConversation, _ attachment: Attachment) {
    let (change, leftOut, options, due) = outcome(&conversation.state, attachment)
    loop.describeChanges(of: attachment.session, conversation)
    loop.noteBuffers(of: attachment.session, conversation, changedBy: change)
    if let leftOut { loop.note(leftOut, of: attachment.session) }
    if options != 0 { loop.note(optionBits: options) }
    if due < deadline { arm(at: due) }
  }

  private func outcome(
    _ state: inout ConversationState, _ attachment: Attachment
  ) -> (bufferChange: Int, leftOut: LeftOut?, options: UInt16, deadline: MonotonicTime) {
    (
      state.takeBufferChange(), state.takeLeftOut(), state.takeNewOptions(), deadline(of: state, attachment)
    )
  }
}

extension SessionConversation {
  /// What the app is told before the gate's Close; nil in other dialects, and after the app's own Close.
  func closing(for end: ConnectionEnd?) -> ClosingReason? {
    guard dialect == .portcullis else { return nil }
    if case .session? = end { return .ended }
    return end?.closingReason
  }
}

extension ClosingReason {
  var message: [UInt8] {
    var message: [UInt8] = []
    GateMessage.closing(self, to: &message)
    return message
  }
}
