/// What a conversation has heard of beside the game's words and is still to pass on: to telnet, to the app, to the log.
internal import Configuration
internal import Time
internal import TelnetWire

package struct Notices {
  /// How many requests wait for the vote of the device that plays, when it has not been told yet.
  package var approvalsOpen: Int?
  /// A login waits for its one-time code, and it has not been told yet.
  package var isCodeWanted = false
  /// What was left out of what either side has said, by words for the log: counted, and said once a turn.
  package var leftOut = LeftOut()
  /// What the app has said of itself and telnet was not told yet. `INPUT_RATE` does not count that, and each description
  /// costs the game as much as what is typed.
  var newClient: ClientDescription?
  var descriptions = InputAllowance(descriptionRate)
  /// Until when the app may say who it is before the game is told that it is nobody in particular.
  var clientDeadline: MonotonicTime

  init(clientDeadline: MonotonicTime) {
    self.clientDeadline = clientDeadline
  }

  mutating func takeLeftOut() -> LeftOut? {
    if leftOut.count == 0 { return nil }
    defer { leftOut = LeftOut() }
    return leftOut
  }

  /// A window that is dragged is told of often enough by that.
  private static let descriptionRate = Rate(count: 10, per: .seconds(1), burst: 10)
}
