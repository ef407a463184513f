/// What a running gate answers at its control socket: each request, on a gate that runs.
import Bytes
import Crypto
import Gateway
import Identity
import JSON
import KeyStore
import Registry
import System
import Time
import TestGate
import Testing

@testable import Control

@Suite struct GateControlTests {
  private func withGate(devices: Bool = false, _ body: (TestGate) throws -> Void) throws {
    let running = try TestGate(withDevices: devices)
    let outcome = Result { try body(running) }
    running.end()
    try outcome.get()
  }

  private static func key(_ number: UInt8) -> NewKey {
    let point = P256Point(
      x: Bytes32(words: 1, 2, 3, UInt64(number)), y: Bytes32(words: 1, 2, 3, UInt64(number) + 1))
    return NewKey(
      identifier: KeyIdentifier(SHA256.hash(point.x963.span)), publicKey: point, appID: TestGate.appID,
      environment: .production, registeredAt: UnixTime(milliseconds: 1_771_286_400_000))
  }

  private func count(_ name: String, _ store: StoreStatistics) -> Int? {
    store.counts.first { $0.name == name }?.count
  }

  @Test func healthAndNumbers() throws {
    try withGate { running in
      guard case .health(let health) = running.control.answer(.health, from: nil) else {
        Issue.record("no health")
        return
      }
      #expect(health.status == .ok && health.process == 1)
      running.register(Self.key(1))
      guard case .statistics(let statistics) = running.control.answer(.statistics, from: nil) else {
        Issue.record("no statistics")
        return
      }
      #expect(count("keys", statistics.store) == 1)
      guard case .keysStatistics(let store) = running.control.answer(.keysStatistics, from: nil) else {
        Issue.record("no statistics of keys")
        return
      }
      #expect(count("keys", store) == 1 && count("revokedKeys", store) == 0)
    }
  }

  @Test func aKeyIsRevokedOnceAndForAll() throws {
    try withGate { running in
      let key = running.register(Self.key(3))
      let reason = RevocationReason("lost")
      guard
        case .refused(let unknown) = running.control.answer(
          .keysRevoke(Self.key(4).identifier, reason: reason), from: nil)
      else {
        Issue.record("a key that nobody knows was revoked")
        return
      }
      #expect(unknown.code == .unknownKey)
      if case .refused(let refusal) = running.control.answer(
        .keysRevoke(key.identifier, reason: reason), from: nil)
      {
        Issue.record("\(refusal)")
      }
      #expect(running.store.find(key.identifier)?.revokedReason == "lost")
    }
  }

  /// While the store's orders stand still: the operator is told that it may come true, and how to see; and it does.
  @Test func aRevocationThatIsNotConfirmedIsNotDenied() throws {
    try withGate { running in
      let key = running.register(Self.key(5)).identifier
      let isHeld = Monitor(true)
      running.store.orders.give {
        isHeld.wait { isHeld -> Waited<Void> in isHeld ? .wait : .done(()) }
      }
      let control = GateControl(
        gate: running.gate, actions: OperatorActions(logger: running.logger), clock: SystemClock(),
        process: 1,
        patience: .milliseconds(1))
      let answer = control.answer(.keysRevoke(key, reason: nil), from: nil)
      let wasRevoked = running.store.isRevoked(key)
      isHeld.withLock { isHeld, wake in
        isHeld = false
        wake.all()
      }
      guard case .refused(let refusal) = answer else {
        Issue.record("\(answer)")
        return
      }
      #expect(!wasRevoked && refusal.code == .timeout && refusal.isPerhapsDone)
      #expect(
        refusal.message
          == "not confirmed: the key store did not answer in time, and the revocation may still come true; "
          + "look with: portcullis keys show \(key.base64); then revoke again")
      let store = running.store
      let isRevoked = store.orders.ask { store.isRevoked(key) }
      #expect(isRevoked)
    }
  }

  @Test func whatIsForgottenOnlyThenIsTold() {
    let keys = [1, 2].map { KeyIdentifier(Bytes32(words: $0, 0, 0, 0)) }
    let told = GateControl.unconfirmed(keys, "; nothing is forgotten before it can").message
    #expect(
      keys.allSatisfy { told.contains($0.base64) } && told.hasSuffix("nothing is forgotten before it can"))
  }

  @Test func withoutDevicesTheirOrdersAreRefused() throws {
    try withGate { running in
      guard
        case .refused(let refusal) = running.control.answer(
          .registry(RegistryOrder(.devicesList, [])), from: nil)
      else {
        Issue.record("there are no devices")
        return
      }
      #expect(refusal.code == .devicesOff)
    }
  }

  @Test func withoutAnAdminListenerItsOrdersAreRefused() throws {
    try withGate { running in
      guard case .refused(let refusal) = running.control.answer(.admin(.list), from: nil) else {
        Issue.record("there is no console")
        return
      }
      #expect(refusal.code == .adminOff)
    }
  }

  @Test func aDrainHoldsUntilItIsTakenBack() throws {
    try withGate { running in
      _ = running.control.answer(.drain, from: nil)
      #expect(running.control.isDraining && running.gate.isDraining)
      guard case .health(let health) = running.control.answer(.health, from: nil) else {
        Issue.record("no health")
        return
      }
      #expect(health.status == .draining)
      _ = running.control.answer(.undrain, from: nil)
      #expect(!running.control.isDraining)
    }
  }

  @Test func nobodyPlaysAndNobodyIsClosed() throws {
    try withGate { running in
      guard case .sessions(let sessions) = running.control.answer(.sessionsList, from: nil) else {
        Issue.record("no list")
        return
      }
      #expect(sessions.isEmpty)
    }
  }

  /// Whoever is nobody's process, and no console either.
  @Test func ordersOfNobodyAreRefused() throws {
    try withGate(devices: true) { running in
      guard
        case .refused(let refusal) = running.control.answer(
          .registry(RegistryOrder(.devicesList, [])), from: nil)
      else {
        Issue.record("nobody was answered")
        return
      }
      #expect(refusal.code == .notPermitted)
    }
  }

  @Test(arguments: [
    (OperatorVerb.devicesList, [:], nil),
    (.devicesShow, ["id": "no-id"], ControlRefusal.Code.wrongArguments),
  ])
  func ordersOfTheRegistry(
    verb: OperatorVerb, arguments: [String: String], refused: ControlRefusal.Code?
  ) throws {
    try withGate(devices: true) { running in
      let order = RegistryOrder(verb, arguments.map { (name: $0.key, value: .string($0.value)) })
      switch running.control.answer(order, by: .console(name: "anna", user: 1000)) {
      case .registry: #expect(refused == nil)
      case .refused(let refusal): #expect(refusal.code == refused, "\(refusal)")
      default: Issue.record("another answer")
      }
    }
  }
}
