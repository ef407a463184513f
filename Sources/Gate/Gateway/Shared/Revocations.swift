/// Carries out revocations: keys are marked and written by the store, sessions are told to end, loops are asked
/// (`Revocation`). From any thread but a loop's.
///
/// Who waits for a revocation has opened an order, which whatever goes meanwhile belongs to: what the registry ends in the
/// course of it is told by another thread. What goes while nobody waits has an order of its own until the registry is through
/// with what it tells.
internal import Admission
internal import Bytes
internal import KeyStore
internal import Scheduling
internal import Synchronization
internal import Telemetry
internal import Time

final class Revocations: Sendable {
  private struct Open {
    var attended: [RevocationOrder] = []
    var unattended: RevocationOrder?
  }

  private let store: any AttestedKeyStore
  private let register: SessionRegister
  private let mailboxes: [Mailbox]
  private let clock: any Clock
  private let log: GateLogger
  private let open = Mutex(Open())

  init(
    store: any AttestedKeyStore, register: SessionRegister, mailboxes: [Mailbox], clock: any Clock,
    log: GateLogger
  ) {
    self.store = store
    self.register = register
    self.mailboxes = mailboxes
    self.clock = clock
    self.log = log
  }

  // MARK: Orders

  /// What goes from now on belongs to the order, until it is settled or given up.
  func begin() -> RevocationOrder {
    let order = makeOrder()
    open.withLock { $0.attended.append(order) }
    return order
  }

  /// Nothing more belongs to it: waits until all of it has come true.
  func settle(_ order: RevocationOrder) -> Revocation.Outcome {
    giveUp(order)
    order.complete()
    return order.settled()
  }

  /// Nobody waits for it.
  func giveUp(_ order: RevocationOrder) {
    open.withLock { open in open.attended.removeAll { $0 === order } }
  }

  /// The registry has told all that has come of something.
  func told() {
    open.withLock { $0.unattended.take() }?.complete()
  }

  // MARK: What goes

  /// A key goes with its device; one that nobody has registered, or that is revoked already, has gone.
  func revoke(_ keyID: KeyIdentifier, verdict: @escaping @Sendable (RevokeVerdict) -> Void = { _ in }) {
    let log = log
    revoke(keyID, reason: nil, now: clock.wall(), verdict: verdict) { result in
      if result == .failed { log.revocationLost(keyID) }
    }
  }

  /// - Parameters:
  ///   - verdict: told when the key is refused, and its sessions have been told to end.
  ///   - completion: told of what became of it on the disk.
  func revoke(
    _ keyID: KeyIdentifier, reason: RevocationReason?, now: UnixTime,
    verdict: @escaping @Sendable (RevokeVerdict) -> Void,
    completion: @escaping @Sendable (CommitResult) -> Void = { _ in }
  ) {
    let marks = orders { order in order.end(keyID).map { (order, $0) } }
    let wrote = { @Sendable (written: Revocation.Written) in
      for (order, mark) in marks { order.wrote(mark, written) }
    }
    store.revoke(
      keyID, reason: reason, now: now,
      verdict: { [self] given in
        var sessions: [SessionReference] = []
        switch given {
        case .revoked:
          // In the store first, and then the register is read: see `SessionRegister`.
          sessions = register.sessions(of: keyID)
          end(sessions, by: marks.map(\.0))
        case .unknownKey: wrote(.nothingToWrite)
        case .unavailable:
          completion(.failed)
          wrote(.failed)
        }
        for (order, mark) in marks { order.marked(mark, ending: sessions) }
        verdict(given)
      },
      completion: { result in
        completion(result)
        wrote(result == .committed ? .written : .failed)
      })
  }

  /// The owner's upgrades are refused already.
  func endSessions(of owner: KeyIdentifier) {
    let sessions = register.sessions(of: owner)
    let orders = orders(for: sessions)
    end(sessions, by: orders)
    for order in orders { order.ending(sessions) }
  }

  private func end(_ sessions: [SessionReference], by orders: [RevocationOrder]) {
    for session in sessions {
      let message = LoopMessage.end(
        Token(rawValue: session.token), .keyRevoked, SessionEnding(session, orders))
      let loop = Int(session.loop)
      if loop < mailboxes.count { mailboxes[loop].post(message) } else { message.goUnheard() }
    }
  }

  // MARK: To whom it belongs

  /// Those who wait, or the one that nobody waits for.
  private func orders<Taken>(_ take: (RevocationOrder) -> Taken?) -> [Taken] {
    let taken = open.withLock { $0.attended }.compactMap(take)
    return taken.isEmpty ? [unattended()].compactMap(take) : taken
  }

  /// Nobody waits, and there is nothing to wait for.
  private func orders(for sessions: [SessionReference]) -> [RevocationOrder] {
    let attended = open.withLock { $0.attended }
    return attended.isEmpty && !sessions.isEmpty ? [unattended()] : attended
  }

  private func unattended() -> RevocationOrder {
    open.withLock { open in
      let order = open.unattended ?? makeOrder()
      open.unattended = order
      return order
    }
  }

  private func makeOrder() -> RevocationOrder {
    let mailboxes = mailboxes
    return RevocationOrder(loops: mailboxes.count) { question, loop in
      mailboxes[loop].post(.revoked(question))
    }
  }
}
