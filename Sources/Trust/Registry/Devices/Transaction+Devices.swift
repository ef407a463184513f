/// Which device asks, by its token or by its signature; and how a device comes in and goes.
package import Bytes
internal import DeviceTokens
package import DeviceWire
internal import PortcullisProtocol
internal import System

extension Transaction {
  // MARK: Who asks

  /// The device whose token it is. One that waits for its confirmation may read itself, and nothing else.
  package mutating func device(bearer token: String) throws(CallFailure) -> DeviceRecord {
    let claims: DeviceToken
    do throws(TokenRejection) {
      claims = try tokens.read(
        Array(token.utf8).span, issuer: settings.publicURL, audiences: [settings.publicURL], now: now)
    } catch {
      throw .refused(.tokenRejected, "token_\(error.rawValue)")
    }
    guard let device = try holder(of: claims) else { throw .refused(.tokenRejected, "token_ended") }
    note(bearer: device.id)
    knowUnlessPending(device)
    try requireClient(of: device.subject)
    return device
  }

  /// One that nobody has confirmed is a stranger's as far as anybody knows: what it is refused is counted, and has no rows
  /// of its own, of which anybody could have as many as he likes.
  private mutating func knowUnlessPending(_ device: DeviceRecord) {
    if device.state != .pending { know(.device(device.id)) }
  }

  /// As `device(bearer:)`, and it is confirmed.
  package mutating func activeDevice(bearer token: String) throws(CallFailure) -> DeviceRecord {
    let device = try device(bearer: token)
    guard device.state == .active else { throw .refused(.devicePending, "device_pending") }
    return device
  }

  /// Nil when what the token says is over: its device is gone, has other keys, or has lost what vouched for it.
  func holder(of token: DeviceToken) throws(CallFailure) -> DeviceRecord? {
    let found = try store.device(token.device)
    guard let device = found, device.state != .revoked, device.tokenSeries == token.identifier.series,
      KeyThumbprint(device.keys.device.point) == token.deviceKey
    else { return nil }
    return device
  }

  package func device(_ id: DeviceID) throws(CallFailure) -> DeviceRecord {
    let found = try store.device(id)
    guard let found else { throw .refused(.deviceUnknown, "device_unknown") }
    return found
  }

  /// The device that signed: who cannot sign for it does not learn how it stands.
  mutating func device(
    _ id: DeviceID, signing message: DeviceMessage, _ signature: DeviceSignature
  ) throws(CallFailure) -> DeviceRecord {
    let device = try device(id)
    try require(signature, of: message, by: device.keys.device, "device_signature")
    knowUnlessPending(device)
    guard device.state != .revoked else { throw .refused(.deviceRevoked, "device_revoked") }
    try requireClient(of: device.subject)
    return device
  }

  /// - Parameter step: as the log names it.
  package func require(
    _ signature: DeviceSignature?, of message: DeviceMessage, by key: DevicePublicKey, _ step: String
  ) throws(CallFailure) {
    guard let signature, signature.isValid(for: message, by: key, verifier: verifier) else {
      throw .refused(.signatureRejected, step)
    }
  }

  // MARK: What vouches for it

  /// What evidence makes of the device key, or its lack. One App Attest key is one device's.
  package func standing(
    of evidence: VerifiedEvidence?, for device: DeviceID, on platform: DevicePlatform
  ) throws(CallFailure) -> (level: Level, attestedKey: KeyIdentifier?) {
    guard let evidence else { return (.bare, nil) }
    guard evidence.platform == platform else { throw .refused(.badRequest, "evidence_platform") }
    let key: KeyIdentifier
    switch evidence {
    case .playIntegrity: return (.appAttested, nil)
    case .androidKey(let chains):
      try requireUnrevoked(chains)
      return (.hardwareAttested, nil)
    case .appAttest(let identifier): key = identifier
    }
    if devices.endedKeys.contains(key, now: now) {
      throw .refused(.attestationRejected, "attested_key_revoked")
    }
    let holder = try store.holder(of: key)
    guard holder == nil || holder?.id == device else {
      throw .refused(.attestationRejected, "attested_key_of_another_device")
    }
    return (.appAttested, key)
  }

