/// Draining that can be taken back: who plays plays on, and nobody begins (docs/running.md, "Draining"); from any thread
/// but a loop's. It is no setting: a reload leaves it as it is, and the next process knows nothing of it.
internal import Registry
internal import Scheduling
internal import Synchronization
internal import Telemetry

extension Gate {
  /// Whether nobody may begin to play: since `beginDraining`, or because the gate stops.
  package var isDraining: Bool { shared.takesNobodyNew }

  /// Whether nothing takes that back: all sessions were ended, or the gate stops.
  package var isStopping: Bool { shared.isStopping.load(ordering: .sequentiallyConsistent) }

  /// Sessions that somebody plays in or may come back to.
  package var staying: (attached: Int, away: Int) { (shared.sessions.value, shared.detached) }

  /// From now on `/healthz` and upgrades are answered 503, but for those that go on with a session of this gate. Once it has
  /// returned true no session begins any more, not even one that was on its way.
  /// - Returns: false when a loop hangs; it refuses all the same as soon as it turns.
  @discardableResult
  package func beginDraining() -> Bool {
    if !shared.isDraining.exchange(true, ordering: .sequentiallyConsistent) {
      shared.log.drainingBegun(sessions: shared.sessions.value, detached: shared.detached)
    }
    return waitForLoops()
  }

  /// Everybody may come in again.
  /// - Returns: false when the gate stops, which nothing takes back.
  @discardableResult
  package func undrain() -> Bool {
    if isStopping { return false }
    if shared.isDraining.exchange(false, ordering: .sequentiallyConsistent) {
      shared.log.drainingEnded(sessions: shared.sessions.value, detached: shared.detached)
    }
    return true
  }
}
