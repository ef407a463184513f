/// What time alone brings about among approvals: requests expire, what has ended loses its
/// texts after a day, and is thrown away.
internal import DeviceWire
internal import Time

struct ApprovalUpkeep: Upkeep {
  private static let batch = 64

  func tend(_ transaction: inout Transaction) throws(CallFailure) -> UnixTime? {
    try transaction.endOverdueApprovals(limit: Self.batch)
    let kept = UnixSeconds(transaction.now) + -(transaction.settings.retention.wholeMilliseconds / 1000)
    let whole = UnixSeconds(transaction.now) + -ApprovalLimits.whole
    let (thrown, shortened) = (
      try transaction.store.deleteApprovals(endedBefore: kept, limit: Self.batch),
      try transaction.store.shortenApprovals(endedBefore: whole, limit: Self.batch)
    )
    if thrown > 0 || shortened > 0 { transaction.announce(.erased) }
    if thrown == Self.batch || shortened == Self.batch { return transaction.now }
    let next = try transaction.store.nextExpiry()
    return next.map { UnixTime($0) }
  }

  func endAll(_ transaction: inout Transaction) throws(CallFailure) {
    try transaction.endAllApprovals()
  }
}
