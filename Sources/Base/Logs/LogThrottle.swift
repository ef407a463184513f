/// How often the same thing is told: so many lines a second for each event and code, then their number
/// (docs/logs.md, "Logs").
internal import Synchronization
package import Time

/// The state machine; time is passed in.
package struct LogThrottleState: Sendable {
  package struct Summary: Sendable, Equatable {
    package let event: String
    package let code: String
    package let leftOut: Int
  }

  package struct Verdict: Sendable, Equatable {
    package let isWritten: Bool
    /// To be told before the line: how many of its kind were left out in the second that has ended.
    package let summary: Summary?
  }

  private struct Kind: Hashable {
    let event: String
    let code: String
  }

  private struct Window {
    var start: MonotonicTime
    var written: Int
    var leftOut: Int
  }

  private let linesPerSecond: Int
  private var windows: [Kind: Window] = [:]
  /// Events and codes are words of our own, a few dozen; should that ever change, memory does not.
  private static let mostKinds = 256

  package init(linesPerSecond: Int) {
    self.linesPerSecond = max(1, linesPerSecond)
  }

  package mutating func admit(event: String, code: String, now: MonotonicTime) -> Verdict {
    var kind = Kind(event: event, code: code)
    if windows[kind] == nil, windows.count >= Self.mostKinds { kind = Kind(event: "other", code: "") }
    guard var window = windows[kind], now - window.start < .seconds(1) else {
      let leftOut = windows[kind]?.leftOut ?? 0
      windows[kind] = Window(start: now, written: 1, leftOut: 0)
      return Verdict(isWritten: true, summary: Self.summary(kind, leftOut))
    }
    let isWritten = window.written < linesPerSecond
    if isWritten { window.written += 1 } else { window.leftOut += 1 }
    windows[kind] = window
    return Verdict(isWritten: isWritten, summary: nil)
  }

  /// What was left out in seconds that have ended, when no line of the kind came after; to be asked about
  /// once a second, and with `all` at the end.
  package mutating func due(now: MonotonicTime, all: Bool = false) -> [Summary] {
    let ended = windows.filter { all || now - $0.value.start >= .seconds(1) }
    for kind in ended.keys { windows[kind] = nil }
    return ended.compactMap { Self.summary($0.key, $0.value.leftOut) }
      .sorted { ($0.event, $0.code) < ($1.event, $1.code) }
  }

  private static func summary(_ kind: Kind, _ leftOut: Int) -> Summary? {
    leftOut > 0 ? Summary(event: kind.event, code: kind.code, leftOut: leftOut) : nil
  }
}

/// The same for all threads.
package final class LogThrottle: Sendable {
  private let state: Mutex<LogThrottleState>

  package init(linesPerSecond: Int) {
    state = Mutex(LogThrottleState(linesPerSecond: linesPerSecond))
  }

  package func admit(event: String, code: String, now: MonotonicTime) -> LogThrottleState.Verdict {
    state.withLock { $0.admit(event: event, code: code, now: now) }
  }

  package func due(now: MonotonicTime, all: Bool = false) -> [LogThrottleState.Summary] {
    state.withLock { $0.due(now: now, all: all) }
  }
}
