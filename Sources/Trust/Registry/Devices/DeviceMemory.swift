/// What the part of devices remembers for some time only: who has asked how often. A restart forgets it.
internal import Bytes
package import DeviceWire
package import Time

/// Used by the registry's thread alone.
package final class DeviceMemory {
  /// New devices of an address that wait for their confirmation.
  package static let enrolmentsAnHour = 20
  /// Failed attestations of a device in an hour, from one address: strangers' failures keep nobody else out.
  package static let failuresAnHour = 3
  /// Changes of what a device says of itself that the audit has in an hour: an app that is updated makes one.
  package static let reportsAnHour = 10
  /// How long no more are looked at then.
  package static let pause: Duration = .seconds(900)

  private struct Attempt: Hashable {
    let device: DeviceID
    let origin: Origin
  }

  /// Refusals that have no rows of their own.
  var refusals = RefusalTally()
  /// What the part of pairings remembers.
  let pairings = PairingMemory()
  /// What the part of presence remembers.
  let presence = PresenceMemory()
  /// What services have left behind.
  let quota = ServiceQuota()
  /// Whose members that nobody knows were told of.
  var strangers = StrangeMembers.Told()
  /// Rows of the audit about what devices say of themselves.
  var reports = Tally<DeviceID>(limit: DeviceMemory.reportsAnHour)
  /// Serials that are revoked, as far as the gate has told; nil before it has.
  var revokedSerials: RevokedSerials?
  /// After the key store, which has judged evidence before it comes here.
  var endedKeys = EndedKeys()
  private var enrolments = Tally<Origin>(limit: DeviceMemory.enrolmentsAnHour)
  private var failures = Tally<Attempt>(limit: DeviceMemory.failuresAnHour)

  package init() {}

  /// With nothing but what others have said: no store has it.
  init(after former: DeviceMemory) {
    revokedSerials = former.revokedSerials
    endedKeys = former.endedKeys
  }

  /// How long this origin has to wait before one more; nil when it need not.
  package func waitToEnrol(_ origin: Origin, now: UnixTime) -> Duration? {
    guard case .address = origin, enrolments.isFull(origin.payer, now: now) else { return nil }
    return enrolments.timeLeft(origin.payer, now: now)
  }

  package func noteEnrolment(_ origin: Origin, now: UnixTime) { enrolments.note(origin.payer, now: now) }

  /// How long the device has to wait before it attests again; nil when it need not.
  package func waitToAttest(_ device: DeviceID, from origin: Origin, now: UnixTime) -> Duration? {
    let attempt = Attempt(device: device, origin: origin.payer)
    guard failures.isFull(attempt, now: now), let last = failures.last(attempt) else { return nil }
    let left = last.milliseconds + Self.pause.wholeMilliseconds - now.milliseconds
    return left > 0 ? .milliseconds(left) : nil
  }

  package func noteFailure(_ device: DeviceID, from origin: Origin, now: UnixTime) {
    failures.note(Attempt(device: device, origin: origin.payer), now: now)
  }
}

/// App Attest keys that were revoked a moment ago: evidence by them may have been judged before, and be on its way.
struct EndedKeys {
  /// Longer than evidence is judged, counted and waits for the registry.
  static let time: Duration = .seconds(120)
  /// So many may lie there before the first look for those that are over.
  private static let quietCount = 256

  private var keys: [KeyIdentifier: UnixTime] = [:]
  private var sweptAbove = EndedKeys.quietCount
  var count: Int { keys.count }

  mutating func note(_ key: KeyIdentifier, now: UnixTime) {
    // A start may end very many at once: each is looked at a few times in all.
    if keys.count >= sweptAbove {
      keys = keys.filter { isRecent($0.value, now: now) }
      sweptAbove = max(Self.quietCount, 2 * keys.count)
    }
    keys[key] = now
  }

  func contains(_ key: KeyIdentifier, now: UnixTime) -> Bool {
    keys[key].map { isRecent($0, now: now) } ?? false
  }

  /// A clock that goes back lets nobody in.
  private func isRecent(_ time: UnixTime, now: UnixTime) -> Bool {
    now.milliseconds - time.milliseconds < Self.time.wholeMilliseconds
  }
}

/// How often something happened within an hour or less, for as many as fit.
struct Tally<Key: Hashable> {
  /// Some megabytes. With more at once, those that are quiet longest are forgotten.
  private static var capacity: Int { 65_536 }

  private let limit: Int
  /// In milliseconds.
  private let span: Int64
  var count: Int { times.count }
  /// In the order in which they happened, at most as many as the limit.
  private var times: [Key: [Int64]] = [:]

  init(limit: Int, within span: Duration = .seconds(3600)) {
    self.limit = limit
    self.span = span.wholeMilliseconds
  }

  func isFull(_ key: Key, now: UnixTime) -> Bool {
    times[key, default: []].count { $0 > now.milliseconds - span } >= limit
  }

  func last(_ key: Key) -> UnixTime? { times[key]?.last.map { UnixTime(milliseconds: $0) } }

  /// Until the oldest of a full span is over.
  func timeLeft(_ key: Key, now: UnixTime) -> Duration {
    let oldest = times[key, default: []].first { $0 > now.milliseconds - span } ?? now.milliseconds
    return .milliseconds(max(0, oldest + span - now.milliseconds))
  }

  mutating func note(_ key: Key, now: UnixTime) {
    if times.count >= Self.capacity, times[key] == nil { forget(now: now) }
    var found = times[key, default: []]
    if found.count >= limit { found.removeFirst() }
    found.append(now.milliseconds)
    times[key] = found
  }

  /// All that is over, and half of the rest if that makes little room: linear, and once for a quarter of the capacity.
  private mutating func forget(now: UnixTime) {
    times = times.filter { $0.value.last.map { $0 > now.milliseconds - span } ?? false }
    guard times.count > Self.capacity / 4 * 3 else { return }
    let middle = times.values.compactMap(\.last).sorted()[times.count / 2]
    times = times.filter { $0.value.last.map { $0 > middle } ?? false }
  }
}
