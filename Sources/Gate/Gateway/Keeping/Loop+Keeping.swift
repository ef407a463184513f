/// Which sessions of a loop outlive the process, and what they say of themselves in their slots.
internal import Addresses
internal import Admission
internal import Bytes
internal import Configuration
internal import Conversation
internal import DeviceWire
internal import Keeping
internal import SessionWire
internal import Sockets
internal import System
internal import Time
internal import TLS
internal import TelnetWire
internal import Upstream

extension Connection {
  /// Whether the leg of a session that is about to begin goes to the store first. One whose game may compress what it says
  /// does not: nobody could go on in the middle of a compressed stream.
  func mayKeep(_ admission: AdmissionAttempt) -> Bool {
    loop.shared.storeClient != nil && admission.choice.dialect == .portcullis && loop.settings.keepsSessions
      && admission.session.game.leg != nil
  }

  /// Has the leg stored before the app hears of its session, which may be promised that then.
  func store(_ admission: AdmissionAttempt) {
    let (mailbox, token) = (loop.mailbox, admission.session.token)
    let isAwaited = admission.session.game.reserve(loop.shared.storeClient) { mailbox.post(.stored(token)) }
    guard isAwaited else { return perform(admission.machine.stored()) }
    arm(at: loop.now + DescriptorStoreClient.patience)
  }

  /// The store has answered, or has not in time: `PersistedLeg.isSafe` says which.
  func stored(_ session: GameSession) {
    guard case .admission(let admission) = stage, admission.session === session else { return }
    // As after the game's answer: a drain may have begun meanwhile.
    perform(loop.shared.takesNobodyNew ? admission.machine.draining() : admission.machine.stored())
  }
}

extension LoopSettings {
  fileprivate var keepsSessions: Bool { sessions.canBeDetached && telnet.compression == .off }
}

extension Loop {
  /// A session that begins is kept if it can be resumed at all and a slot was free. One that is resumed and found none before
  /// may find one now; its leg is on the way then, and the app is promised nothing on this connection.
  func keep(_ session: GameSession, _ conversation: SessionConversation) {
    guard let storeClient = shared.storeClient, conversation.isResumable, !isDraining, !session.isOver,
      !session.game.waits, settings.keepsSessions, let cookie = session.game.legCookie
    else { return session.game.giveUpPlace() }
    let description = KeptDescription(session, conversation.state, leg: cookie)
    let progress = session.game.progress(of: conversation.state, bytesTaken: session.game.bytesTaken)
    session.game.keep(description, progress, changes: conversation.state.changes, by: storeClient)
  }

  /// Who carries it is new, or since when nobody does.
  func describe(_ session: GameSession, _ conversation: SessionConversation) {
    guard let kept = session.game.kept else { return }
    let progress = session.game.progress(of: conversation.state, bytesTaken: kept.bytesTaken)
    kept.describe(progress, changes: conversation.state.changes) { description in
      description = KeptDescription(session, conversation.state, leg: description.leg)
    }
  }

  /// The same after a turn, if there is anything new: one comparison.
  @inline(__always)
  func describeChanges(of session: GameSession, _ conversation: SessionConversation) {
    guard let kept = session.game.kept, kept.changes != conversation.state.changes else { return }
    describe(session, conversation)
  }
}

extension GameSide {
  /// What the system calls the leg's socket; nil without one.
  fileprivate var legCookie: UInt64? {
    switch leg {
    case .some(let leg): leg.socket.cookie
    case nil: nil
    }
  }

  /// 0 where nobody counts them.
  fileprivate var bytesTaken: UInt64 {
    switch leg {
    case .some(let leg): leg.socket.bytesTaken ?? 0
    case nil: 0
    }
  }

  fileprivate mutating func keep(
    _ description: KeptDescription, _ progress: KeptProgress, changes: UInt32,
    by storeClient: DescriptorStoreClient
  ) {
    if !hasPlace { _ = reserve(storeClient) {} }
    leg?.begin(description, progress, changes: changes)
  }

  /// False where there is nothing to wait for.
  fileprivate mutating func reserve(
    _ storeClient: DescriptorStoreClient?, answer: @escaping @Sendable () -> Void
  ) -> Bool {
    let place: ReservedSlot? =
      switch leg {
      case .some(let leg): storeClient?.reserve(leg.socket, answer: answer)
      case nil: nil
      }
    leg?.place = place
    return place?.isAwaited == true
  }

  private var hasPlace: Bool {
    switch leg {
    case .some(let leg): leg.place != nil
    case nil: false
    }
  }

  /// The session begins, and is not kept.
  fileprivate mutating func giveUpPlace() { leg?.giveUpPlace() }
}

extension KeptDescription {
  init(_ session: GameSession, _ state: borrowing ConversationState, leg: UInt64) {
    self.init(
      ids: state.ledger.ids.map(\.digest), credential: KeptCredential(session.credential),
      number: session.number,
      startedAt: session.startedAt, changedAt: session.changedAt, source: session.source, leg: leg)
    tell(of: state)
  }

  /// What the conversation knows of it, on whichever connection.
  mutating func tell(of state: borrowing ConversationState) {
    ids = state.ledger.ids.map(\.digest)
    charset =
      state.voice.telnet.charset.name == state.voice.telnet.settings.charset.name
      ? [] : state.voice.telnet.charset.name
    earlySize = state.voice.telnet.earlySize
    client = state.voice.telnet.client
    doubt = state.ledger.doubt
  }
}

extension KeptCredential {
  fileprivate init(_ credential: Credential) {
    switch credential {
    case .assertion(let keyID): self = .assertion(keyID)
    case .clientCertificate(let subject, let publicKey, let terms):
      let kept = terms.map { Terms(authority: $0.authority, end: $0.end) }
      self = .certificate(subject: subject, publicKey: publicKey, terms: kept)
    case .device(let device): self = .device(id: device.id.bytes, attestedKey: device.attestedKey)
    case .none: self = .none
    }
  }
}
