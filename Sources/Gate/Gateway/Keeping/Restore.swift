/// How a session of the process before goes on in this one: with all that it had after a restart, and after a crash with what
/// its slot says (docs/sessions.md, "After a crash").
internal import Addresses
internal import Admission
internal import AppAttest
internal import Bytes
internal import Charsets
internal import Configuration
internal import Conversation
internal import DeviceWire
internal import Keeping
internal import KeyStore
internal import PortcullisProtocol
internal import Scheduling
internal import SessionWire
internal import Sockets
internal import Time
internal import Telemetry
internal import TLS
internal import TelnetWire
internal import Upstream

struct Restore {
  /// Why one does not go on.
  enum Reason: Error, Equatable {
    /// It was over already.
    case over
    /// One start after the other has died with it.
    case deadly
    case unreadable(KeptError)
    /// The store has no leg of it, or another one.
    case withoutLeg
    /// By what its player came in nobody could come in now.
    case shutOut
    /// The game has a part of a message whose rest is lost.
    case torn

    var word: String {
      switch self {
      case .over: "over"
      case .deadly: "starts_died"
      case .unreadable: "unreadable"
      case .withoutLeg: "no_leg"
      case .shutOut: "credential"
      case .torn: "torn"
      }
    }

    /// More than the word says, for the log.
    var detail: String? {
      if case .unreadable(let error) = self { "\(error)" } else { nil }
    }
  }

  let storeClient: DescriptorStoreClient
  let shared: Shared
  let settings: LoopSettings

  /// - Parameter snapshot: nil after a crash.
  func handover(
    _ slot: Int, _ kept: KeptSession, _ snapshot: RestartSnapshot?, _ leg: KeptStart.Leg?, now: MonotonicTime
  ) throws(Reason) -> SessionHandover {
    guard let leg, leg.cookie == kept.description.leg else { throw .withoutLeg }
    guard !kept.description.isOver else { throw .over }
    guard let credential = credential(kept.description.credential) else { throw .shutOut }
    let taken: Taken
    if let snapshot {
      var kept = kept
      kept.progress.bytesTaken = leg.bytesTaken ?? 0
      taken = .packed(kept, snapshot)
    } else {
      guard let recovery = CrashRecovery(kept, bytesTaken: leg.bytesTaken) else { throw .torn }
      taken = .crashed(recovery)
    }
    let description = taken.session.description
    let conversation = try conversation(taken, credential, now)
    guard let handle = storeClient.slots.takeUp(slot, as: taken.session), let socket = leg.take() else {
      throw .withoutLeg
    }
    storeClient.noteTakenUp()
    var game = GameSide(
      bytesFromPlayer: taken.session.progress.bytesFromPlayer,
      bytesFromGame: taken.session.progress.bytesFromGame)
    game.conversation = conversation
    game.leg = BackendLeg(
      socket: socket, waiting: taken.waiting,
      kept: PersistedLeg(
        handle, description, taken.session.progress, isTakenUp: true, storeClient: storeClient))
    return SessionHandover(
      game, credential: credential, number: description.number, startedAt: min(description.startedAt, now),
      changedAt: taken.wasAttached ? now : min(description.changedAt, now), source: description.source)
  }

  /// What is left of one.
  private enum Taken {
    /// After a restart, with all that it had.
    case packed(KeptSession, RestartSnapshot)
    /// After a crash.
    case crashed(CrashRecovery)

    /// As its slot says from now on.
    var session: KeptSession {
      switch self {
      case .packed(let session, _): session
      case .crashed(let recovery): recovery.session
      }
    }

    /// For the game, before anything else.
    var waiting: [UInt8] {
      switch self {
      case .packed(_, let snapshot): snapshot.toGame
      case .crashed(let recovery): recovery.session.description.owed
      }
    }

    var wasAttached: Bool { session.progress.telnet.isAttached }
  }

  // MARK: What was said

