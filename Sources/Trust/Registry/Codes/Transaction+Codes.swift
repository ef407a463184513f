/// How logins that wait for a code are found, and how they end.
internal import Bytes
internal import DeviceWire
internal import PortcullisProtocol
internal import Time

extension Transaction {
  // MARK: Looking

  /// As it stands; one whose time is over has ended, and so has a code.
  mutating func codeChallenge(_ id: CodeChallengeID) throws(CallFailure) -> CodeChallenge? {
    let found = try store.codeChallenge(id)
    guard var found else { return nil }
    if found.state == .open, found.expiresAt <= now { try end(&found, as: .expired) }
    if let code = found.code, code.expiresAt <= now { found.code = nil }
    return found
  }

  func wrongCodes(of holder: CodeHolder) throws(CallFailure) -> WrongCodes {
    try store.wrongCodes(of: holder)
  }

  func requireUnlocked(_ holder: CodeHolder) throws(CallFailure) {
    guard try wrongCodes(of: holder).lockedAt == nil else { throw .refused(.subjectLocked, "code_locked") }
  }

  /// Made at the first use, and kept with the store: a code is good across a restart.
  func codeAuthenticator() throws(CallFailure) -> CodeAuthenticator {
    if let bytes = try store.value(StoreValue.secret) {
      guard let secret = Bytes32(bytes) else {
        throw .store(.broken("the secret is not written in its form"))
      }
      return CodeAuthenticator(secret: secret)
    }
    let fresh = Bytes32.random(entropy)
    try store.setValue(StoreValue.secret, fresh.array)
    return CodeAuthenticator(secret: fresh)
  }

  // MARK: Ending

  mutating func end(
    _ challenge: inout CodeChallenge, as state: CodeChallenge.State
  ) throws(CallFailure) {
    challenge.state = state
    challenge.endedAt = state == .expired ? min(challenge.expiresAt, now) : now
    challenge.code = nil
    let ended = challenge
    try store.update(ended)
    let row = ended.audited + [.word("state", state.word)]
    switch state {
    // A pass has a row of its own.
    case .passed: break
    case .expired: try recordOverdue(.codeEnded, row)
    case .open, .cancelled: try record(.codeEnded, row)
    }
  }

  /// Some at a time, as there may be many.
  /// - Returns: how many.
  @discardableResult
  mutating func endOverdueCodes(at time: UnixTime, limit: Int = 16) throws(CallFailure) -> Int {
    let overdue = try store.overdueChallenges(at: time, limit: limit)
    try endCodes(overdue, as: .expired)
    return overdue.count
  }

  /// The service is revoked.
  mutating func endCodes(of service: ServiceID) throws(CallFailure) {
    try endCodes(
      try store.openChallenges(of: service), as: .cancelled)
  }

  /// The holder is locked.
  mutating func endCodes(of holder: CodeHolder) throws(CallFailure) {
    try endCodes(
      try store.openChallenges(of: holder), as: .cancelled)
  }

  private mutating func endCodes(
    _ challenges: [CodeChallengeID], as state: CodeChallenge.State
  ) throws(CallFailure) {
    for id in challenges {
      let found = try store.codeChallenge(id)
      guard var found, found.state == .open else { continue }
      try end(&found, as: state)
    }
  }

  /// To one that has none yet.
  func passWrongCodes(of old: CodeHolder, to holder: CodeHolder) throws(CallFailure) {
    try store.setWrongCodes(try store.wrongCodes(of: old), of: holder)
    try store.setWrongCodes(WrongCodes(), of: old)
  }

  /// With what was counted.
  mutating func forgetCodes(of holder: CodeHolder) throws(CallFailure) {
    try store.deleteChallenges(of: holder)
    if case .device(let device) = holder { try store.forgetChallenges(putTo: device) }
    try store.setWrongCodes(WrongCodes(), of: holder)
  }
}

extension StoreValue {
  /// What one-time codes are kept under. It is in the same file as they are (`CodeAuthenticator`).
  static let secret = "secret"
}
