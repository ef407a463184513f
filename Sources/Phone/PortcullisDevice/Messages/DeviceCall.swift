/// What a phone sends: requests as values, made of what it knows, without a connection and without a key (docs/devices.md).
package import PortcullisProtocol

package struct DeviceCall: Equatable, Sendable {
  package let method: String
  /// With its query.
  package let path: String
  /// JSON; nil: none.
  package let body: [UInt8]?
  /// Whether the device's token goes with it.
  package let needsToken: Bool
  /// How many seconds the gate is asked to wait for something to say.
  package let wait: Int

  private init(get path: String, needsToken: Bool = false, wait: Int = 0) {
    method = "GET"
    self.path = path
    body = nil
    self.needsToken = needsToken
    self.wait = wait
  }

  private init(post path: String, _ form: JSONForm, needsToken: Bool = false) {
    method = "POST"
    self.path = path
    body = form.bytes
    self.needsToken = needsToken
    wait = 0
  }

  /// The longest that a gate waits.
  package static let longestWait = 25
  /// How long an answer may take beyond that, in seconds.
  package static let patience = 15.0
}

/// What a challenge is asked for: one that was given for something else is refused.
package enum ChallengePurpose: String, Sendable {
  case enroll, attest, rotate, device
}

/// Signatures of one message, by the keys that made them; DER.
package struct Signatures: Equatable, Sendable {
  package var device: [UInt8]?
  package var approval: [UInt8]?
  package var newDevice: [UInt8]?
  package var newApproval: [UInt8]?

  package init() {}
}

extension JSONForm {
  fileprivate mutating func add(_ name: String, bytes: [UInt8]?) { add(name, bytes.map(ByteText.base64URL)) }

  fileprivate mutating func add(_ points: DevicePoints) {
    add("device_pubkey", bytes: points.device)
    add("approval_pubkey", bytes: points.approval)
  }
}

extension DeviceCall {
  package static func challenge(for purpose: ChallengePurpose) -> Self {
    Self(get: "\(EndpointPath.challenge)?purpose=\(purpose.rawValue)")
  }

  // MARK: Belonging to a gate

  /// What the phone says of itself. Sent again when its answer is lost, it gets the same one.
  package static func offer(
    _ pairing: PairingID, _ points: DevicePoints, platform: DevicePlatform, name: DeviceName,
    commit: Octets32,
    mac: Octets32, _ signatures: Signatures, evidence: DeviceEvidence?, nonce: Octets32?
  ) -> Self {
    var form = JSONForm()
    form.add(points)
    form.add("platform", platform.rawValue)
    form.add("device_name", name.text)
    form.add("commit", commit.hex)
    form.add("mac", mac.hex)
    form.add("signature", bytes: signatures.device)
    form.add("approval_signature", bytes: signatures.approval)
    form.add("evidence", evidence?.form(nonce: nonce))
    return Self(post: "/pair/\(pairing.text)", form)
  }

  /// Also asked again and again, until the operator has decided.
  package static func reveal(_ pairing: PairingID, _ secretPart: Octets32) -> Self {
    Self(get: "/pair/\(pairing.text)?reveal=\(secretPart.hex)&wait=\(longestWait)", wait: longestWait)
  }

  package static func enroll(
    _ points: DevicePoints, platform: DevicePlatform, name: DeviceName?, nonce: Octets32,
    _ signatures: Signatures, evidence: DeviceEvidence?
  ) -> Self {
    var form = JSONForm()
    form.add("platform", platform.rawValue)
    form.add(points)
    form.add("nonce", nonce.hex)
    form.add("signature", bytes: signatures.device)
    form.add("approval_signature", bytes: signatures.approval)
    form.add("device_name", name?.text)
    form.add("evidence", evidence?.form())
    return Self(post: "/device/enroll", form)
  }

  package static func attest(
    _ device: DeviceID, nonce: Octets32, _ signatures: Signatures, _ evidence: DeviceEvidence?
  ) -> Self {
    var form = evidence?.form() ?? JSONForm()
    form.add("device_id", device.text)
    form.add("nonce", nonce.hex)
    form.add("signature", bytes: signatures.device)
    return Self(post: "/mobile/attest", form)
  }

  package static func rotate(
    _ device: DeviceID, to points: DevicePoints, nonce: Octets32, _ signatures: Signatures,
    evidence: DeviceEvidence?
  ) -> Self {
    var form = JSONForm()
    form.add("device_id", device.text)
    form.add(points)
    form.add("nonce", nonce.hex)
    form.add("signature", bytes: signatures.device)
    form.add("new_signature", bytes: signatures.newDevice)
    form.add("new_approval_signature", bytes: signatures.newApproval)
    form.add("evidence", evidence?.form())
    return Self(post: "/device/rotate", form)
  }

  // MARK: Day by day

  package static func token(
    _ device: DeviceID, nonce: Octets32, signature: [UInt8]?, audience: Audience
  ) -> Self {
    var form = JSONForm()
    form.add("device_id", device.text)
    form.add("nonce", nonce.hex)
    form.add("signature", bytes: signature)
    form.add("audience", audience.isGate ? nil : audience.text)
    return Self(post: "/device/token", form)
  }

  package static var itself: Self { Self(get: "/device/self", needsToken: true) }

  /// - Parameters:
  ///   - nonce: signed as well; only so the gate believes that a phone is rooted, or is not any more.
  ///   - signature: of a `device-auth` message with that nonce.
  package static func heartbeat(_ report: DeviceReport, nonce: Octets32?, signature: [UInt8]?) -> Self {
    var form = JSONForm()
    form.add("app_version", report.appVersion)
    form.add("rooted", report.rooted)
    form.add("nonce", nonce?.hex)
    form.add("signature", bytes: signature)
    return Self(post: "/device/heartbeat", form, needsToken: true)
  }

  /// - Parameter cursor: of the answer before: what has come since then, for which the gate is to wait.
  package static func approvals(after cursor: String? = nil) -> Self { list("/approvals", after: cursor) }

  /// - Parameter cursor: of the answer before: what has come since then, for which the gate is to wait.
  package static func logins(after cursor: String? = nil) -> Self { list("/auth/otp", after: cursor) }

  private static func list(_ path: String, after cursor: String?) -> Self {
    guard let cursor else { return Self(get: path, needsToken: true) }
    return Self(get: "\(path)?after=\(cursor)&wait=\(longestWait)", needsToken: true, wait: longestWait)
  }

  package static func vote(
    _ vote: Vote, on approval: ApprovalID, by device: DeviceID, issuedAt: UnixSeconds, signature: [UInt8]
  ) -> Self {
    var form = JSONForm()
    form.add("device_id", device.text)
    form.add("decision", vote.decision.rawValue)
    form.add("match_code", vote.matchCode.isNone ? nil : vote.matchCode.text)
    form.add("issued_at", issuedAt.value)
    form.add("signature", bytes: signature)
    return Self(post: "/approvals/\(approval.text)/decision", form, needsToken: true)
  }

  package static func code(
    _ login: CodeChallengeID, nonce: Octets32, by device: DeviceID, signals: PhoneSignals,
    signedAt: UnixSeconds,
    signature: [UInt8]
  ) -> Self {
    var form = JSONForm()
    form.add("device_id", device.text)
    form.add("challenge_id", login.text)
    form.add("nonce", nonce.hex)
    form.add("signed_at", signedAt.value)
    form.add("signals", bytes: signals.bytes)
    form.add("signature", bytes: signature)
    return Self(post: "/auth/otp/issue", form, needsToken: true)
  }
}
