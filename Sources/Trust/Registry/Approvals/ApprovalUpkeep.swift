/// What time alone brings about among approvals: requests expire, and what has ended is thrown away.
internal import DeviceWire
internal import System

struct ApprovalUpkeep: Upkeep {
  private static let batch = 64

  func tend(_ desk: inout Desk) throws(CallFailure) -> UnixTime? {
    try desk.endOverdueApprovals(limit: Self.batch)
    let kept = UnixSeconds(desk.now) + -(desk.settings.retention.wholeMilliseconds / 1000)
    let thrown = try desk.storing { (store) throws(StoreFailure) in
      try store.deleteApprovals(endedBefore: kept, limit: Self.batch)
    }
    if thrown > 0 { desk.announce(.erased) }
    if thrown == Self.batch { return desk.now }
    let next = try desk.storing { (store) throws(StoreFailure) in try store.nextExpiry() }
    return next.map { UnixTime($0) }
  }

  func endAll(_ desk: inout Desk) throws(CallFailure) {
    try desk.endAllApprovals()
  }
}