  /// Far more than an app that is installed again and again has in its life.
  package static let keysOfDevice = 1000

  /// From now on another App Attest key is its app's. The one before stays the device's: it vouches for no other, and goes
  /// with it.
  mutating func setAttestedKey(_ key: KeyIdentifier, of device: inout DeviceRecord) throws(CallFailure) {
    let (id, before) = (device.id, device.attestedKey)
    if before == key { return }
    device.attestedKey = key
    try store.delete(former: key)
    guard let before else { return }
    let others = try store.formerKeys(of: id).count
    guard others + 2 <= Self.keysOfDevice else {
      throw .refused(.attestationRejected, "attested_keys_of_device")
    }
    try store.insert(former: before, of: id)
    announce(.formerKey(before, of: id, subject: device.subject))
  }

  /// The app behind a device has not become another one by its place's being taken: its keys are the new device's.
  private mutating func passKeys(of old: inout DeviceRecord, to device: DeviceRecord) throws(CallFailure) {
    let current = old.attestedKey
    old.attestedKey = nil
    let (from, to) = (old.id, device.id)
    try store.passFormerKeys(of: from, to: to)
    if let current { try store.insert(former: current, of: to) }
    for key in try store.formerKeys(of: to) { announce(.formerKey(key, of: to, subject: device.subject)) }
  }

  /// Nor does a phone that is refused become another one by it.
  private func passDoubts(of old: DeviceRecord, to device: inout DeviceRecord) throws(CallFailure) {
    device.attestationFailedAt = [old.attestationFailedAt, device.attestationFailedAt].compactMap { $0 }.max()
    let (from, to) = (old.id, device.id)
    if let record = try store.riskRecord(of: from) { try store.setRiskRecord(record, of: to) }
    // A subject's wrong codes stay the subject's.
    if device.subject == nil { try passWrongCodes(of: .device(from), to: .device(to)) }
  }

  func reachesMinimum(_ level: Level) -> Bool { level >= settings.minimumLevel }

  package func requireMinimum(_ level: Level) throws(CallFailure) {
    guard reachesMinimum(level) else { throw .refused(.levelTooLow, "device_minimum_level") }
  }

  /// Keys are those of one device, each in one role.
  package func requireNewKeys(_ keys: DeviceKeys) throws(CallFailure) {
    for key in [keys.device, keys.approval].compactMap({ $0 }) {
      let isTaken = try store.isKeyTaken(key)
      if isTaken { throw .refused(.keyKnown, "device_key_known") }
    }
  }

  // MARK: Its life

  /// A new device, which waits for its confirmation. Its signatures are the caller's to judge, and storing it as well.
  package func newDevice(
    _ platform: DevicePlatform, keys: DeviceKeys, name: DeviceName?, evidence: VerifiedEvidence?
  ) throws(CallFailure) -> DeviceRecord {
    try requireNewKeys(keys)
    let id = DeviceID(random: entropy)
    let (level, attestedKey) = try standing(of: evidence, for: id, on: platform)
    try requireMinimum(level)
    var device = DeviceRecord(
      id: id, state: .pending, subject: nil, name: name, platform: platform, keys: keys, level: level,
      verification: keys.verification(by: evidence), createdAt: now)
    device.attestedKey = attestedKey
    device.note(evidence, at: now)
    return device
  }