  private func conversation(
    _ taken: Taken, _ credential: Credential, _ now: MonotonicTime
  ) throws(Reason) -> SessionConversation {
    let description = taken.session.description
    let wanted = TelnetSettings(
      settings.telnet, .portcullis, charsets: shared.telnetCharsets, address: description.source.address,
      device: shared.pseudonyms.flatMap { credential.pseudonym(under: $0) })
    let limit = settings.limits.sessionBufferBytes
    var again = AgainCache(settings.packagesToldAgain, bufferBytes: limit)
    var state: ConversationState
    switch taken {
    case .packed(_, let snapshot):
      guard let telnet = TelnetEngine(wanted, restoring: snapshot.telnet) else {
        throw .unreadable(.unfit(.place))
      }
      again.restore(snapshot.again)
      state = ConversationState(
        telnet, OutgoingLedger(limit: limit, again: again, restoring: snapshot.outgoing, keepsAll: true),
        IncomingLedger(restoring: snapshot.incoming), charsets: shared.charsets, settings: settings,
        queuedForGame: snapshot.toGame.count, now: now)
      state.ledger.keepsAllUntil = now + ConversationState.returnTime
      state.voice.decoder.restore(heldWord: snapshot.held)
      state.voice.text = snapshot.text
      state.voice.unread = snapshot.unread
      if !snapshot.unread.isEmpty { state.voice.unreadUntil = now }
    case .crashed(let recovery):
      guard let telnet = TelnetEngine(wanted, restoring: recovery.telnet) else {
        throw .unreadable(.unfit(.place))
      }
      again.noteEcho(telnet.gameEchoes)
      state = ConversationState(
        telnet, recovery.outgoing(limit: limit, again: again), recovery.incoming, charsets: shared.charsets,
        settings: settings, queuedForGame: taken.waiting.count, now: now)
      state.voice.decoder.restore(heldWord: recovery.session.progress.held)
    }
    state.ledger.ids = description.ids.map { SessionIDHash(digest: $0) }
    state.ledger.doubt = description.doubt
    if taken.wasAttached { state.detach(now: now) }
    return SessionConversation(continuing: state)
  }

  // MARK: Who

  /// Nil if nobody could come back by it now.
  private func credential(_ kept: KeptCredential) -> Credential? {
    switch kept {
    case .none: return settings.requiresAppAuth ? nil : Credential.none
    case .assertion(let keyID):
      guard settings.requiresAppAuth, let record = shared.known(keyID), isAdmissible(record) else {
        return nil
      }
      return .assertion(keyID)
    case .certificate(let subject, let publicKey, let kept):
      let terms = kept.map { CertificateTerms(authority: $0.authority, end: $0.end) }
      guard settings.requiresAppAuth, settings.takes(terms, at: shared.clock.wall()) else { return nil }
      return .clientCertificate(subject: subject, publicKey: publicKey, terms: terms)
    case .device(let bytes, _):
      guard settings.requiresAppAuth, let door = shared.devices?.admitted, door.isOpen,
        let id = DeviceID(bytes), let device = door.device(id)
      else { return nil }
      return .device(device)
    }
  }

  /// As at an upgrade, whose assertion says the rest.
  private func isAdmissible(_ record: KeyRecord) -> Bool {
    let policy = settings.policy
    let app = record.appID.flatMap(policy.app(named:))
    if record.revokedAt != nil || record.appID != nil && app == nil { return false }
    return policy.serves(appID: app, environment: record.environment)
  }
}

extension Loop {
  /// One of the process before lives here from now on, without a connection at first. It does not count for its address:
  /// all who played from there have lost their connections at once.
  func takeUp(_ handover: SessionHandover) {
    let token = sessions.reserve()
    let session = GameSession(token: token, taking: handover, counts: counters.sessions)
    sessions.insert(session, at: token)
    settle(session)
    accountBuffers(of: session)
    if let conversation = session.game.conversation { describe(session, conversation) }
    shared.log.sessionKept(session.name, doubt: session.game.conversation?.state.ledger.doubt ?? 0)
    continueLater(session)
  }
}
