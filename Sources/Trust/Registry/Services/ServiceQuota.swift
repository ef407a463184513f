/// What services leave behind in the store: so many bytes of each within a day, however fast they come. A restart begins
/// anew.
///
/// Rates bound how often somebody asks. What he has asked for stays after its end, and the audit of it for longer; a disk
/// that is full stops the key store as well, and with it everybody.
internal import PortcullisProtocol
internal import Time

/// Used by the registry's thread alone.
package final class ServiceQuota {
  /// What one request, login or pairing takes beside its text: its row, whom it is put to, and its rows of the audit.
  static let rowBytes = 2048
  private static let day: Duration = .seconds(86_400)

  private struct Use {
    var bytes: Double
    var at: UnixTime
  }

  /// Services are an operator's making, and few. Programs of the host are one of them.
  private var uses: [ServiceID?: Use] = [:]

  package init() {}

  /// Counts so many bytes, if there is room for them: what was counted fades evenly, and is over within a day.
  /// - Returns: how long the service has to wait; nil when it need not.
  func wait(toLeave bytes: Int, _ service: ServiceID?, of limit: Int, now: UnixTime) -> Duration? {
    let (limit, day) = (Double(limit), Double(Self.day.wholeMilliseconds))
    var use = uses[service] ?? Use(bytes: 0, at: now)
    let passed = Double(max(0, now.milliseconds - use.at.milliseconds))
    use.bytes = max(0, use.bytes - passed * limit / day)
    use.at = now
    let excess = use.bytes + Double(bytes) - limit
    if excess <= 0 {
      use.bytes += Double(bytes)
      uses[service] = use
      return nil
    }
    uses[service] = use
    return .milliseconds(Int64((excess * day / limit).rounded(.up)))
  }
}

extension Transaction {
  /// To be called when all else is in order, before a row is written.
  /// - Parameter bytes: of the text that is kept.
  func leave(_ bytes: Int, by service: ServiceID?) throws(CallFailure) {
    let whole = bytes + ServiceQuota.rowBytes
    let wait = devices.quota.wait(toLeave: whole, service, of: settings.serviceBytesPerDay, now: now)
    guard let wait else { return }
    throw .refused(RegistryRefusal(.quotaExceeded, "service_bytes_per_day", retryAfter: wait))
  }
}
