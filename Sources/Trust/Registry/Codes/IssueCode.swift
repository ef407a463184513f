/// A phone asks for the code of a login, and signs for it: `POST /auth/otp/issue`.
internal import ApprovalPolicy
package import Bytes
package import DeviceWire
internal import JSON
internal import PortcullisProtocol
internal import Time

package struct IssueCodeForm: Equatable, Sendable {
  package let device: DeviceID
  package let challenge: CodeChallengeID
  package let nonce: Bytes32
  package let signedAt: UnixSeconds
  package let signals: Signals
  package let signature: DeviceSignature

  package init(_ form: Form) throws(FormError) {
    device = try form.identifier("device_id")
    challenge = try form.identifier("challenge_id")
    nonce = try form.hex("nonce")
    signedAt = try form.required("signed_at") { $0.integer.flatMap { UnixSeconds($0) } }
    signals = try form.text("signals") { Signals(base64: $0) }
    signature = try form.signature("signature")
  }
}

package struct IssueCode: RegistryCall {
  private let token: String
  private let form: IssueCodeForm
  /// Where the form's nonce was asked for by itself.
  private let nonce: SpentNonce?

  /// - Parameter nonce: the form's, if it was a challenge for a code that was given out to whoever asked; the list of open
  ///   logins has others.
  package init(bearer token: String, _ form: IssueCodeForm, nonce: SpentNonce?) {
    self.token = token
    self.form = form
    self.nonce = nonce
  }

  /// In this order: whether the login is open to this phone; the signature; then what the phone has to be. Who cannot sign
  /// for it learns nothing of that.
  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let device = try transaction.activeDevice(bearer: token)
    guard device.id == form.device else { throw .refused(.tokenRejected, "code_device") }
    var challenge = try challenge(shownTo: device, &transaction)
    try requireSignature(of: device, transaction)
    try transaction.requireUnlocked(challenge.holder)
    try requireTrust(in: device, transaction)
    transaction.noteStrangers(form.signals.strangers, in: .signals, of: device.id)
    let doubts = try transaction.doubts(about: device, form.signals)
    if let refusal = doubts.refusal {
      // Returned, so that it is on record why; unless it is of those that are counted, as every other refusal.
      if transaction.devices.refusals.judge(refusal.code, to: .device(device.id), at: transaction.now) == nil
      {
        let why: [AuditEntry.Member] = [.code(refusal.code), .step(refusal.step)]
        try transaction.record(.refused, why + challenge.audited(by: device.id) + doubts.report.audited)
      }
      return .reply(.refused(refusal))
    }

    let code = OneTimeCode(random: transaction.entropy)
    let mac = try transaction.codeAuthenticator().mac(
      of: code, for: challenge.id, by: device.id, key: device.keys.device)
    let life = min(transaction.settings.codeLife, CodeLimits.longestLife)
    // Never longer than the login that it is for.
    let live = LiveCode(
      device: device.id, mac: mac, expiresAt: min(transaction.now.adding(life), challenge.expiresAt))
    challenge.code = live
    let changed = challenge
    let next = Bytes32.random(transaction.entropy)
    try transaction.store.update(changed)
    // What was signed is good once.
    try transaction.store.setNonce(next, of: changed.id, for: device.id)
    try transaction.remember(doubts)
    try transaction.record(.codeIssued, challenge.audited(by: device.id) + doubts.report.audited)
    var answer = DeviceAnswer()
    answer.put("otp_code", code.text)
    answer.put("expires_at", live.expiresAt)
    return .reply(answer.reply())
  }

  /// The login, if it was put to the device and is its subject's still.
  private func challenge(
    shownTo device: DeviceRecord, _ transaction: inout Transaction
  ) throws(CallFailure) -> CodeChallenge {
    let isPut = try transaction.store.isPut(form.challenge, to: device.id)
    guard isPut, let found = try transaction.codeChallenge(form.challenge),
      found.holder == CodeHolder(of: device)
    else { throw .refused(.notFound, "code_challenge") }
    // A subject that is locked has no open logins, which is why.
    if found.state == .cancelled { try transaction.requireUnlocked(found.holder) }
    guard found.state == .open else { throw .refused(.notPending, "code_challenge_state") }
    // Taken from the device again, as what vouched for it had ended: a nonce of the gate's own does not bring it back.
    let nonce = try transaction.store.nonce(of: form.challenge, for: device.id)
    guard nonce != nil else { throw .refused(.notFound, "code_challenge") }
    return found
  }

  private func requireSignature(of device: DeviceRecord, _ transaction: Transaction) throws(CallFailure) {
    try transaction.requireTimely(form.signedAt, "code_signed_at")
    if nonce?.bytes != form.nonce {
      let own = try transaction.store.nonce(of: form.challenge, for: device.id)
      guard own == form.nonce else { throw .refused(.nonceInvalid, "code_nonce") }
    }
    let message = DeviceMessage.otpIssue(
      server: transaction.server, device: device.id, challenge: form.challenge, nonce: form.nonce,
      signedAt: form.signedAt, signalsHash: form.signals.hash)
    try transaction.require(form.signature, of: message, by: device.keys.device, "code_signature")
  }

  /// Whether the phone is what it has to be now.
  private func requireTrust(in device: DeviceRecord, _ transaction: Transaction) throws(CallFailure) {
    let expected = transaction.settings.assurance.assurance(of: device.subject?.name)
    guard transaction.hasFreshAttestation(device, expected) else {
      throw .refused(.attestationStale, "code_attestation")
    }
    try transaction.requireMinimum(device.level)
    guard device.meets(expected, at: transaction.now) else { throw .refused(.levelTooLow, "code_level") }
    guard transaction.isNearEnough(device, expected) else {
      throw .refused(.presenceRequired, "code_presence")
    }
  }
}

extension Transaction {
  /// Whether its last attestation is new enough for a code.
  func hasFreshAttestation(_ device: DeviceRecord, _ expected: AssuranceClass) -> Bool {
    let age = expected.otpAttestMaxAge.map { Duration.seconds($0) } ?? settings.codeAttestationMaximumAge
    return device.hasAttested(within: age, of: now) || device.isExcepted(from: .attestation, at: now)
  }

  /// Whether it is where its class wants it to be for a code.
  func isNearEnough(_ device: DeviceRecord, _ expected: AssuranceClass) -> Bool {
    !expected.needsPresence || isNear(device) || device.isExcepted(from: .presence, at: now)
  }
}

extension DeviceRecord {
  /// What has lost its attestation, or never had one, has none that is new.
  fileprivate func hasAttested(within age: Duration, of now: UnixTime) -> Bool {
    guard level > .bare, let attestedAt else { return false }
    return attestedAt.adding(age) >= now
  }
}
