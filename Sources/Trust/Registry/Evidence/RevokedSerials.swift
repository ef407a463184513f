/// What becomes of Android devices whose certificates are revoked: all that were attested are judged again when the list of
/// revoked serials has changed (docs/devices-messages.md, "Evidence").
package import Bytes
internal import DeviceWire
internal import PortcullisProtocol
internal import Time

/// A list of revoked serials, which others have read.
package struct RevokedSerials: Sendable {
  /// SHA-256 of what it was read from: two with the same are the same.
  let digest: Bytes32
  let contains: @Sendable (AndroidSerial) -> Bool
  let all: @Sendable () -> [AndroidSerial]

  package init(
    digest: Bytes32, contains: @escaping @Sendable (AndroidSerial) -> Bool,
    all: @escaping @Sendable () -> [AndroidSerial]
  ) {
    self.digest = digest
    self.contains = contains
    self.all = all
  }
}

/// There is a list, perhaps another one than before: devices that were attested come under it, those that come later as
/// well. A list that all were judged by already, perhaps before a restart, costs nothing.
///
/// Who is found is sent away, which takes no writing, and then what vouched for his keys is taken from them. While nothing can
/// be written all are looked for at once.
package struct JudgeSerials: RegistryCall {
  /// So many serials, or devices, in one group, so that others have their turn.
  private static let serialsAtOnce = 512
  private static let devicesAtOnce = 64

  private let revoked: RevokedSerials
  private var isBegun = false
  /// Those of the list that nobody was looked for yet; nil before the first.
  private var rest: ArraySlice<AndroidSerial>?
  /// Who has one, and is to end.
  private var found: ArraySlice<DeviceID> = []
  private var isKnown: Set<DeviceID> = []

  package var urgency: Urgency { .revocation }
  package var immediate: [RegistryEffect] { found.map { .deviceGone($0) } }
  package var revokes: String { "what the certificates of list \(revoked.digest.hex.prefix(16)) vouch for" }
  package var isOrderedAnew: Bool { true }
  package var isToLookUp: Bool { rest?.isEmpty != true }

  package init(_ revoked: RevokedSerials) {
    self.revoked = revoked
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var next = self
    if !isBegun {
      // From now on nobody is admitted with one of them, whatever becomes of this group.
      transaction.devices.revokedSerials = revoked
      next.isBegun = true
    }
    if found.isEmpty, isToLookUp {
      let isJudged = try next.look(transaction.store, most: Self.serialsAtOnce)
      if isJudged { return Self.done }
      for device in next.found { transaction.announce(.deviceGone(device)) }
    }
    for device in next.found.prefix(Self.devicesAtOnce) {
      try transaction.endHardware(of: device, by: revoked)
    }
    next.found = next.found.dropFirst(Self.devicesAtOnce)
    guard next.found.isEmpty, !next.isToLookUp else { return .goOn(next) }
    // Another list may have come in the meantime, which judges all of them itself.
    if transaction.devices.revokedSerials?.digest == revoked.digest {
      try transaction.note(judged: revoked.digest)
    }
    return Self.done
  }

  package func lookingUp(_ store: RegistryDatabase) throws(CallFailure) -> any RegistryCall {
    var next = self
    _ = try next.look(store, most: .max)
    return next
  }

  /// Reads alone.
  /// - Returns: whether all were judged by this list already.
  private mutating func look(_ store: RegistryDatabase, most: Int) throws(CallFailure) -> Bool {
    let list: ArraySlice<AndroidSerial>
    if let rest {
      list = rest
    } else {
      if try store.value(StoreValue.serials) == revoked.digest.array { return true }
      list = revoked.all()[...]
    }
    for serial in list.prefix(most) {
      for device in try store.devices(of: serial) where isKnown.insert(device).inserted {
        found.append(device)
      }
    }
    rest = list.dropFirst(most)
    return false
  }

  private static let done = Outcome.reply(.answered(Array("{}".utf8)))
}

extension Transaction {
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
    try store.insert(chains.serials, of: device)
  }

  func dropSerials(of device: DeviceID) throws(CallFailure) {
    try store.deleteSerials(of: device)
  }

  /// What vouched for its keys is worth nothing: neither they, nor what was said of the app that has them. Its sessions have
  /// ended, whatever level the door asks for.
  fileprivate mutating func endHardware(
    of id: DeviceID, by revoked: RevokedSerials
  ) throws(CallFailure) {
    guard var device = try store.device(id),
      device.state != .revoked
    else { return }
    let serials = try store.serials(of: id)
    // It may have made new keys since, or have been ended by another list.
    if let serial = serials.first(where: revoked.contains) {
      try dropSerials(of: id)
      device.level = .bare
      device.verification = device.keys.verification(by: nil)
      device.attestedAt = nil
      (device.playAttestedAt, device.playTrust) = (nil, nil)
      device.endTokens()
      try keep(device)
      try record(
        .deviceUnattested, .device(id), .level(device.level), .word("serial", Hex.encode(serial.bytes.span)))
      try withdrawVotes(of: id)
    }
    if device.state == .active { announce(.deviceActive(device.active)) }
  }

  fileprivate func note(judged digest: Bytes32) throws(CallFailure) {
    try store.setValue(StoreValue.serials, digest.array)
  }
}

extension DeviceRecord {
  /// Evidence has come, and is good.
  mutating func note(_ evidence: VerifiedEvidence?, at now: UnixTime) {
    guard let evidence else { return }
    attestedAt = now
    if case .playIntegrity(let trust) = evidence { (playAttestedAt, playTrust) = (now, trust) }
    // An attestation is newer than what the app has said.
    isRooted = false
  }
}

extension StoreValue {
  /// SHA-256 of the list of revoked serials that all devices were judged by.
  static let serials = "revoked_serials"
}
