/// What time alone brings about among pairings: one that nobody has confirmed ends, and is forgotten later.
internal import Time

struct PairingUpkeep: Upkeep {
  /// So many at once, so that others have their turn.
  private static let batch = 64

  func tend(_ transaction: inout Transaction) throws(CallFailure) -> UnixTime? {
    let now = transaction.now
    let ended = try endOpen(endingBy: now, &transaction)
    let over = UnixTime(milliseconds: now.milliseconds - transaction.settings.retention.wholeMilliseconds)
    let deleted = try transaction.store.deletePairings(endedBefore: over, limit: Self.batch)
    if deleted > 0 { transaction.announce(.erased) }
    if ended == Self.batch || deleted == Self.batch { return now }
    return try transaction.store.nextPairingEnd()
  }

  func endAll(_ transaction: inout Transaction) throws(CallFailure) {
    while try endOpen(endingBy: UnixTime(milliseconds: .max), &transaction) == Self.batch {}
  }

  private func endOpen(endingBy time: UnixTime, _ transaction: inout Transaction) throws(CallFailure) -> Int {
    let open = try transaction.store.openPairings(of: nil, endingBy: time, limit: Self.batch)
    for pairing in open { try transaction.end(pairing, .pairingExpired) }
    return open.count
  }
}
