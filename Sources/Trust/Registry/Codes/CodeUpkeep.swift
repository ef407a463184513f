/// What time alone brings about among one-time codes: logins expire, and what has ended is thrown away.
internal import Time

struct CodeUpkeep: Upkeep {
  private static let batch = 64

  func tend(_ desk: inout Desk) throws(CallFailure) -> UnixTime? {
    let now = desk.now
    let ended = try desk.endOverdueCodes(at: now, limit: Self.batch)
    let kept = UnixTime(milliseconds: now.milliseconds - desk.settings.retention.wholeMilliseconds)
    let thrown = try desk.store.deleteChallenges(endedBefore: kept, limit: Self.batch)
    if thrown > 0 { desk.announce(.erased) }
    if ended == Self.batch || thrown == Self.batch { return now }
    return try desk.store.nextChallengeEnd()
  }

  func endAll(_ desk: inout Desk) throws(CallFailure) {
    while try desk.endOverdueCodes(at: UnixTime(milliseconds: .max), limit: Self.batch) == Self.batch {}
  }
}
