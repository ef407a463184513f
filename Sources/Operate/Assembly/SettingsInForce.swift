/// What is set in the running gate and by what, what the last reload came to, and how another thread than the main one has
/// the settings read again (docs/running.md, "Reloading").
package import Configuration
internal import System
package import Time

package final class SettingsInForce: Sendable {
  package enum Outcome: Equatable, Sendable {
    /// `waiting` are settings that hold from the next start on.
    case taken(changed: [String], waiting: [String])
    /// An event loop has not answered, and goes on as before until it does.
    case late
    /// Everything is as it was.
    case refused(problems: [String])
  }

  package struct Reload: Equatable, Sendable {
    package let outcome: Outcome
    package let at: UnixTime
  }

  private struct State {
    var configuration: GateConfiguration
    var settings: [EffectiveSetting]
    var readAt: UnixTime
    var last: Reload?
    var begun = 0
    var finished = 0
    /// Nobody reads them any more.
    var isOver = false
  }

  /// Of `--config`, as the operator named it.
  package let file: String?
  /// As it was found.
  package let shownFile: String?
  private let state: Monitor<State>
  /// As SIGHUP does.
  private let ring: @Sendable () -> Void

  package init(_ loaded: LoadedConfiguration, file: String?, ring: @escaping @Sendable () -> Void) {
    self.file = file
    self.ring = ring
    shownFile = loaded.filePath
    state = Monitor(
      State(configuration: loaded.configuration, settings: loaded.settings, readAt: SystemClock().wall()))
  }

  // MARK: Looking

  package var configuration: GateConfiguration { state.withLock { state, _ in state.configuration } }
  package var settings: [EffectiveSetting] { state.withLock { state, _ in state.settings } }
  package var readAt: UnixTime { state.withLock { state, _ in state.readAt } }
  package var last: Reload? { state.withLock { state, _ in state.last } }

  // MARK: The main thread

  package func begin() { state.withLock { state, _ in state.begun += 1 } }

  /// The gate ends, and nobody has to wait for a reload: the waiting thread is joined.
  package func stop() {
    state.withLock { state, wake in
      state.isOver = true
      wake.all()
    }
  }

  /// - Parameters:
  ///   - loaded: as file and environment say.
  ///   - configuration: what holds of it.
  package func take(_ loaded: LoadedConfiguration, _ configuration: GateConfiguration, _ outcome: Outcome) {
    state.withLock { state, wake in
      let before = Dictionary(state.settings.map { ($0.name, $0) }, uniquingKeysWith: { one, _ in one })
      state.settings = loaded.settings.map { $0.isReloadable ? $0 : before[$0.name] ?? $0 }
      state.configuration = configuration
      state.readAt = SystemClock().wall()
      Self.end(outcome, &state, &wake)
    }
  }

  package func refuse(_ problems: [String]) {
    state.withLock { state, wake in Self.end(.refused(problems: problems), &state, &wake) }
  }

  private static func end(_ outcome: Outcome, _ state: inout State, _ wake: inout Monitor<State>.Wake) {
    state.finished = state.begun
    state.last = Reload(outcome: outcome, at: SystemClock().wall())
    wake.all()
  }

  // MARK: Others

  /// Has the main thread read all again, and waits for what comes of it; nil when that takes too long, or the gate ends.
  package func reload(within time: Duration) -> Reload? {
    // One that is under way may have read the file before it was changed.
    let wanted = state.withLock { state, _ in state.begun + 1 }
    ring()
    return state.wait(until: SystemClock().monotonic() + time) { state -> Waited<Reload?> in
      if state.finished >= wanted { return .done(state.last) }
      return state.isOver ? .done(nil) : .wait
    } ?? nil
  }
}
