/// What probes ask of the gate (docs/console.md, "Admin listener").
internal import Addresses
internal import Sockets
internal import Synchronization
internal import System
internal import Telemetry
package import Time
internal import Upstream

extension Gate {
  package enum Listening: Equatable, Sendable {
    case open
    /// What comes waits for the next process, which has the same listeners.
    case closed
    /// No descriptor or memory is left to accept with.
    case exhausted
  }

  package func listening(now: MonotonicTime) -> Listening {
    if shared.isRestarting.load(ordering: .relaxed) { return .closed }
    let failedAt = MonotonicTime(nanoseconds: shared.acceptFailedAt.load(ordering: .relaxed))
    // Tried again ten times a second: a loop that could not for so long tries no more or has succeeded.
    return failedAt.nanoseconds > 0 && now - failedAt < .seconds(1) ? .exhausted : .open
  }

  /// When the last connect to the game failed; nil unless it did.
  package var gameFailedAt: MonotonicTime? { shared.backends.failedAt }

  /// Calls the game and hangs up. Waits, so never on a loop.
  /// - Returns: why nobody has answered; nil when somebody has.
  package func callGame(within time: Duration) -> String? {
    if shared.backends.target == .echo { return nil }
    let deadline = SystemClock().monotonic() + time
    var failure = "it has no address"
    for address in shared.backends.addresses {
      do throws(SystemError) {
        let socket = try Socket.connecting(to: address)
        guard socket.wait(for: .writing, until: deadline) == .ready else { return "no answer in time" }
        if let error = socket.connectFailure() { throw error }
        return nil
      } catch {
        failure = error.description
      }
    }
    return failure
  }

  /// What is wrong with the certificates in use; nil when they are good.
  package func certificateTrouble(now: UnixTime) -> String? {
    let useless = shared.certificates.useless(at: now)
    guard let first = useless.first else { return nil }
    let subject = first.certificate.subject
    switch first.standing {
    case .notYetValid: return "that of \(subject) is not valid yet"
    case .expired, .ends, .good: return "that of \(subject) has ended"
    }
  }
}
