/// What time alone brings about among approvals: requests expire, what has ended loses its
/// texts after a day, and is thrown away.
internal import DeviceWire
internal import Time

struct ApprovalUpkeep: Upkeep {
  private static let batch = 64

  func tend(_ desk: inout Desk) throws(CallFailure) -> UnixTime? {
    try desk.endOverdueApprovals(limit: Self.batch)
    let kept = UnixSeconds(desk.now) + -(desk.settings.retention.wholeMilliseconds / 1000)
    let whole = UnixSeconds(desk.now) + -ApprovalLimits.whole
    let (thrown, shortened) = (
      try desk.store.deleteApprovals(endedBefore: kept, limit: Self.batch),
      try desk.store.shortenApprovals(endedBefore: whole, limit: Self.batch)
    )
    if thrown > 0 || shortened > 0 { desk.announce(.erased) }
    if thrown == Self.batch || shortened == Self.batch { return desk.now }
    let next = try desk.store.nextExpiry()
    return next.map { UnixTime($0) }
  }

  func endAll(_ desk: inout Desk) throws(CallFailure) {
    try desk.endAllApprovals()
  }
}
