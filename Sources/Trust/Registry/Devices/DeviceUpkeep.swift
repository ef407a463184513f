/// What time alone brings about among devices: who was not confirmed goes, and the keys of tokens change.
internal import Time

struct DeviceUpkeep: Upkeep {
  /// So many at once, so that others have their turn.
  private static let batch = 256

  func tend(_ desk: inout Desk) throws(CallFailure) -> UnixTime? {
    let over = UnixTime(milliseconds: desk.now.milliseconds - DeviceRecord.pendingLife.wholeMilliseconds + 1)
    let count = try endPending(madeBefore: over, &desk)
    try advanceTokenKeys(&desk)
    if count > 0 { desk.announce(.erased) }
    if count == Self.batch { return desk.now }
    let next = try desk.store.pendingDevices(madeBefore: UnixTime(milliseconds: .max), limit: 1).first
    let tokens = desk.tokens.nextChange
    return next.map { min($0.endOfPending, tokens) } ?? tokens
  }

  func endAll(_ desk: inout Desk) throws(CallFailure) {
    while try endPending(madeBefore: UnixTime(milliseconds: .max), &desk) == Self.batch {}
  }

  private func endPending(madeBefore time: UnixTime, _ desk: inout Desk) throws(CallFailure) -> Int {
    let devices = try desk.store.pendingDevices(madeBefore: time, limit: Self.batch)
    for device in devices {
      try desk.delete(pending: device)
      try desk.record(.deviceExpired, .device(device.id))
    }
    return devices.count
  }

  private func advanceTokenKeys(_ desk: inout Desk) throws(CallFailure) {
    let (tokens, now) = (desk.tokens, desk.now)
    let hasChanged = try tokens.advance(desk.store, to: now)
    if hasChanged { try desk.publishTokenKeys() }
  }
}
