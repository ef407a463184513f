/// A world for the key's machine: Apple, which fails by plan, a gate, a clock, and kills.
import PortcullisTesting

@testable import PortcullisClient

struct KeyWorld {
  /// The code that a call fails with for as long as it is here.
  var failures: [KeyMachine.Call: Int] = [:]
  /// What the gate answers to a registration, for as long as it is here; nil within: no answer at all.
  var refusal: GateRefusal??
  var machine: KeyMachine
  var wall = 1_700_000_000.0
  /// How long a challenge is good, and how far the gate's clock is ahead of this one, in seconds.
  var challengeTime = 86_400
  var gateIsAhead = 0
  private(set) var challenges = 0
  /// What was saved last; a kill brings it back.
  private(set) var saved: AppKeyRecord?
  private(set) var calls: [String] = []
  private(set) var keys = 0
  private(set) var hashes: Set<String> = []
  private(set) var bodies: Set<String> = []
  private var nonces = 0

  enum Outcome: Equatable {
    case asserted
    case waits(until: Double?, GameFailure.Kind)
    case ends(GameFailure.Kind)
    case refused
  }

  init(_ record: AppKeyRecord = AppKeyRecord()) {
    machine = KeyMachine(record, isSupported: true, registers: true, seed: 1)
    saved = record
  }

  static var registered: KeyWorld {
    KeyWorld(AppKeyRecord(key: AppKeyRecord.Key(id: ScriptedAppAttest.key(99), stage: .registered)))
  }

  /// As the owner does it, until the attempt has an outcome.
  mutating func attempt(isHurried: Bool = false, isForeground: Bool = true) -> Outcome {
    for _ in 0..<100 {
      let step = machine.next(wall: wall, isHurried: isHurried)
      save()
      switch step {
      case .wait(let until, let failure): return .waits(until: until, failure.kind)
      case .end(let failure): return .ends(failure.kind)
      case .make:
        guard !fails(.generateKey, isForeground) else { continue }
        keys += 1
        machine.made(ScriptedAppAttest.key(keys), wall: wall)
      case .challenge:
        nonces += 1
        challenges += 1
        let digits = String(nonces, radix: 16)
        let nonce = String(repeating: "0", count: 64 - digits.count) + digits
        machine.challenged(nonce, until: Int(wall) + gateIsAhead + challengeTime)
      case .attest(let keyID, let nonce):
        hashes.insert("\(keyID) \(nonce)")
        if !fails(.attestKey, isForeground) { machine.attested([1, 2, 3]) }
      case .register(let keyID, let nonce, let attestation):
        calls.append("register")
        bodies.insert("\(keyID) \(nonce) \(attestation)")
        switch refusal {
        case nil: machine.registered()
        case .some(nil): return .refused
        case .some(let answer?):
          machine.refusedRegistration(answer.failure)
          save()
          if !machine.hasAnswer(to: answer.failure) { return .refused }
        }
      case .assert:
        guard !fails(.generateAssertion, isForeground) else { continue }
        machine.asserted()
        save()
        return .asserted
      }
      save()
    }
    fatalError("an attempt without end: \(calls.suffix(10))")
  }

  private mutating func fails(_ call: KeyMachine.Call, _ isForeground: Bool) -> Bool {
    machine.calls(wall: wall)
    calls.append(call.rawValue)
    guard let code = failures[call] else { return false }
    machine.failed(call, code: code, wall: wall, isForeground: isForeground)
    return true
  }

  /// As the owner does it when the gate does not know a key.
  mutating func refuse(_ number: Int) {
    machine.refused(ScriptedAppAttest.key(number), GateRefusal(status: 401, code: "key_unknown").failure)
    save()
  }

  private mutating func save() {
    if let record = machine.takeRecord() { saved = record }
  }

  /// The process is gone, and another one begins with what was saved, as text.
  mutating func kill() throws {
    let record = try saved.map { try AppKeyRecord(saved: $0.bytes) } ?? AppKeyRecord()
    machine = KeyMachine(record, isSupported: true, registers: true, seed: UInt64(calls.count))
  }

  /// Attempts until one is let in or nothing more is tried, each when the last one said; a day at most.
  /// - Parameter kills: whether the process is killed after each.
  mutating func settle(kills: Bool = false, hours: Double = 20) throws -> Outcome {
    let end = wall + hours * 3_600
    var outcome = attempt()
    while wall < end {
      switch outcome {
      case .asserted: return outcome
      case .ends(let kind): if !kills || kind == .unsupported { return outcome }
      case .waits(let until, let kind):
        if kind == .keyBrake { return outcome }
        wall = max(wall + 1, until ?? wall + 30)
      case .refused: wall += 30
      }
      if kills { try kill() }
      outcome = attempt()
    }
    return outcome
  }

  func count(_ call: KeyMachine.Call) -> Int { calls.count { $0 == call.rawValue } }
}
