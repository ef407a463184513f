/// What becomes of Android devices whose certificates are revoked: all that were attested are judged again when the list of
/// revoked serials has changed (docs/devices.md, "Evidence").
package import Bytes
internal import DeviceWire
internal import PortcullisProtocol
internal import System

/// A list of revoked serials, which others have read.
package struct RevokedSerials: Sendable {
  /// SHA-256 of what it was read from: two with the same are the same.
  let digest: Bytes32
  let contains: @Sendable (AndroidSerial) -> Bool

  package init(digest: Bytes32, contains: @escaping @Sendable (AndroidSerial) -> Bool) {
    self.digest = digest
    self.contains = contains
  }
}

/// There is a list, perhaps another one than before: devices that were attested come under it, those that come later as
/// well. A list that all were judged by already, perhaps before a restart, costs nothing.
package struct JudgeSerials: RegistryCall {
  /// So many serials, and devices, in one group, so that others have their turn.
  private static let serialsAtOnce = 1024
  private static let devicesAtOnce = 64

  private let revoked: RevokedSerials
  private var isBegun = false
  /// All before it are judged, and itself.
  private var last: AndroidSerial?

  package init(_ revoked: RevokedSerials) {
    self.revoked = revoked
  }

  package func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    if !isBegun {
      // From now on nobody is admitted with one of them, whatever becomes of this group.
      desk.devices.revokedSerials = revoked
      if try desk.judgedSerials() == revoked.digest { return Self.done }
    } else if desk.devices.revokedSerials?.digest != revoked.digest {
      // Another list has come in the meantime, which judges all of them itself.
      return Self.done
    }
    var next = self
    next.isBegun = true
    for _ in 0..<Self.serialsAtOnce {
      let last = next.last
      let serial = try desk.storing { (store) throws(StoreFailure) in try store.serial(after: last) }
      guard let serial else {
        try desk.note(judged: revoked.digest)
        return Self.done
      }
      if revoked.contains(serial) {
        let devices = try desk.storing { (store) throws(StoreFailure) in
          try store.devices(of: serial, limit: Self.devicesAtOnce)
        }
        for device in devices { try desk.endHardware(of: device, because: serial) }
        // There may be more with this one.
        if devices.count == Self.devicesAtOnce { return .goOn(next) }
      }
      next.last = serial
    }
    return .goOn(next)
  }

  private static let done = Outcome.reply(.answered(Array("{}".utf8)))
}

extension Desk {
  func requireUnrevoked(_ chains: AndroidKeyEvidence) throws(CallFailure) {
    // They were judged when they were verified, perhaps by an older list.
    guard let revoked = devices.revokedSerials else { return }
    guard !chains.serials.contains(where: revoked.contains) else {
      throw .refused(.attestationRejected, "revoked")
    }
  }

  /// Of a device that is in the store.
  func keepSerials(of evidence: VerifiedEvidence?, for device: DeviceID) throws(CallFailure) {
    guard case .androidKey(let chains) = evidence else { return }
    try storing { (store) throws(StoreFailure) in try store.insert(chains.serials, of: device) }
  }

  func dropSerials(of device: DeviceID) throws(CallFailure) {
    try storing { (store) throws(StoreFailure) in try store.deleteSerials(of: device) }
  }

  /// What vouched for its keys is worth nothing: neither they, nor what was said of the app that has them.
  fileprivate mutating func endHardware(
    of id: DeviceID, because serial: AndroidSerial
  ) throws(CallFailure) {
    try dropSerials(of: id)
    guard var device = try storing({ (store) throws(StoreFailure) in try store.device(id) }),
      device.state != .revoked
    else { return }
    device.level = .bare
    device.verification = device.keys.verification(by: nil)
    device.attestedAt = nil
    device.playAttestedAt = nil
    device.endTokens()
    try keep(device)
    // Its sessions end, whatever level the door asks for.
    announce(.deviceGone(id))
    if device.state == .active { announce(.deviceActive(device.active)) }
    try record(
      .deviceUnattested, .device(id), .level(device.level), .word("serial", Hex.encode(serial.bytes.span)))
    try withdrawVotes(of: id)
  }

  fileprivate func judgedSerials() throws(CallFailure) -> Bytes32? {
    try storing { (store) throws(StoreFailure) in try store.value(StoreValue.serials) }.flatMap {
      Bytes32($0)
    }
  }

  fileprivate func note(judged digest: Bytes32) throws(CallFailure) {
    try storing { (store) throws(StoreFailure) in try store.setValue(StoreValue.serials, digest.array) }
  }
}

extension DeviceRecord {
  /// Evidence has come, and is good.
  mutating func note(_ evidence: VerifiedEvidence?, at now: UnixTime) {
    guard let evidence else { return }
    attestedAt = now
    if case .playIntegrity = evidence { playAttestedAt = now }
    // An attestation is newer than what the app has said.
    isRooted = false
  }
}

extension StoreValue {
  /// SHA-256 of the list of revoked serials that all devices were judged by.
  static let serials = "revoked_serials"
}
