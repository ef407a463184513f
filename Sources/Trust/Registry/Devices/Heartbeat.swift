/// `POST /device/heartbeat`: a phone says how it stands, and hears what is expected of it.
internal import ApprovalPolicy
package import Bytes
package import DeviceWire
internal import JSON
internal import PortcullisProtocol
internal import System

package struct HeartbeatForm: Equatable, Sendable {
  package let appVersion: String?
  package let patchLevel: String?
  package let isRooted: Bool?
  /// Both or neither.
  package let proof: Proof?
  /// Members that nothing is made of.
  package let strangers: [String]

  private static let names = [
    "device_id", "app_version", "os_patch_level", "last_attest_at", "rooted", "nonce", "signature",
  ]

  package struct Proof: Equatable, Sendable {
    package let nonce: Bytes32
    package let signature: DeviceSignature
  }

  package init(_ form: Form) throws(FormError) {
    appVersion = try form.optionalText("app_version") { AppVersion($0)?.description }
    patchLevel = try form.optionalText("os_patch_level") {
      (1...32).contains($0.utf8.count) && ShownText.isClean($0) ? $0 : nil
    }
    // When it has attested, the gate knows better.
    _ = try form.optional("last_attest_at") { $0.integer }
    strangers = form.object.members.map(\.name).filter { !Self.names.contains($0) }
    isRooted = try form.optional("rooted") { $0.boolean }
    let nonce = try form.optionalHex("nonce")
    let signature = try form.optionalSignature("signature")
    switch (nonce, signature) {
    case (let nonce?, let signature?): proof = Proof(nonce: nonce, signature: signature)
    case (nil, nil): proof = nil
    case (nil, _?), (_?, nil): throw FormError("signature")
    }
  }
}

package struct Heartbeat: RegistryCall {
  private let token: String
  private let form: HeartbeatForm
  private let nonce: SpentNonce?

  /// - Parameter nonce: that of the form's proof, where it has one.
  package init(bearer token: String, _ form: HeartbeatForm, nonce: SpentNonce?) {
    self.token = token
    self.form = form
    self.nonce = nonce
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var device = try transaction.activeDevice(bearer: token)
    if let proof = form.proof {
      guard let nonce else { throw .refused(.nonceInvalid, "heartbeat_nonce") }
      let message = DeviceMessage.deviceAuth(
        server: transaction.server, device: device.id, nonce: nonce.bytes, for: .heartbeat)
      try transaction.require(proof.signature, of: message, by: device.keys.device, "heartbeat_signature")
      let changes = changes(to: device)
      if !changes.isEmpty, !transaction.devices.reports.isFull(device.id, now: transaction.now) {
        transaction.devices.reports.note(device.id, now: transaction.now)
        try transaction.record(.deviceReported, changes)
      }
      take(&device)
      device.seenAt = transaction.now
      try transaction.keep(device)
    }
    transaction.noteStrangers(form.strangers, in: .heartbeat, of: device.id)
    return .reply(answer(device, transaction))
  }

  /// A token alone changes nothing, as it may be stolen. That it is not rooted makes nobody trust a device more: it only
  /// takes back what the same key has said.
  private func take(_ device: inout DeviceRecord) {
    if let version = form.appVersion { device.appVersion = version }
    if let level = form.patchLevel { device.patchLevel = level }
    if let isRooted = form.isRooted { device.isRooted = isRooted }
  }

  /// What the audit has of it: most heartbeats say what the last one said.
  private func changes(to device: DeviceRecord) -> [AuditEntry.Member] {
    var changes: [AuditEntry.Member] = []
    if let version = form.appVersion, version != device.appVersion {
      changes.append(.word("app_version", version))
    }
    if let level = form.patchLevel, level != device.patchLevel {
      // The audit keeps no text of a phone's choice.
      changes.append(.word("os_patch_level", Signals.isPatchLevel(level) ? level : "changed"))
    }
    if let isRooted = form.isRooted, isRooted != device.isRooted {
      changes.append(.word("rooted", isRooted ? "true" : "false"))
    }
    return changes
  }

  /// What keeps the phone from codes until something else becomes of it.
  private func lacks(of device: DeviceRecord, _ expected: AssuranceClass, _ transaction: Transaction)
    -> [String]
  {
    let lacks = device.lacks(for: expected, at: transaction.now)
    return transaction.reachesMinimum(device.level) || lacks.contains("level") ? lacks : ["level"] + lacks
  }

  /// What it can mend when it asks for a code: attest anew, come near.
  private func remediable(of device: DeviceRecord, _ expected: AssuranceClass, _ transaction: Transaction)
    -> [String]
  {
    (transaction.hasFreshAttestation(device, expected) ? [] : ["attestation"])
      + (transaction.isNearEnough(device, expected) ? [] : ["presence"])
  }

  private func answer(_ device: DeviceRecord, _ transaction: Transaction) -> Reply {
    let expected = transaction.settings.assurance.assurance(of: device.subject?.name)
    var policy = DeviceAnswer()
    policy.put("reattest_after_s", Int64(expected.reattestAfter))
    policy.put(
      "require_presence", expected.needsPresence && !device.isExcepted(from: .presence, at: transaction.now))
    policy.put("min_app_version", expected.minAppVersion?.description)
    let lacks = lacks(of: device, expected, transaction)
    policy.put("otp_allowed", lacks.isEmpty)
    let soon = lacks + remediable(of: device, expected, transaction)
    if !soon.isEmpty { policy.put("otp_lacks", soon) }
    policy.put("next_heartbeat_s", Int64(expected.nextHeartbeat))
    var answer = DeviceAnswer()
    answer.put("policy", raw: policy.bytes())
    answer.putPins(transaction.settings.pins)
    return answer.reply()
  }
}
