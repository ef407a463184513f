/// What an app decides about its session; the defaults are for a person at a phone.

/// How hard a session tries, and what it keeps.
public struct GameOptions: Sendable {
  /// Whether text may come compressed.
  public enum Compression: Equatable, Sendable {
    /// Where the system reads it reliably: not on iOS 15.0 to 15.3, and not any more in a process in which that has failed.
    case automatic
    /// Never.
    case off
  }

  /// Whether a first connection that fails is tried again; else its failure ends the session.
  public var triesFirstAgain: Bool
  /// Whether another session may begin where the old one is gone: `attached(isResumed: false)` says that it has. Else the
  /// end is `gone`.
  public var beginsAnew: Bool
  /// Whether to stop trying when the gate has let go of the session; else it is tried for ever, ever more rarely.
  public var givesUpWithSession: Bool
  /// Seconds after which input that could not be sent is dropped; nil: never.
  public var inputPatience: Double?
  /// Whether the game's text may come compressed.
  public var compression: Compression
  /// Gets a line for each attempt and its outcome, on any thread; nil: nothing does.
  public var log: (@Sendable (GameLogLine) -> Void)?

  /// - Parameters:
  ///   - triesFirstAgain: whether a first connection that fails is tried again.
  ///   - beginsAnew: whether another session may begin where the old one is gone.
  ///   - givesUpWithSession: whether to stop trying when the gate has let go of the session.
  ///   - inputPatience: in seconds; nil: for ever.
  ///   - compression: whether the game's text may come compressed.
  ///   - log: gets a line for each attempt and its outcome.
  public init(
    triesFirstAgain: Bool = true, beginsAnew: Bool = true, givesUpWithSession: Bool = false,
    inputPatience: Double? = 10, compression: Compression = .automatic,
    log: (@Sendable (GameLogLine) -> Void)? = nil
  ) {
    self.triesFirstAgain = triesFirstAgain
    self.beginsAnew = beginsAnew
    self.givesUpWithSession = givesUpWithSession
    self.inputPatience = inputPatience
    self.compression = compression
    self.log = log
  }
}
