/// What an app decides about its session; the defaults are for a person at a phone.

/// How hard a session tries, and what it keeps.
public struct GameOptions: Equatable, Sendable {
  /// Whether a first connection that fails is tried again; else its failure ends the session.
  public var triesFirstAgain: Bool
  /// Whether another session may begin where the old one is gone: `attached(isResumed: false)` says that it has. Else the
  /// end is `gone`.
  public var beginsAnew: Bool
  /// Whether a key may be made and registered where there is none, or the gate does not take the one there is.
  public var registers: Bool
  /// Whether to stop trying when the gate has let go of the session; else it is tried for ever, ever more rarely.
  public var givesUpWithSession: Bool
  /// Seconds after which input that could not be sent is dropped; nil: never.
  public var inputPatience: Double?

  /// - Parameters:
  ///   - triesFirstAgain: whether a first connection that fails is tried again.
  ///   - beginsAnew: whether another session may begin where the old one is gone.
  ///   - registers: whether a key may be made and registered.
  ///   - givesUpWithSession: whether to stop trying when the gate has let go of the session.
  ///   - inputPatience: in seconds; nil: for ever.
  public init(
    triesFirstAgain: Bool = true, beginsAnew: Bool = true, registers: Bool = true,
    givesUpWithSession: Bool = false, inputPatience: Double? = 10
  ) {
    self.triesFirstAgain = triesFirstAgain
    self.beginsAnew = beginsAnew
    self.registers = registers
    self.givesUpWithSession = givesUpWithSession
    self.inputPatience = inputPatience
  }
}
