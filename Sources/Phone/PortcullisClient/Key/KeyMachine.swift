/// Decides what an app does with its App Attest key, and with each of Apple's errors: a pure state machine. What happened and
/// the wall clock go in, the next step comes out.
///
/// The owner asks `next` for a step, does it, tells the outcome, and asks again, until the step is `assert` and has given an
/// assertion, or is one that ends the attempt. It saves the record whenever `takeRecord` returns one, before it does the step.
internal import PortcullisProtocol

package struct KeyMachine: Sendable {
  /// What is to be done next.
  package enum Step: Equatable, Sendable {
    /// `generateKey`.
    case make
    /// Get a challenge that is good for registering this key.
    case challenge(keyID: String)
    /// `attestKey`, over this challenge.
    case attest(keyID: String, nonce: String)
    /// Send the attestation to the gate.
    case register(keyID: String, nonce: String, attestation: [UInt8])
    /// `generateAssertion`, over a challenge of 60 seconds or one that the gate gave with a session.
    case assert(keyID: String)
    /// Nothing before that moment (Unix time in seconds); nil: a pause as after a lost connection.
    case wait(until: Double?, GameFailure)
    /// Nothing in this process any more.
    case end(GameFailure)
  }

  /// The calls of App Attest.
  package enum Call: String, Sendable {
    case generateKey, attestKey, generateAssertion
  }

  /// Seconds.
  enum Limit {
    static let longPause = 60.0
    static let longestPause = 1_800.0
    /// A pause is not ended earlier than so long after the last call.
    static let hurryDistance = 60.0
    static let secondAssertion = 2.0
    static let day = 86_400
    static let keysADay = 3
    /// A challenge is not used for a new attestation so shortly before its end.
    static let challengeMargin = 60
  }

  package private(set) var record: AppKeyRecord
  private let isSupported: Bool
  private let registers: Bool
  private var random: SplitMix64
  /// Of a pause that is as long as one after a lost connection, or one that ends the attempt: told once.
  private var verdict: Step?
  /// What no further attempt of this process would mend.
  private var end: GameFailure?
  /// Keys given up since the gate has last let this app in.
  private var dropped = 0
  private var lastCall: Double?
  /// The gate has just given the challenge: it is good, whatever this device's clock makes of its end.
  private var isChallengeFresh = false
  private var why: GameFailure?
  private var isChanged = false

  /// - Parameters:
  ///   - record: as it was saved.
  ///   - isSupported: whether there is an App Attest.
  ///   - registers: whether a key may be made.
  ///   - seed: for the length of pauses.
  package init(_ record: AppKeyRecord, isSupported: Bool, registers: Bool, seed: UInt64) {
    self.record = record
    self.isSupported = isSupported
    self.registers = registers
    random = SplitMix64(state: seed)
  }

  /// To be saved before the next step; nil: nothing has changed.
  package mutating func takeRecord() -> AppKeyRecord? {
    defer { isChanged = false }
    return isChanged ? record : nil
  }

  // MARK: The next step

  /// - Parameters:
  ///   - wall: Unix time in seconds.
  ///   - isHurried: the network is another one, the app has come to the foreground, or the player wants it: a long pause
  ///     ends now, or when a minute has gone by since App Attest was asked last.
  package mutating func next(wall: Double, isHurried: Bool = false) -> Step {
    if let end { return .end(end) }
    if let verdict {
      self.verdict = nil
      return verdict
    }
    guard isSupported else {
      return finish(GameFailure(.unsupported, detail: "there is no App Attest here, and no certificate"))
    }
    if let pause = pause(wall: wall, isHurried: isHurried) { return pause }
    guard let key = record.key else { return make(wall: wall) }
    switch key.stage {
    case .made: return .challenge(keyID: key.id)
    case .challenged(let nonce, let until):
      if isChallengeFresh || Int(wall) < until - Limit.challengeMargin {
        return .attest(keyID: key.id, nonce: nonce)
      }
      change { $0.key?.stage = .made }
      return .challenge(keyID: key.id)
    case .attested(let nonce, _, let attestation):
      // Whether it is still good the gate decides: it may have registered it long ago.
      return .register(keyID: key.id, nonce: nonce, attestation: attestation)
    case .registered: return .assert(keyID: key.id)
    }
  }

  private mutating func pause(wall: Double, isHurried: Bool) -> Step? {
    // A clock that was set back does not prolong it.
    let latest = Int(wall + Limit.longestPause)
    if record.notBefore > latest { change { $0.notBefore = latest } }
    guard wall < Double(record.notBefore) else { return nil }
    // When an earlier start of the app has asked is not known: it may have been just now.
    let last = min(lastCall ?? wall, wall)
    lastCall = last
    if isHurried {
      let earliest = Int((last + Limit.hurryDistance).rounded(.up))
      if earliest < record.notBefore { change { $0.notBefore = earliest } }
      guard wall < Double(record.notBefore) else { return nil }
    }
    let failure =
      why ?? GameFailure(.attestation, detail: "App Attest has failed before, and is asked again later")
    return .wait(until: Double(record.notBefore), failure)
  }

  private mutating func make(wall: Double) -> Step {
    guard registers else {
      return finish(GameFailure(.unsupported, detail: "there is no registered key, and none may be made"))
    }
    let now = Int(wall)
    let made = record.madeAt.map { min($0, now) }.filter { $0 > now - Limit.day }
    if made != record.madeAt { change { $0.madeAt = made } }
    if made.count >= Limit.keysADay {
      let failure = GameFailure(.keyBrake, detail: "\(made.count) keys were made within a day")
      return .wait(until: Double(made[0] + Limit.day), failure)
    }
    return .make
  }

  private mutating func finish(_ failure: GameFailure) -> Step {
    end = failure
    return .end(failure)
  }

  // MARK: What has happened

  /// App Attest is being asked: from now on a pause is not cut short for a minute.
  package mutating func calls(wall: Double) { lastCall = wall }

  package mutating func made(_ keyID: String, wall: Double) {
    succeed()
    change {
      $0.key = AppKeyRecord.Key(id: keyID, stage: .made)
      $0.madeAt = ($0.madeAt + [Int(wall)]).suffix(Limit.keysADay)
    }
  }

  /// - Parameter until: Unix time in seconds.
  package mutating func challenged(_ nonce: String, until: Int) {
    isChallengeFresh = true
    change { $0.key?.stage = .challenged(nonce: nonce, until: until) }
  }

  package mutating func attested(_ attestation: [UInt8]) {
    guard case .challenged(let nonce, let until) = record.key?.stage else { return }
    succeed()
    change { $0.key?.stage = .attested(nonce: nonce, until: until, attestation: attestation) }
  }

  package mutating func registered() {
    succeed()
    change { $0.key?.stage = .registered }
  }

  package mutating func asserted() { succeed() }

  /// The gate has let the app in by this key.
  package mutating func accepted() { dropped = 0 }

  private mutating func succeed() {
    why = nil
    guard record.failures > 0 || record.unknowns > 0 || record.notBefore > 0 else { return }
    change {
      $0.failures = 0
      $0.unknowns = 0
      $0.notBefore = 0
    }
  }

  // MARK: What has failed

  /// App Attest has answered with an error.
  /// - Parameters:
  ///   - code: the raw value of `DCError.Code`; one that is not known counts as 0.
  ///   - isForeground: whether the app is; in the background no key is found lost.
  package mutating func failed(
    _ call: Call, code: Int, detail: String = "", wall: Double, isForeground: Bool = true
  ) {
    isChallengeFresh = false
    let words = detail.isEmpty ? "" : ": \(detail)"
    let failure = GameFailure(.attestation, deviceCheck: code, detail: "\(call.rawValue)\(words)")
    why = failure
    guard isForeground else {
      verdict = .wait(until: nil, failure)
      return
    }
    switch (code, call) {
    case (1, _):
      end = GameFailure(.unsupported, deviceCheck: code, detail: failure.detail)
    case (4, .generateAssertion): verdict = .wait(until: nil, failure)
    case (4, _): pauseLong(failure, wall: wall)
    case (_, .generateKey):
      change { $0.unknowns += 1 }
      if record.unknowns >= 3 { pauseLong(failure, wall: wall) } else { verdict = .wait(until: nil, failure) }
    case (2, .attestKey), (3, _): drop(failure)
    case (_, .attestKey):
      change { $0.unknowns += 1 }
      if record.unknowns >= 2 { drop(failure) } else { pauseLong(failure, wall: wall) }
    case (_, .generateAssertion):
      change { $0.unknowns += 1 }
      if record.unknowns >= 2 { return drop(failure) }
      let until = Int((wall + Limit.secondAssertion).rounded(.up))
      change { $0.notBefore = until }
      verdict = .wait(until: Double(until), failure)
    }
  }

  /// The gate has refused the registration.
  package mutating func refusedRegistration(_ failure: GameFailure) {
    switch (failure.status, failure.code) {
    case (401, .nonceInvalid): drop(failure)
    case (403, _):
      change { $0.key = nil }
      end = failure
    case (400, _): end = failure
    // The same body is sent again.
    default: break
    }
  }

  /// Whether that refusal was the end of the key or of all attempts: then `next` says what follows.
  package func hasAnswer(to failure: GameFailure) -> Bool { record.key == nil || end == failure }

  /// The gate does not take this key for what the failure says: another one is made, unless that has happened already.
  /// - Returns: whether the key was given up by it.
  @discardableResult
  package mutating func refused(_ keyID: String, _ failure: GameFailure) -> Bool {
    guard record.key?.id == keyID, record.key?.stage == .registered else { return false }
    if registers { drop(failure) } else { end = failure }
    return registers
  }

  /// The key is good for nothing any more.
  private mutating func drop(_ failure: GameFailure) {
    change {
      $0.key = nil
      $0.unknowns = 0
      $0.failures = 0
      $0.notBefore = 0
    }
    dropped += 1
    // One new key, and if that does not get in either, a third one would not.
    if dropped > 1 { end = failure }
  }

  private mutating func pauseLong(_ failure: GameFailure, wall: Double) {
    let doubled = min(Limit.longestPause, Limit.longPause * Double(1 << min(record.failures, 10)))
    let pause = min(Limit.longestPause, doubled * (0.8 + 0.4 * random.fraction()))
    let until = Int((wall + pause).rounded())
    change {
      $0.failures += 1
      $0.notBefore = until
    }
    verdict = .wait(until: Double(until), failure)
  }

  private mutating func change(_ body: (inout AppKeyRecord) -> Void) {
    body(&record)
    isChanged = true
  }
}
