/// What a person has typed at a login: `POST /auth/otp/verify`.
internal import Bytes
internal import DeviceWire
internal import PortcullisProtocol
internal import System

package struct VerifyCode: RegistryCall {
  private let token: String
  private let challenge: CodeChallengeID
  private let login: Bytes32
  /// Nil for what is no code: a try like any other.
  private let code: OneTimeCode?

  /// Somebody waits at a prompt.
  package var urgency: Urgency { .vote }

  package init(bearer token: String, form: Form) throws(FormError) {
    self.token = token
    challenge = try form.identifier("challenge_id")
    login = try form.login()
    code = OneTimeCode(typed: try form.text("otp_code") { $0 })
  }

  /// One answer for all that is not good, and one change for all that follows: a code that was good for somebody is good
  /// for nobody else, and a try is counted before anybody is told that it was wrong.
  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let service = try transaction.service(bearer: token, scope: .codes)
    guard var found = try transaction.codeChallenge(challenge), found.service == service.id else {
      throw .refused(.notFound, "code_challenge")
    }
    guard let (live, device) = try live(of: found, transaction) else {
      // Also a code that has passed already, and what has ended by the way stays ended.
      return .reply(.refused(RegistryRefusal(.codeRejected, "code_none")))
    }
    guard try isRight(live, device, found, transaction) else {
      return .reply(.refused(try transaction.countWrongCode(on: &found, live)))
    }
    try transaction.end(&found, as: .passed)
    let holder = found.holder
    try transaction.store.setWrongCodes(WrongCodes(), of: holder)
    try transaction.record(.codePassed, [.level(device.level)] + found.audited(by: device.id))
    var answer = DeviceAnswer()
    answer.put("result", "pass")
    answer.put("device_id", device.id.text)
    answer.put("level", device.level.rawValue)
    return .reply(answer.reply())
  }

  /// The code that is good now, with its device, which is still one of the holder's.
  private func live(
    of challenge: CodeChallenge, _ transaction: Transaction
  ) throws(CallFailure) -> (LiveCode, DeviceRecord)? {
    guard challenge.state == .open, let live = challenge.code else { return nil }
    let device = try transaction.store.device(live.device)
    guard let device, device.state == .active, CodeHolder(of: device) == challenge.holder else { return nil }
    return (live, device)
  }

  /// In time that does not depend on where they differ, nor on which of the two is wrong.
  private func isRight(
    _ live: LiveCode, _ device: DeviceRecord, _ challenge: CodeChallenge, _ transaction: Transaction
  ) throws(CallFailure) -> Bool {
    guard let code else { return false }
    let mac = try transaction.codeAuthenticator().mac(
      of: code, for: challenge.id, by: device.id, key: device.keys.device)
    let (isCode, isLogin) = (
      mac.equalsInConstantTime(live.mac), login.equalsInConstantTime(challenge.login)
    )
    return isCode && isLogin
  }
}

extension Transaction {
  /// The refusal is an answer and not a failure, so that the try stays counted.
  fileprivate mutating func countWrongCode(
    on challenge: inout CodeChallenge, _ live: LiveCode
  ) throws(CallFailure) -> RegistryRefusal {
    var code = live
    code.wrong += 1
    challenge.code = code.wrong >= CodeLimits.triesOfCode ? nil : code
    var wrong = try wrongCodes(of: challenge.holder)
    wrong.count += 1
    if wrong.count >= CodeLimits.triesOfHolder { wrong.lockedAt = now }
    let (changed, count) = (challenge, wrong)
    try store.update(changed)
    try store.setWrongCodes(count, of: changed.holder)
    try record(.codeWrong, challenge.audited + [.count(code.wrong)])
    if wrong.lockedAt != nil {
      try endCodes(of: challenge.holder)
      try record(.subjectLocked, challenge.holder.audited + [.count(wrong.count)])
    }
    return RegistryRefusal(.codeRejected, "code_wrong")
  }
}
