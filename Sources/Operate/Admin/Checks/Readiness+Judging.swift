/// What was seen, as checks with a name each; the names are all that there are, whatever was seen.
package import System

extension Readiness.Check {
  package static let names = [
    "listening", "draining", "loops", "key_store", "registry", "game", "certificate", "disk",
  ]

  /// What does not answer for so long will not.
  package static let silence: Duration = .seconds(5)

  /// Whether somebody has looked of late: what hinders him, such as a lock that nobody lets go of, hinders the loops.
  package static func isRecent(_ age: Duration) -> Bool { age <= silence }

  /// - Parameters:
  ///   - silent: those that do not answer.
  ///   - age: how old that is.
  package static func loops(silent: [Int], age: Duration) -> Self {
    guard isRecent(age) else {
      return Self("loops", .failed, detail: "nobody could look for \(age.components.seconds) s")
    }
    guard !silent.isEmpty else { return Self("loops", .ok) }
    return Self(
      "loops", .failed, detail: "no answer from \(silent.map(String.init).joined(separator: ", "))")
  }

  /// - Parameters:
  ///   - lateness: for how long a call has been due that has come to nothing; nil where none is overdue.
  ///   - isNeeded: by `READY_NEEDS`; else the next gate would not reach the game either.
  package static func game(_ standing: GameWatch.Standing, lateness: Duration?, isNeeded: Bool) -> Self {
    let trouble: Readiness.State = isNeeded ? .failed : .degraded
    // What was known of it before is too old.
    if let lateness {
      return Self("game", trouble, detail: "nobody could call it for \(lateness.components.seconds) s")
    }
    return switch standing {
    case .up: Self("game", .ok)
    case .away(let reason): Self("game", trouble, detail: "it cannot be reached: \(reason)")
    // Nobody is sent here before that is known, where it matters.
    case .unknown: Self("game", isNeeded ? .failed : .ok, detail: "it has not been called yet")
    }
  }

  /// Players whose app checks the date stay away, and another gate may have the same certificate: nothing that a load
  /// balancer could mend.
  package static func certificate(_ trouble: String?) -> Self {
    Self("certificate", trouble == nil ? .ok : .degraded, detail: trouble)
  }

  /// - Parameters:
  ///   - space: what is left where the gate writes; nil when it cannot be told.
  ///   - age: how old that is.
  package static func disk(_ space: [DiskSpace]?, age: Duration) -> Self {
    if age > staleness {
      return Self("disk", .degraded, detail: "it has not answered for \(age.components.seconds) s")
    }
    guard let space else { return Self("disk", .ok, detail: "what is left cannot be told") }
    if space.contains(where: { $0.freeFiles == 0 }) {
      return Self("disk", .degraded, detail: "no more files can be made")
    }
    let isLow = space.first { $0.freeBytes < lowBytes || $0.freeBytes < $0.bytes / lowShare }
    guard let isLow else { return Self("disk", .ok) }
    return Self("disk", .degraded, detail: "\(isLow.freeBytes >> 20) MiB are left")
  }

  /// A snapshot of the key store at its limit takes so much.
  private static let lowBytes: UInt64 = 256 << 20
  /// Less than a fiftieth of it: whatever fills it will soon have filled it.
  private static let lowShare: UInt64 = 50
  /// More than two looks at it take.
  private static let staleness: Duration = .seconds(5)
}