  /// Confirms a device that waits, which is in the store already, and ends the one whose place it takes. It belongs to
  /// `subject`, or to whomever that one belonged to.
  package mutating func activate(
    _ device: inout DeviceRecord, subject: Subject? = nil
  ) throws(CallFailure) {
    guard device.state != .revoked else { throw .refused(.deviceRevoked, "device_revoked") }
    try requireMinimum(device.level)
    if let subject { device.subject = subject }
    if let id = device.replaces,
      var old = try store.device(id),
      old.state == .active
    {
      if device.subject == nil { device.subject = old.subject }
      if device.name == nil { device.name = old.name }
      try passKeys(of: &old, to: device)
      try passDoubts(of: old, to: &device)
      try revoke(&old)
    }
    if let subject = device.subject { try requireRoom(for: subject) }
    device.state = .active
    device.activatedAt = now
    try keep(device)
    announce(.deviceActive(device.active))
    try record(.deviceActivated, device.standing + device.belonging)
  }

  package func requireRoom(for subject: Subject) throws(CallFailure) {
    let others = try store.activeDevices(of: subject)
    guard others.count < settings.devicesPerSubject else {
      throw .refused(.tooManyOpen, "devices_per_subject")
    }
  }

  /// Ends a device with all that it may do; what has its App Attest key comes in no more either.
  package mutating func revoke(_ device: inout DeviceRecord) throws(CallFailure) {
    device.state = .revoked
    device.revokedAt = now
    device.endTokens()
    try keep(device)
    announce(.deviceGone(device.id))
    try record(.deviceRevoked, .device(device.id))
    try withdrawVotes(of: device.id)
    // Whoever waits with its token hears that it is over; for votes that is done.
    announce(.wake(.codes(of: device.id)))
    try announceKeys(of: device)
  }

  /// What has its App Attest key, or one that it had before, comes in no more.
  mutating func announceKeys(of device: DeviceRecord) throws(CallFailure) {
    let former = try store.formerKeys(of: device.id)
    for key in [device.attestedKey].compactMap({ $0 }) + former {
      devices.endedKeys.note(key, now: now)
      announce(.attestedKeyRevoked(key))
    }
  }

  package func keep(_ device: DeviceRecord) throws(CallFailure) {
    try store.update(device)
  }

  /// The door is told how it stands, where that is anything to the door.
  mutating func announceStanding(of device: DeviceRecord) {
    if let standing = device.announced { announce(standing) }
  }

  /// Nobody has confirmed it, or it waits under another name.
  mutating func delete(pending device: DeviceRecord) throws(CallFailure) {
    try store.delete(device.id)
    announce(.deviceExpired(device.id))
  }

  // MARK: Tokens

  package func token(
    for device: DeviceRecord, audience: Audience = .gate
  ) throws(CallFailure) -> IssuedToken {
    try tokens.issue(
      for: device, audience: audience, issuer: settings.publicURL, now: now, entropy: entropy)
  }
}

extension DeviceRecord {
  /// All of them, to the last.
  package mutating func endTokens() { tokenSeries &+= 1 }

  /// How it stands, for the audit.
  var standing: [AuditEntry.Member] {
    [.device(id), .level(level), .verification(verification), .key(keys.device.hash)]
      + (attestedKey.map { [.attestedKey($0)] } ?? [])
  }

  /// Whose it is, and in whose place, for the audit.
  var belonging: [AuditEntry.Member] {
    (subject.map { [.subject($0)] } ?? []) + (replaces.map { [.replaced($0)] } ?? [])
  }

  /// What the door has to know.
  package var active: ActiveDevice {
    ActiveDevice(
      id: id, key: keys.device.point, level: level, attestedKey: attestedKey, subject: subject)
  }

  /// What the door is told of it as it stands; nil where that is nothing to the door.
  var announced: RegistryEffect? {
    switch state {
    case .active: .deviceActive(active)
    case .pending: attestedKey == nil ? nil : .deviceWaits(active)
    case .revoked: nil
    }
  }
}

extension DeviceKeys {
  /// Without an approval key nobody is asked; with one it is the app that has made it so, unless the key's own
  /// attestation says it.
  package func verification(by evidence: VerifiedEvidence?) -> UserVerification {
    guard approval != nil else { return .none }
    if case .androidKey(let chains) = evidence, chains.attestsApprovalKey { return .hardware }
    return .app
  }
}
