/// What time alone brings about among pairings: one that nobody has confirmed ends, and is forgotten later.
internal import Time

struct PairingUpkeep: Upkeep {
  /// So many at once, so that others have their turn.
  private static let batch = 64

  func tend(_ desk: inout Desk) throws(CallFailure) -> UnixTime? {
    let now = desk.now
    let ended = try endOpen(endingBy: now, &desk)
    let over = UnixTime(milliseconds: now.milliseconds - desk.settings.retention.wholeMilliseconds)
    let deleted = try desk.store.deletePairings(endedBefore: over, limit: Self.batch)
    if deleted > 0 { desk.announce(.erased) }
    if ended == Self.batch || deleted == Self.batch { return now }
    return try desk.store.nextPairingEnd()
  }

  func endAll(_ desk: inout Desk) throws(CallFailure) {
    while try endOpen(endingBy: UnixTime(milliseconds: .max), &desk) == Self.batch {}
  }

  private func endOpen(endingBy time: UnixTime, _ desk: inout Desk) throws(CallFailure) -> Int {
    let open = try desk.store.openPairings(of: nil, endingBy: time, limit: Self.batch)
    for pairing in open { try desk.end(pairing, .pairingExpired) }
    return open.count
  }
}
