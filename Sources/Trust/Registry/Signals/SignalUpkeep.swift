/// What time alone brings about among signals: nobody's position is kept for longer than the retention.
internal import DeviceWire
internal import Risk
internal import Time

struct SignalUpkeep: Upkeep {
  private static let batch = 256

  func tend(_ transaction: inout Transaction) throws(CallFailure) -> UnixTime? {
    let retention = transaction.settings.retention
    let kept = UnixTime(milliseconds: transaction.now.milliseconds - retention.wholeMilliseconds)
    let stale = try transaction.store.devices(withRiskRecordsBefore: kept, limit: Self.batch)
    for device in stale {
      guard let record = try transaction.store.riskRecord(of: device) else { continue }
      try transaction.store.setRiskRecord(record.parts { UnixTime($0) >= kept }, of: device)
    }
    if !stale.isEmpty { transaction.announce(.erased) }
    if stale.count == Self.batch { return transaction.now }
    let oldest = try transaction.store.oldestRiskRecord()
    // A millisecond later it is older than what is kept.
    return oldest.map { $0.adding(retention + .milliseconds(1)) }
  }

  /// Where a phone was is known whatever became of the clock.
  func endAll(_ transaction: inout Transaction) throws(CallFailure) {}
}
