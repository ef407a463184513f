/// What follows from calls beyond their answers, and who is told.
package import Bytes
package import DeviceWire

package enum RegistryEffect: Equatable, Sendable {
  /// The device may come in by its key from now on, at this level; also when the level has changed.
  case deviceActive(ActiveDevice)
  /// It waits for its confirmation and comes in by nothing of its own yet; its App Attest key may play.
  case deviceWaits(ActiveDevice)
  /// The device has another App Attest key now, and this one, which it had before, goes with it all the same.
  case formerKey(KeyIdentifier, of: DeviceID, subject: Subject?)
  /// One that waited is there no more.
  case deviceExpired(DeviceID)
  /// It is revoked or forgotten: its sessions end, nobody comes in by it any more.
  case deviceGone(DeviceID)
  /// Its end was ordered, and the store has not been asked yet: as `deviceGone`, and what is known to be its App Attest key
  /// comes in no more.
  case deviceRevoked(DeviceID)
  /// The same of all devices that are known to be the subject's.
  case subjectRevoked(Subject)
  /// Whoever has the key comes in no more by it, neither as a device nor otherwise.
  case attestedKeyRevoked(KeyIdentifier)
  /// So many requests wait for its vote.
  /// - Parameter attestedBy: the App Attest key that vouches for the device, which may play by it.
  case approvalsOpen(DeviceID, attestedBy: KeyIdentifier?, count: Int)
  /// A login waits for its one-time code.
  /// - Parameter attestedBy: as above.
  case codeWanted(DeviceID, attestedBy: KeyIdentifier?)
  /// Something speaks against a device that asks for a code.
  case doubted(RiskReport)
  /// Somebody has reported it so often that it may not ask him any more.
  case serviceBarred(String, reports: Int)
  /// A phone has sent members that the gate does not know: told once of each.
  case strangeMembers(DeviceID, StrangeMembers)
  /// It has proved to a desktop that it is near.
  case near(PresencePass)
  /// What the desktop has seen counts no more: its token is another one, or it is no service any more.
  case desktopEnded(ServiceID)
  /// All services' tokens that hold, by their hashes.
  case services([Bytes32: ServiceID])
  /// The public keys of device tokens, as they are published.
  case keySet([UInt8])
  /// Those who wait for it are looked at again.
  case wake(Topic)
  /// All who wait are: what they have shown may be good no more.
  case wakeAll
  /// Rows were deleted whose bytes are not to stay in the store's log.
  case erased

  /// It must not wait for the disk.
  var isUrgent: Bool {
    switch self {
    case .deviceGone, .deviceRevoked, .subjectRevoked, .attestedKeyRevoked: true
    case .deviceActive, .deviceWaits, .formerKey, .deviceExpired, .approvalsOpen, .codeWanted, .doubted,
      .serviceBarred, .strangeMembers, .near, .desktopEnded, .services, .keySet, .wake, .wakeAll, .erased:
      false
    }
  }
}

/// What the door has to know of a device that may come in, or whose App Attest key may.
package struct ActiveDevice: Equatable, Sendable {
  package let id: DeviceID
  package let key: P256Point
  package let level: Level
  /// The App Attest key that goes with it.
  package let attestedKey: KeyIdentifier?
  package let subject: Subject?

  package init(
    id: DeviceID, key: P256Point, level: Level, attestedKey: KeyIdentifier?, subject: Subject? = nil
  ) {
    self.id = id
    self.key = key
    self.level = level
    self.attestedKey = attestedKey
    self.subject = subject
  }
}

/// Told on the registry's thread, and on that of whoever orders a revocation: it hands on, and waits for nothing.
package protocol RegistryListener: Sendable {
  func hear(_ effect: RegistryEffect)
  /// After all that a group has brought about, answers and effects: who is to be woken for them is woken once.
  func told()
  func note(_ event: RegistryEvent)
}

extension RegistryListener {
  package func told() {}
}

/// What the registry has to say for the log.
package enum RegistryEvent: Equatable, Sendable {
  case opened(devices: Int, duration: Duration)
  /// The wall clock stands before the highest time that was promised: all that was open is expired.
  case clockBehind(by: Duration)
  /// Nothing is accepted until `available`.
  case unavailable(String)
  case available
  /// The end of the audit's chain, signed.
  case auditHead(AuditHead)
  /// At the end: these were ordered, and could not be written.
  case revocationsLost([String])
}
