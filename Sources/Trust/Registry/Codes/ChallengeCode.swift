/// A service asks for a code at a login: `POST /auth/otp/challenge`.
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import PortcullisProtocol
internal import System

package struct ChallengeCode: RegistryCall {
  private enum Whom: Sendable {
    case subject(Subject)
    case device(DeviceID)
  }

  private let token: String
  private let whom: Whom
  private let login: Bytes32
  private let text: String

  package init(bearer token: String, form: Form) throws(FormError) {
    self.token = token
    let subject = try form.optionalText("subject") { Subject($0) }
    let device: DeviceID? = try form.optionalIdentifier("device_id")
    switch (subject, device) {
    case (let subject?, nil): whom = .subject(subject)
    case (nil, let device?): whom = .device(device)
    case (nil, nil), (_?, _?): throw FormError("subject")
    }
    login = try form.login()
    text = try form.text("text") {
      CodeLimits.text.contains($0.utf8.count) && ShownText.isClean($0) ? $0 : nil
    }
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let service = try transaction.service(bearer: token, scope: .codes)
    let (holder, devices) = try devices(service, transaction)
    try transaction.requireUnlocked(holder)
    try transaction.endOverdueCodes(at: transaction.now)
    let open = try transaction.store.countOpenChallenges(of: holder)
    guard open < CodeLimits.openOfHolder else { throw .refused(.tooManyOpen, "code_challenges_open") }
    guard !devices.isEmpty else { throw .refused(.noDevice, "code_devices") }
    try transaction.leave(text.utf8.count, by: service.id)
    let challenge = CodeChallenge(
      id: CodeChallengeID(random: transaction.entropy), service: service.id, holder: holder, login: login,
      text: text, createdAt: transaction.now, expiresAt: transaction.now.adding(CodeLimits.challengeLife))
    let nonces = devices.map { ($0.id, Bytes32.random(transaction.entropy)) }
    try transaction.store.insert(challenge, nonces: nonces)
    try transaction.record(.codeAsked, challenge.audited)
    for device in devices {
      transaction.announce(.codeWanted(device.id, attestedBy: device.attestedKey))
      transaction.announce(.wake(.codes(of: device.id)))
    }
    transaction.remind(at: challenge.expiresAt)
    var answer = DeviceAnswer()
    answer.put("challenge_id", challenge.id.text)
    answer.put("expires_at", challenge.expiresAt)
    return .reply(answer.reply())
  }

  /// Whose login it is, and the phones that may answer.
  private func devices(
    _ service: ServiceRecord, _ transaction: Transaction
  ) throws(CallFailure) -> (CodeHolder, [DeviceRecord]) {
    switch whom {
    case .subject(let subject):
      guard service.mayName(subject) else { throw .refused(.scopeMissing, "service_subject") }
      let devices = try transaction.store.activeDevices(of: subject)
      return (.subject(subject), devices)
    case .device(let id):
      let found = try transaction.store.device(id)
      // Another's is not there.
      guard let device = found, device.subject.map(service.mayName) ?? true else {
        throw .refused(.notFound, "code_device")
      }
      return (CodeHolder(of: device), device.state == .active ? [device] : [])
    }
  }
}

extension Form {
  /// The service's own name for a login, of which the gate keeps a hash.
  func login() throws(FormError) -> Bytes32 {
    SHA256.hash(Array(try text("login_id", ApprovalRequest.name).utf8).span)
  }
}
