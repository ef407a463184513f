/// An upgrade that names a session to go on with: asked of the loop that the session lives on, which is this one or another
/// (docs/sessions.md, "Resuming").
internal import Admission
internal import KeyStore
internal import PortcullisProtocol
internal import Scheduling
internal import SessionWire
internal import System
internal import Telemetry
internal import Time

extension Connection {
  /// Asks for the session that the upgrade names. It may move while it is asked for; so it is asked for again where it has
  /// moved to, until there is no new place.
  func lookForSession(_ admission: AdmissionAttempt) {
    guard let resume = admission.resume else { return }
    let id = SessionIDHash(of: resume.id)
    guard let place = loop.shared.directory.find(id), place != admission.asked else {
      // An upgrade that was long on its way asks for what a later one of the same app has found: it must not begin a
      // second stay in the game.
      if admission.signCount == nil { return beginInstead(admission) }
      return perform(admission.machine.notThere())
    }
    admission.asked = place
    arm(at: loop.now + Self.resumeTimeout)
    let takeover = Takeover(
      session: Token(rawValue: place.token), id: id,
      isOnce: admission.isBySessionsNonce && admission.signCount == nil, received: resume.received,
      credential: admission.credential, order: admission.order,
      by: loop.reference(to: admission.session.token), mailbox: loop.mailbox
    )
    loop.shared.post(.takeOver(takeover), to: place)
  }

  /// The key was looked up again: whether its counter has gone on since this upgrade's assertion.
  func recounted(_ admission: AdmissionAttempt, by finding: KeyFinding) {
    switch finding {
    case .known(let record) where record.signCount > admission.signCount ?? 0: tooLate(admission)
    case .known, .unknown: beginInstead(admission)
    case .failed: perform(admission.machine.shutOut(Refusal(.storeUnavailable, step: "find_failed")))
    }
  }

  /// The loop that was asked has answered. A session that it has handed over is `session` by now.
  func handedOver(_ answer: TakeoverAnswer, _ session: GameSession) {
    guard case .admission(let admission) = stage, admission.session === session else { return }
    switch answer {
    // An order to close it may have met it on arrival, and nobody could come back to it while the gate drains.
    case .session:
      perform(session.state == .ended ? admission.machine.draining() : admission.machine.resumed())
    case .unknown: beginInstead(admission)
    case .late: tooLate(admission)
    case .gone: lookForSession(admission)
    }
  }

  /// There is nothing to go on with for this app: a new stay begins, where one may.
  private func beginInstead(_ admission: AdmissionAttempt) {
    counters.resumesUnknown.add()
    perform(
      loop.shared.takesNobodyNew ? admission.machine.draining() : admission.machine.notResumed())
  }

  /// A later upgrade of the app has it.
  private func tooLate(_ admission: AdmissionAttempt) {
    counters.resumesLate.add()
    perform(admission.machine.superseded())
  }

  /// A newer connection of the same app carries the session from now on: nothing more is read of this one.
  func takenOver() {
    if case .session(let attachment) = stage { endSession(attachment, .takenOver) }
  }

  /// A loop answers in its next turn.
  private static let resumeTimeout: Duration = .seconds(5)
}
