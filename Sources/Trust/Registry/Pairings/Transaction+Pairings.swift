/// What the calls on pairings have in common: whose they are, and how one ends.
internal import DeviceWire
internal import JSON
internal import PortcullisProtocol
internal import System
internal import Time

/// Who shows the code and confirms the digits.
package enum PairingOwner: Sendable {
  /// By its token.
  case service(String)
  /// An operator, by whichever way the kernel knows him.
  case host
}

extension Transaction {
  /// As it stands; one whose time is over has ended.
  mutating func pairing(_ id: PairingID) throws(CallFailure) -> PairingRecord? {
    guard let pairing = try store.pairing(id) else {
      return nil
    }
    if pairing.state.isOpen, pairing.expiresAt <= now { return try end(pairing, .pairingExpired) }
    return pairing
  }

  /// Only the owner's; another's is as unknown as one that was never there. An operator owns all.
  mutating func pairing(_ id: PairingID, of owner: PairingOwner) throws(CallFailure) -> PairingRecord {
    var service: ServiceID?
    if case .service(let token) = owner { service = try self.service(bearer: token, scope: .pairings).id }
    guard let pairing = try pairing(id), service == nil || service == pairing.service else {
      throw .refused(.notFound, "pairing_unknown")
    }
    return pairing
  }

  /// Nobody gets further with it, and the phone that had answered is forgotten.
  /// - Parameter event: why.
  @discardableResult
  mutating func end(
    _ pairing: PairingRecord, _ event: AuditEntry.Event
  ) throws(CallFailure) -> PairingRecord {
    var ended = pairing
    ended.state = .refused
    ended.secret = nil
    ended.endedAt = now
    let update = ended
    if let id = pairing.answer?.device,
      let device = try store.device(id),
      device.state == .pending
    {
      try delete(pending: device)
    }
    try store.update(update)
    if event == .pairingExpired {
      try recordOverdue(event, [.pairing(pairing.id)])
    } else {
      try record(event, .pairing(pairing.id))
    }
    announce(.wake(.pairing(pairing.id)))
    return ended
  }

  /// Of a service that is no more.
  mutating func endPairings(of service: ServiceID) throws(CallFailure) {
    let open = try store.openPairings(
      of: service, endingBy: UnixTime(milliseconds: .max), limit: PairingRecord.openLimit)
    for pairing in open { try end(pairing, .pairingCancelled) }
  }
}

extension Transaction {
  /// Rows have names of theirs; an open one ends, and its phone with it.
  mutating func forgetPairings(devices: [DeviceID], subjects: [Subject]) throws(CallFailure) {
    var pairings: [PairingRecord] = []
    for device in devices { pairings += try store.pairings(of: device) }
    for subject in subjects { pairings += try store.pairings(of: subject) }
    for pairing in pairings {
      if pairing.state.isOpen { try end(pairing, .pairingCancelled) }
      try store.delete(pairing.id)
    }
  }
}

extension AuditEntry.Event {
  static let pairingOpened = Self("pairing_opened")
  /// A phone has answered that knows the secret.
  static let pairingAnswered = Self("pairing_answered")
  static let pairingConfirmed = Self("pairing_confirmed")
  /// Too many wrong MACs, or wrong digits.
  static let pairingBurnt = Self("pairing_burnt")
  /// By whoever has opened it, or with his service.
  static let pairingCancelled = Self("pairing_cancelled")
  static let pairingExpired = Self("pairing_expired")
}

extension PairingRecord {
  /// What whoever shows the code is told; the digits are not among it, as he is to read them from the phone.
  func write(to writer: inout JSONWriter, device: DeviceRecord?) {
    writer.beginObject()
    writer.name("pairing_id")
    writer.value(id.text)
    writer.name("status")
    writer.value(state.word)
    if let device {
      writer.name("device_id")
      writer.value(device.id.text)
      if let name = device.name {
        writer.name("device_name")
        writer.value(name.text)
      }
      writer.name("platform")
      writer.value(device.platform.rawValue)
      writer.name("level")
      writer.value(device.level.rawValue)
      writer.name("uv")
      writer.value(device.verification.rawValue)
    }
    writer.name("expires_at")
    writer.value(expiresAt.seconds)
    writer.endObject()
  }
}

extension Transaction {
  func status(of pairing: PairingRecord) throws(CallFailure) -> Reply {
    var device: DeviceRecord?
    if let id = pairing.answer?.device, pairing.state != .refused {
      device = try store.device(id)
    }
    var writer = JSONWriter()
    pairing.write(to: &writer, device: device)
    return .answered(writer.bytes)
  }
}
