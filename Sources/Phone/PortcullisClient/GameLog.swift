/// What the package does, line by line, for an app's log.

/// One line: an attempt and its outcome, a pause, a close, a step on the way to a key. It never holds a challenge, the
/// identifier of a session or key, a token, or anything that was typed or shown.
public struct GameLogLine: Equatable, Sendable, CustomStringConvertible {
  /// What has happened.
  public let text: String
  /// Why, where something has failed; its `trace` is what the gate's log is searched by.
  public let failure: GameFailure?

  /// Both in one line.
  public var description: String { failure.map { "\(text): \($0)" } ?? text }
}

struct GameLog: Sendable {
  private let write: (@Sendable (GameLogLine) -> Void)?

  init(_ write: (@Sendable (GameLogLine) -> Void)?) {
    self.write = write
  }

  func write(_ text: @autoclosure () -> String, _ failure: GameFailure? = nil) {
    write?(GameLogLine(text: text(), failure: failure))
  }
}
