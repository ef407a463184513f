import AppAttest
import Bytes
import Crypto
import Device
import Identity
import JSON
import KeyStore
import Kit
import Stores
import System
import Time
import TLSPeers
import Testing

@testable import Admission
@testable import Gateway
@testable import Scheduling
@testable import Telemetry

/// A registration of one loop: judged beside it, entered into the store by itself.
@Suite struct RegistrationTests {
  private static let appID = "ABCDE12345.org.example.game"
  private let harness: LoopHarness
  private let authority: TestAttestationAuthority
  private let enclave: SoftwareEnclave

  init() throws {
    let clock = ManualClock()
    authority = try TestAttestationAuthority.create(now: clock.wall())
    let der = authority.root.der
    harness = try LoopHarness(
      [("APPATTEST_APP_IDS", Self.appID)], clock: clock, root: try AttestationRoot(der: der.span))
    enclave = try SoftwareEnclave.generate(appID: Self.appID, environment: .production)
  }

  /// Sends what a device sends, and returns without waiting for the answer.
  private func register(_ player: Player) throws {
    let answer = player.say("GET /attest/challenge HTTP/1.1\r\nHost: g\r\n\r\n")
    let start = try #require(answer.firstRange(of: "{")).lowerBound
    let issued = Device.Challenge(json: Array(answer[start...].utf8))
    let challenge = try #require(issued)
    let attestation = try enclave.attest(
      clientDataHash: challenge.clientDataHash, by: authority, now: harness.clock.wall())
    var body = JSONWriter()
    body.beginObject()
    body.name("keyId")
    body.value(enclave.keyIdentifier.base64)
    body.name("attestation")
    body.value(Base64.encode(attestation.span))
    body.name("clientData")
    body.value(challenge.nonce)
    body.endObject()
    let text = String(decoding: body.bytes, as: UTF8.self)
    player.client.write(
      """
      POST /attest/register HTTP/1.1\r\nHost: g\r\nContent-Type: application/json\r\n\
      Content-Length: \(body.bytes.count)\r\n\r\n\(text)
      """)
    player.exchange()
  }

  /// Turns until `isDone`, for at most half a minute.
  private func turn(until isDone: () -> Bool) {
    let deadline = SystemClock().monotonic() + .seconds(30)
    while !isDone(), SystemClock().monotonic() < deadline { harness.loop.turn(waiting: 20) }
    #expect(isDone())
  }

  /// Loops wait for the store's lock: a thread of lower priority that lost its processor with it would hold them all.
  @Test func theStoreIsCalledByTheLoopAndNotFromBehindIt() throws {
    let player = try harness.arrive()
    try player.handshake()
    try register(player)
    var answer = ""
    turn {
      answer += player.hear()
      return answer.contains("\r\n\r\n{")
    }
    #expect(answer.hasPrefix("HTTP/1.1 200 "))
    #expect(harness.store.find(enclave.keyIdentifier)?.publicKey == enclave.point)
    #expect(harness.store.registrants == [0])
    #expect(harness.loop.counters.registrations.value == 1)
  }

  /// An app that has lost its connection meanwhile need not register again.
  @Test func aKeyIsEnteredThoughItsConnectionHasGone() throws {
    let player = try harness.arrive()
    try player.handshake()
    // The pool's one thread is busy until the connection has gone.
    let isFree = Monitor(false)
    #expect(harness.shared.pool.submit(from: address(1)) { isFree.wait { $0 ? .done(()) : .wait } })
    try register(player)
    harness.loop.connections.forEach { connection in harness.loop.turn(of: connection) { $0.close() } }
    harness.loop.turn(waiting: 0)
    #expect(harness.loop.connections.count == 0)
    isFree.withLock { isFree, wake in
      isFree = true
      wake.all()
    }
    turn { harness.store.find(enclave.keyIdentifier) != nil }
    #expect(harness.loop.counters.registrations.value == 0)
  }
}
