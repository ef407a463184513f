/// When the gate is started, told to end, and given up: the supervisor's decisions, without a process or a clock
/// (docs/restarts.md, "Restarts and upgrades").
package import System
package import Time

/// What the supervisor is told by signals.
package enum SupervisionOrder: Equatable, Sendable {
  case terminate
  case interrupt
  /// Read settings and certificates again.
  case reload
  /// The same program, or what has been put in its place.
  case restart
}

package enum SupervisionAction: Equatable, Sendable {
  case none
  case start
  /// To the gate.
  case signal(SupervisionSignal)
  /// With this status.
  case end(Int32)
}

package enum SupervisionSignal: Equatable, Sendable {
  case terminate
  case interrupt
  case hangup
  case kill
}

package struct SupervisionState: ~Copyable {
  private enum Phase {
    case running(since: MonotonicTime)
    /// It was told to end, and is started again when it has.
    case restarting(killAt: MonotonicTime?)
    /// It has died.
    case waiting(until: MonotonicTime)
    /// For good.
    case ending(killAt: MonotonicTime?)
  }

  private var phase: Phase
  private var hasRun = false
  private var delay = Self.shortestDelay

  package static let shortestDelay: Duration = .milliseconds(100)
  package static let longestDelay: Duration = .seconds(5)
  /// Who has run this long has not died of his start.
  package static let settled: Duration = .seconds(30)
  /// As long as systemd gives one by default.
  package static let restartTime: Duration = .seconds(90)
  /// Well, used wrongly, data unusable, configured wrongly: no better the next time.
  static let finalCodes: [Int32] = [0, 64, 65, 78]
  static let failedStart: Int32 = 71
  static let failedEnd: Int32 = 70

  /// The first start is due at once.
  package init(now: MonotonicTime) {
    phase = .waiting(until: now)
  }

  /// When `timePassed` is to be called at the latest.
  package var deadline: MonotonicTime? {
    switch phase {
    case .running: nil
    case .restarting(let killAt), .ending(let killAt): killAt
    case .waiting(let until): until
    }
  }

  /// Whether what the gate says of its own end is the supervisor's too.
  package var isEnding: Bool { if case .ending = phase { true } else { false } }

  package mutating func timePassed(now: MonotonicTime) -> SupervisionAction {
    switch phase {
    case .running, .ending(killAt: nil), .restarting(killAt: nil): return .none
    case .waiting(let until): return now < until ? .none : .start
    case .restarting(let killAt?):
      if now < killAt { return .none }
      phase = .restarting(killAt: nil)
      return .signal(.kill)
    case .ending(let killAt?):
      if now < killAt { return .none }
      phase = .ending(killAt: nil)
      return .signal(.kill)
    }
  }

  package mutating func started(now: MonotonicTime) {
    hasRun = true
    phase = .running(since: now)
  }

  /// The program could not be executed; at the first time that is not going to change.
  package mutating func startFailed(now: MonotonicTime) -> SupervisionAction {
    guard hasRun else { return .end(Self.failedStart) }
    wait(now: now)
    return .none
  }

  package mutating func ordered(_ order: SupervisionOrder, now: MonotonicTime) -> SupervisionAction {
    switch (phase, order) {
    // How long an end may take is for whoever orders it.
    case (.running, .terminate):
      phase = .ending(killAt: nil)
      return .signal(.terminate)
    case (.running, .interrupt):
      phase = .ending(killAt: nil)
      return .signal(.interrupt)
    case (.ending, .terminate): return .signal(.terminate)
    case (.ending, .interrupt): return .signal(.interrupt)
    case (.running, .reload): return .signal(.hangup)
    case (.running, .restart):
      phase = .restarting(killAt: now + Self.restartTime)
      return .signal(.terminate)
    case (.restarting(let killAt), .terminate), (.restarting(let killAt), .interrupt):
      // It has been told to end, and has its time for that; a second word would have it end at once.
      phase = .ending(killAt: killAt)
      return .none
    case (.waiting, .terminate), (.waiting, .interrupt): return .end(0)
    case (.waiting, .restart): return .start
    case (.restarting, .reload), (.restarting, .restart), (.waiting, .reload), (.ending, .reload),
      (.ending, .restart):
      return .none
    }
  }

  package mutating func ended(_ ending: ProcessEnding, now: MonotonicTime) -> SupervisionAction {
    switch (phase, ending) {
    case (.restarting, _): return .start
    case (.ending, .exited(let code)):
      phase = .ending(killAt: nil)
      return .end(code)
    case (.ending, .killed):
      phase = .ending(killAt: nil)
      return .end(Self.failedEnd)
    case (.running, .exited(let code)) where Self.finalCodes.contains(code): return .end(code)
    case (.running(let since), _):
      if now - since >= Self.settled { delay = Self.shortestDelay }
      wait(now: now)
      return .none
    // Nothing was running.
    case (.waiting, _): return .none
    }
  }

  private mutating func wait(now: MonotonicTime) {
    phase = .waiting(until: now + delay)
    delay = min(delay * 2, Self.longestDelay)
  }
}
