/// What an order of the registry ends, and when it has ended: for whoever waits for that, from any thread but a loop's or the
/// registry's.
package import Admission

extension Gate {
  /// Carries out an order, and returns when all that went meanwhile is refused, its sessions have ended, and its App Attest
  /// keys are on the disk as revoked, or not in time.
  package func revoking<Answer>(_ order: () -> Answer) -> (answer: Answer, Revocation.Outcome) {
    let revocation = shared.revocations.begin()
    let answer = order()
    return (answer, shared.revocations.settle(revocation))
  }
}
