/// What goes wrong between an app and a scripted gate.
public import PortcullisClient

/// Faults of the network, by plan: the same ones each time that a test runs.
public struct Faults: Equatable, Sendable {
  /// After how many messages, either way, each connection breaks: the first number is for the first connection. A connection
  /// without a number holds.
  public var cutsAfter: [Int]
  /// Each request and each upgrade fails so, until it is nil again.
  public var failure: GameFailure.Kind?
  /// Each answer to a registration is lost after the gate has read it, so often.
  public var lostRegistrations: Int

  /// - Parameters:
  ///   - cutsAfter: messages of each connection.
  ///   - failure: of each request and upgrade.
  ///   - lostRegistrations: how many answers to registrations are lost.
  public init(cutsAfter: [Int] = [], failure: GameFailure.Kind? = nil, lostRegistrations: Int = 0) {
    self.cutsAfter = cutsAfter
    self.failure = failure
    self.lostRegistrations = lostRegistrations
  }
}
