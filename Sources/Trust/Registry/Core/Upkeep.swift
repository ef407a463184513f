/// What the registry's parts do by themselves when time has passed: end what is over, throw away what was kept long enough.
package import Time

/// A part adds its own to `RegistryParts.upkeep`. Each run has a savepoint of its own, as a call has; nobody hears of a refusal.
package protocol Upkeep: Sendable {
  /// Does what is due by the transaction's time, a bounded piece of it.
  /// - Returns: when there will be more to do, the transaction's time or an earlier one where this was only a piece; nil when
  ///   nothing is open. What a call opens later makes itself known by `Transaction.remind`.
  func tend(_ transaction: inout Transaction) throws(CallFailure) -> UnixTime?

  /// Ends all that is open, whatever its time: when a clock that was set back, or a restored copy, leaves nobody able to
  /// say how long it has been open.
  func endAll(_ transaction: inout Transaction) throws(CallFailure)
}

enum RegistryParts {
  static let upkeep: [any Upkeep] = [
    DeviceUpkeep(),
    PairingUpkeep(),
    ApprovalUpkeep(),
    CodeUpkeep(),
    SignalUpkeep(),
  ]
}
