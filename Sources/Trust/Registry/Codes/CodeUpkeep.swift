/// What time alone brings about among one-time codes: logins expire, and what has ended is thrown away.
internal import Time

struct CodeUpkeep: Upkeep {
  private static let batch = 64

  func tend(_ transaction: inout Transaction) throws(CallFailure) -> UnixTime? {
    let now = transaction.now
    let ended = try transaction.endOverdueCodes(at: now, limit: Self.batch)
    let kept = UnixTime(milliseconds: now.milliseconds - transaction.settings.retention.wholeMilliseconds)
    let thrown = try transaction.store.deleteChallenges(endedBefore: kept, limit: Self.batch)
    if thrown > 0 { transaction.announce(.erased) }
    if ended == Self.batch || thrown == Self.batch { return now }
    return try transaction.store.nextChallengeEnd()
  }

  func endAll(_ transaction: inout Transaction) throws(CallFailure) {
    while try transaction.endOverdueCodes(at: UnixTime(milliseconds: .max), limit: Self.batch) == Self.batch {
    }
  }
}
