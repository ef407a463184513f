import Addresses
import Bytes
import Crypto
import DeviceWire
import HTTPWire
import Identity
import KeyStore
import Kit
import PortcullisProtocol
import Registry
import Stores
import Time
import TLSPeers
import Testing

@testable import Admission
@testable import Gateway
@testable import Requests
@testable import Scheduling
@testable import Telemetry

/// What a store says of registrations and evidence, at once or later, and what peers are told of it; upgrades have
/// `LateStoreTests`.
@Suite struct LateAnswerTests {
  @Test func whatTheStoreSays() {
    let id = KeyIdentifier(Bytes32())
    let losses: [(CommitResult.Loss, RefusalCode, String)] = [
      (.unknownKey, .keyUnknown, "key_unknown"), (.revoked, .keyRevoked, "key_revoked"),
      (.replayed(stored: 7), .assertionRejected, "counter"), (.full, .storeUnavailable, "store_full"),
      (.spent, .nonceInvalid, "nonce_used"),
    ]
    for (loss, code, step) in losses {
      #expect(Refusal(.lost(loss), of: id) == Refusal(code, step: step, keyID: id))
    }
    #expect(Refusal(CommitResult.committed, of: id) == nil)
    #expect(
      Refusal(CommitResult.failed, of: id) == Refusal(.storeUnavailable, step: "commit_failed", keyID: id))
    // Said at once or later, it is the same.
    #expect(Refusal(CounterVerdict.accepted, of: id) == nil)
    #expect(Refusal(CounterVerdict.unknownKey, of: id) == Refusal(.lost(.unknownKey), of: id))
    #expect(Refusal(CounterVerdict.revoked, of: id) == Refusal(.lost(.revoked), of: id))
    #expect(
      Refusal(CounterVerdict.replayed(stored: 7), of: id) == Refusal(.lost(.replayed(stored: 7)), of: id))
    #expect(Refusal(RegisterVerdict.accepted(isNew: true), of: id) == nil)
    #expect(Refusal(RegisterVerdict.revoked, of: id) == Refusal(.lost(.revoked), of: id))
    #expect(Refusal(RegisterVerdict.full, of: id) == Refusal(.lost(.full), of: id))
    for refusal in [
      Refusal(CounterVerdict.unavailable, of: id), Refusal(RegisterVerdict.unavailable, of: id),
    ] {
      #expect(refusal == Refusal(.storeUnavailable, step: "store", keyID: id))
    }
  }

  /// As the key was revoked elsewhere, or the challenge used.
  @Test(arguments: ["key_revoked", "nonce_invalid"]) func aRegistrationThatIsLost(code: String) throws {
    let harness = try LoopHarness(TestKey.settings, isStoreLate: true)
    let (key, store) = (try TestKey(harness), try #require(harness.lateStore))
    let player = try harness.arrive()
    try player.handshake()
    let (token, pending) = try working(on: .register, of: harness)
    let registered = NewKey(
      identifier: key.identifier, publicKey: P256Point(x: Bytes32(), y: Bytes32()), appID: TestKey.appID,
      environment: .production, registeredAt: harness.clock.wall())
    let challenge = Unspent(nonce: Bytes32(words: 1, 2, 3, 4), issuedAt: harness.clock.monotonic())
    harness.loop.enter(registered, spending: challenge, for: token, pending.id)
    if code == "key_revoked" {
      harness.store.revoke(key.identifier, now: harness.clock.wall())
    } else {
      #expect(harness.store.spend(challenge.nonce))
    }
    store.answerChanges()
    player.exchange()
    #expect(player.hear().contains("Portcullis-Error: \(code)"))
  }

  /// Evidence by a key is looked up as an upgrade's is; a peer learns no more than that it is none.
  @Test(arguments: [
    ("unknown", "attestation_rejected", "key_unknown"), ("failed", "store_unavailable", "find_failed"),
    ("lost", "attestation_rejected", "counter"),
  ])
  func evidenceByAKey(_ answer: String, code: String, step: String) throws {
    let harness = try LoopHarness(
      TestKey.settings, hasGame: true, isStoreLate: true, doorLevel: .appAttested)
    let (store, devices) = (try #require(harness.lateStore), try #require(harness.devices))
    let (key, device) = (try TestKey(harness), SoftwareDevice())
    let player = try harness.arrive()
    try player.handshake()
    let query = try DeviceQuery(nil, allowing: [])
    let found = DeviceEndpoint.find(try head("POST /mobile/attest HTTP/1.1"))
    guard case .endpoint(let endpoint)? = found else { throw Refusal(.notFound, step: "path") }
    let request = DeviceRequest(endpoint: endpoint, query: query, clientVersion: nil)
    let (token, pending) = try working(on: .device(request), of: harness)
    let claim = EvidenceClaim(
      server: devices.registry.server, keys: try device.keys(), nonce: Bytes32(words: 1, 2, 3, 4))
    let form = EvidenceForm.assertion(key.identifier, try key.assertion(over: claim.appAttest.hash))
    let work = EvidenceWork(form: form, claim: claim, failure: nil) { _ in
      FindAttestedKeys(device.id, on: .ios)
    }
    harness.loop.withConnection(token) { connection in
      #expect(throws: Never.self) { try connection.judge(work, for: pending) }
    }
    #expect(store.findCount == 1)
    switch answer {
    case "unknown": store.answerFind(.unknown)
    case "failed": store.answerFind(.failed)
    default:
      store.answerFind()
      harness.turn()
      _ = harness.store.advanceCounter(
        of: key.identifier, to: 1, recording: nil, environment: nil, now: harness.clock.wall(),
        spending: nil, isGathered: false
      ) { _ in }
      store.answerChanges()
    }
    player.exchange()
    #expect(player.hear().contains("Portcullis-Error: \(code)"))
    #expect(harness.shared.refusals.latest.first?.step == step)
  }

  private struct SoftwareDevice {
    let id = DeviceID(random: KernelEntropy())

    func keys() throws -> DeviceKeys {
      let point = try SigningKey.generate(.p256).point()
      let key = DevicePublicKey(point.x963.span, checkedBy: P256Verifier())
      let device = try #require(key)
      return try #require(DeviceKeys(device: device, approval: nil))
    }
  }

  /// The one connection, with a request whose body is whole.
  private func working(
    on endpoint: BodyEndpoint, of harness: LoopHarness
  ) throws -> (Token, PendingRequest) {
    let head = try head("POST /x HTTP/1.1")
    let pending = PendingRequest(RequestID(number: 1), endpoint, head, now: harness.loop.now)
    var token: Token?
    harness.loop.connections.forEach { connection in
      guard case .exchange(let exchange) = connection.stage else { return }
      token = connection.token
      exchange.work(on: pending)
    }
    return (try #require(token), pending)
  }
}
