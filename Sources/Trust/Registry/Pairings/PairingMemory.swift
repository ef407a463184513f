/// How often phones have answered QR codes within a minute, by their addresses. A restart forgets it.
internal import Time

/// Used by the registry's thread alone.
package final class PairingMemory {
  package static let answersAMinute = 10
  private static let minute: Duration = .seconds(60)

  private var answers = Tally<Origin>(limit: answersAMinute, within: minute)

  package init() {}

  /// Counts this one, if there is room for it.
  /// - Returns: how long this origin has to wait; nil when it need not.
  func waitToAnswer(_ origin: Origin, now: UnixTime) -> Duration? {
    let origin = origin.payer
    if answers.isFull(origin, now: now) { return answers.timeLeft(origin, now: now) }
    answers.note(origin, now: now)
    return nil
  }
}
