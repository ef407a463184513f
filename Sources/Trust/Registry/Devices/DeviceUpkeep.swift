/// What time alone brings about among devices: who was not confirmed goes, and the keys of tokens change.
internal import Time

struct DeviceUpkeep: Upkeep {
  /// So many at once, so that others have their turn.
  private static let batch = 256

  func tend(_ transaction: inout Transaction) throws(CallFailure) -> UnixTime? {
    let over = UnixTime(
      milliseconds: transaction.now.milliseconds - DeviceRecord.pendingLife.wholeMilliseconds + 1)
    let count = try endPending(madeBefore: over, &transaction)
    try advanceTokenKeys(&transaction)
    if count > 0 { transaction.announce(.erased) }
    if count == Self.batch { return transaction.now }
    let next = try transaction.store.pendingDevices(madeBefore: UnixTime(milliseconds: .max), limit: 1).first
    let tokens = transaction.tokens.nextChange
    return next.map { min($0.endOfPending, tokens) } ?? tokens
  }

  func endAll(_ transaction: inout Transaction) throws(CallFailure) {
    while try endPending(madeBefore: UnixTime(milliseconds: .max), &transaction) == Self.batch {}
  }

  private func endPending(madeBefore time: UnixTime, _ transaction: inout Transaction) throws(CallFailure)
    -> Int
  {
    let devices = try transaction.store.pendingDevices(madeBefore: time, limit: Self.batch)
    for device in devices {
      try transaction.delete(pending: device)
      try transaction.record(.deviceExpired, .device(device.id))
    }
    return devices.count
  }

  private func advanceTokenKeys(_ transaction: inout Transaction) throws(CallFailure) {
    let (tokens, now) = (transaction.tokens, transaction.now)
    let hasChanged = try tokens.advance(transaction.store, to: now)
    if hasChanged { try transaction.publishTokenKeys() }
  }
}
