/// An app's App Attest key at one gate, for all sessions of a process and for its device: made once, asserted in turn.
#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
internal import PortcullisProtocol

/// The one key of this app at a gate. It is registered when it is first needed, and saved at each step on the way.
///
/// Assertions count up, and the gate takes none that does not count higher than the one before. So an assertion is leased:
/// the next one is made when the gate has answered the request that carries the last one, or after 15 seconds, in the order
/// of asking. Several sessions and a device that share one key never lose to each other.
public actor AppKey {
  /// The gate's authority, such as `play.example.com:8443`.
  public nonisolated let gate: String
  nonisolated let names = SessionNames()

  private let calls: GateCalls?
  private let attestor: any DeviceAttestor
  private let storage: any GameStorage
  private let clock: GameClock
  private let registers: Bool
  private let log: GameLog
  private var machine: KeyMachine?

  private var holder: Int?
  private var leases = 0
  private var queue: [(number: Int, turn: CheckedContinuation<Void, Never>)] = []

  /// There should be one for each gate and process: on Apple's platforms `AppKey.of(_:)` sees to it.
  /// - Parameters:
  ///   - gate: such as `https://play.example.com:8443`.
  ///   - transport: how the gate is reached.
  ///   - attestor: what vouches for the device.
  ///   - storage: where the key's identifier is remembered.
  ///   - registers: whether a key may be made and registered.
  ///   - clock: what it measures time by.
  ///   - log: gets a line for each step.
  public init(
    gate: URL, transport: any GateTransport, attestor: any DeviceAttestor, storage: any GameStorage,
    registers: Bool = true, clock: GameClock = .system, log: (@Sendable (GameLogLine) -> Void)? = nil
  ) {
    self.gate = GateAddress.authority(of: gate)
    calls = GateAddress(gate).map { GateCalls(address: $0, transport: transport) }
    self.attestor = attestor
    self.storage = storage
    self.registers = registers
    self.clock = clock
    self.log = GameLog(log)
  }

  // MARK: Assertions

  /// More than two keys, each with a challenge and a registration, need before an assertion.
  private static let stepLimit = 16

  /// An assertion, which is this caller's turn until `answered` is called with it.
  package struct Assertion: Sendable {
    package let keyID: String
    /// CBOR.
    package let data: [UInt8]
    /// 64 hexadecimal digits: the challenge that it is made over; empty where it is over a message.
    package let nonce: String
    fileprivate let lease: Int
  }

  /// What is signed.
  package enum Subject: Sendable {
    /// A challenge that is fetched.
    case challenge
    /// What the gate gave in place of one: 64 hexadecimal digits.
    case nonce(String)
    /// A message that holds a challenge.
    case message([UInt8])
  }

  /// Seconds that a request which carries an assertion may take before the next one is made.
  static let leaseTime = 15.0

  /// Registers the key where that is still to be done, and asserts with it; waits for its turn.
  /// - Parameters:
  ///   - subject: what is signed.
  ///   - isHurried: what would make a long pause end early has happened.
  ///   - isForeground: asked when App Attest fails.
  package func assertion(
    over subject: Subject = .challenge, isHurried: Bool = false, isForeground: @Sendable () -> Bool = { true }
  ) async throws(AdmissionFailure) -> Assertion {
    let lease = await acquire()
    do throws(AdmissionFailure) {
      try await load()
      for _ in 0..<Self.stepLimit {
        if let assertion = try await step(over: subject, isHurried, isForeground, lease: lease) {
          expire(lease)
          return assertion
        }
      }
      throw .failed(GameFailure(.attestation, detail: "no assertion after \(Self.stepLimit) steps"))
    } catch {
      release(lease)
      throw error
    }
  }

  /// The gate has answered the request that carried it, or there will be no answer.
  /// - Parameter isAccepted: whether the gate took it.
  package func answered(_ assertion: Assertion, isAccepted: Bool) {
    if isAccepted { machine?.accepted() }
    release(assertion.lease)
  }

  /// The gate does not take this key: the next assertion is by another one, unless that is the case already.
  package func renew(_ keyID: String, because failure: GameFailure) async {
    let lease = await acquire()
    let isGivenUp = machine?.refused(keyID, failure) == true
    await save()
    if isGivenUp { log.write("key given up", failure) }
    release(lease)
  }

  // MARK: Steps

  /// - Returns: an assertion, or nil where another step comes first.
  private func step(
    over subject: Subject, _ isHurried: Bool, _ isForeground: @Sendable () -> Bool, lease: Int
  ) async throws(AdmissionFailure) -> Assertion? {
    guard let calls else { throw .final(.noGate) }
    let step = machine?.next(wall: clock.wall(), isHurried: isHurried)
    await save()
    switch step {
    case .wait(let until, let failure)?: throw .waits(until: until, failure)
    case .end(let failure)?: throw .final(failure)
    case nil: throw .final(.noGate)
    case .make?:
      let keyID = try await asking(.generateKey, isForeground) { try await self.attestor.makeKey() }
      guard let keyID else { return nil }
      machine?.made(keyID, wall: clock.wall())
      log.write("key made")
    case .challenge(let keyID)?:
      let challenge = try await calls.challenge(registering: keyID)
      machine?.challenged(challenge.nonce, until: challenge.until)
    case .attest(let keyID, let nonce)?:
      guard let challenge = GateChallenge(nonce: nonce) else { throw .final(.noGate) }
      let attestation = try await asking(.attestKey, isForeground) {
        try await self.attestor.attest(keyID, challenge: challenge.bytes)
      }
      if let attestation { machine?.attested(attestation) }
    case .register(let keyID, let nonce, let attestation)?:
      do throws(AdmissionFailure) {
        try await calls.register(keyID, nonce: nonce, attestation: attestation)
      } catch {
        guard case .refused(let refusal) = error, refusal.code != nil else { throw error }
        machine?.refusedRegistration(refusal.failure)
        await save()
        log.write("key not registered", refusal.failure)
        if machine?.hasAnswer(to: refusal.failure) == true { return nil }
        throw error
      }
      machine?.registered()
      log.write("key registered")
    case .assert(let keyID)?:
      let (signed, nonce) = try await signed(subject, calls)
      let data = try await asking(.generateAssertion, isForeground) {
        try await self.attestor.assert(keyID, challenge: signed)
      }
      guard let data else { return nil }
      machine?.asserted()
      await save()
      return Assertion(keyID: keyID, data: data, nonce: nonce, lease: lease)
    }
    await save()
    return nil
  }

  private func signed(
    _ subject: Subject, _ calls: GateCalls
  ) async throws(AdmissionFailure) -> (bytes: [UInt8], nonce: String) {
    if case .message(let bytes) = subject { return (bytes, "") }
    if case .nonce(let nonce) = subject, let named = GateChallenge(nonce: nonce) {
      return (named.bytes, named.nonce)
    }
    let challenge = try await calls.challenge()
    return (challenge.bytes, challenge.nonce)
  }

  /// - Returns: nil where it has failed, and the machine knows.
  private func asking<Value: Sendable>(
    _ call: KeyMachine.Call, _ isForeground: @Sendable () -> Bool,
    _ body: @Sendable () async throws -> Value
  ) async throws(AdmissionFailure) -> Value? {
    machine?.calls(wall: clock.wall())
    do {
      return try await body()
    } catch {
      let failure = error as? DeviceCheckFailure ?? DeviceCheckFailure(code: 0, detail: "\(error)")
      machine?.failed(
        call, code: failure.code, detail: failure.detail, wall: clock.wall(), isForeground: isForeground())
      log.write("App Attest has failed at \(call.rawValue) with DCError \(failure.code)")
      return nil
    }
  }

  // MARK: What is remembered

  private var entry: GameEntry { GameEntry(.key, gate: gate) }

  private func load() async throws(AdmissionFailure) {
    if machine != nil { return }
    var record = AppKeyRecord()
    do {
      if let bytes = try await storage.load(entry) { record = try AppKeyRecord(saved: bytes) }
    } catch GameStorageError.locked {
      let failure = GameFailure(.storage, detail: "what is remembered is locked")
      throw .waits(until: clock.wall() + SessionLimit.lockedPause, failure)
    } catch RecordError.later {
      throw .final(GameFailure(.storage, detail: "the key was saved by a later version of the app"))
    } catch {
      // It will never be read: a new key takes its place.
      log.write("the saved key cannot be read; a new one is made: \(error)")
    }
    machine = KeyMachine(
      record, isSupported: attestor.isSupported, registers: registers, seed: .random(in: .min ... .max))
  }

  private func save() async {
    guard let record = machine?.takeRecord() else { return }
    do {
      try await storage.save(record.bytes, as: entry)
    } catch {
      // What cannot be saved is lost with the process, which is no reason to stop playing.
      log.write("the key cannot be saved: \(error)")
    }
  }

  // MARK: The lease

  private func acquire() async -> Int {
    leases += 1
    let number = leases
    if holder == nil {
      holder = number
    } else {
      await withCheckedContinuation { queue.append((number, $0)) }
    }
    return number
  }

  private func release(_ number: Int) {
    guard holder == number else { return }
    guard !queue.isEmpty else {
      holder = nil
      return
    }
    let next = queue.removeFirst()
    holder = next.number
    next.turn.resume()
  }

  private func expire(_ number: Int) {
    let end = clock.now() + Self.leaseTime
    Task { [weak self, clock] in
      try? await clock.sleep(until: end)
      await self?.release(number)
    }
  }
}
