/// The key of an upgrade, looked up in the store.
internal import Admission
internal import Bytes
internal import KeyStore
internal import System
internal import Time

extension Connection {
  /// A store in memory answers at once; another one's answer comes under the admission's name, and has so much time.
  func find(_ keyID: KeyIdentifier, for admission: AdmissionAttempt) {
    let (mailbox, session) = (loop.mailbox, admission.session.token)
    let verdict = loop.shared.store.find(keyID) { { finding in mailbox.post(.found(session, finding)) } }
    switch verdict {
    case .found(let finding): found(finding, for: admission)
    case .later: arm(at: loop.now + KeyFinding.deadline)
    }
  }

  func found(_ finding: KeyFinding, _ session: GameSession) {
    guard case .admission(let admission) = stage, admission.session === session else { return }
    found(finding, for: admission)
  }

  private func found(_ finding: KeyFinding, for admission: AdmissionAttempt) {
    let finding = loop.shared.asOfNow(finding)
    if admission.machine.state == .recounting { return recounted(admission, by: finding) }
    perform(admission.machine.found(finding))
  }
}
