/// Which phones were near a desktop of late. A restart forgets it: whoever is still there proves it again.
internal import Bytes
package import DeviceWire
internal import Time

/// A phone has answered a desktop's challenge in time.
package struct PresencePass: Equatable, Sendable {
  package let device: DeviceID
  /// Hash of the key that has signed: a device with another one has proved nothing yet.
  let key: Bytes32
  /// Whose it was: the desktop may have no say about another's.
  let subject: Subject?
  /// The service that has seen it.
  let desktop: ServiceID
  let at: UnixTime
}

/// Used by the registry's thread alone.
package final class PresenceMemory {
  /// The most that `PRESENCE_MAX_AGE` may be: what is older serves nobody.
  private static let longest: Duration = .seconds(600)
  /// So many may lie there before the first look for what is over.
  private static let quietCount = 1024

  /// The last one of each device.
  private var passes: [DeviceID: PresencePass] = [:]
  private var sweptAbove = PresenceMemory.quietCount

  package init() {}

  var count: Int { passes.count }

  /// Whether the device has proved, with the key and the subject that it has now, to be near, not longer ago than that.
  func isNear(_ device: DeviceRecord, within age: Duration, now: UnixTime) -> Bool {
    guard let pass = passes[device.id], pass.key == device.keys.device.hash, pass.subject == device.subject
    else { return false }
    return pass.isWithin(age, now)
  }

  /// To be called once the pass is on record.
  func keep(_ pass: PresencePass) {
    if passes.count >= sweptAbove {
      passes = passes.filter { $0.value.isWithin(Self.longest, pass.at) }
      sweptAbove = max(Self.quietCount, 2 * passes.count)
    }
    passes[pass.device] = pass
  }

  func forget(_ device: DeviceID) { passes[device] = nil }

  /// What a desktop has said whose token is over, and may have been in other hands.
  func forget(seenBy desktop: ServiceID) { passes = passes.filter { $0.value.desktop != desktop } }
}

extension PresencePass {
  fileprivate func isWithin(_ age: Duration, _ now: UnixTime) -> Bool {
    now.milliseconds - at.milliseconds <= age.wholeMilliseconds
  }
}

extension PresenceMemory {
  /// Of all that a group has brought about, once it is durable.
  func hear(_ effect: RegistryEffect) {
    switch effect {
    case .near(let pass): keep(pass)
    case .deviceGone(let device): forget(device)
    case .desktopEnded(let desktop): forget(seenBy: desktop)
    case .deviceActive, .deviceWaits, .formerKey, .deviceExpired, .deviceRevoked, .subjectRevoked,
      .attestedKeyRevoked, .approvalsOpen, .codeWanted, .doubted, .serviceBarred, .strangeMembers,
      .services, .keySet, .wake, .wakeAll, .erased:
      break
    }
  }
}
