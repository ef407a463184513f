/// What the control socket asks of a gate, done to a real one on loopback with a simulated device:
/// docs/protocol.md, "Close codes", and docs/running.md, "Control socket".
import Admission
import Dialing
import Foundation
import Kit
import Logging
import PortcullisProtocol
import Telemetry
import Testing

@testable import Addresses
@testable import AppAttest
import Assembly
import Time
@testable import Bytes
@testable import Configuration
@testable import Crypto
@testable import Device
@testable import Gateway
@testable import HTTPWire
@testable import Identity
@testable import KeyStore
@testable import Logs
@testable import System
@testable import TLS

@Suite struct OperatorTests {
  private let authority: TestAttestationAuthority
  private let store: KeyStore
  private let gate: Gate
  private let trust: ServerTrust
  private let folder: TestFolder
  private static let appID = "ABCDE12345.org.example.game"

  init() throws {
    folder = try TestFolder("operator-")
    let environment = [
      ("APPATTEST_APP_IDS", Self.appID), ("LISTEN", "127.0.0.1:0"), ("BACKEND", "echo:"), ("WORKERS", "2"),
      ("ATTESTED_KEYS_PATH", folder.file("keys.json")),
      ("CONTROL_SOCKET", folder.file("gate.sock")),
    ]
    let configuration = try ConfigurationLoader.load(
      environment: environment, files: SystemFiles(), processors: 2, descriptorLimit: 4096
    ).configuration
    authority = try TestAttestationAuthority.create(now: SystemClock().wall())
    store = try KeyStore.open(path: configuration.store.path) { _ in }
    let der = authority.root.der
    let root = try AttestationRoot(der: der.span)
    let server = try SelfSignedCertificate.localhost()
    trust = try #require(ServerTrust.pin(fingerprint: server.fingerprint))
    let log = GateLog(
      sink: try LogWriter.start(clock: SystemClock(), format: .text), clock: SystemClock(), level: .critical,
      format: .text)
    gate = try GateAssembly(
      configuration, store: store, root: root, tls: try TLSMaterial(server), log: log
    ).start()
  }

  private func end() {
    gate.stop()
    store.close()
    folder.remove()
  }

  private func registeredApp() throws -> SimulatedApp {
    let url = GateURL(host: "127.0.0.1", port: try #require(gate.endpoints.first).port)
    let app = SimulatedApp(
      try GateClient(url, trust: trust),
      try SoftwareEnclave.generate(appID: Self.appID, environment: .production))
    try app.register(with: authority)
    return app
  }

  /// Runs `work` on a thread of its own while the caller plays the client.
  private func beside<Result: Sendable>(
    _ work: @escaping @Sendable () -> Result, _ play: () throws -> Void
  ) throws -> Result {
    let box = Monitor<Result?>(nil)
    let thread = try Thread(name: "operator") {
      let result = work()
      box.withLock { state, wake in
        state = result
        wake.all()
      }
    }
    let played = Swift.Result { try play() }
    thread.join()
    try played.get()
    return try #require(box.withLock { state, _ in state })
  }

  private func expectClosed(_ session: WebSocketClient, reason: String) throws {
    #expect(try session.receive() == .closed(code: 1008, reason: reason))
  }

  @Test func revocationEndsTheKeysSessionsAndNoOthers() throws {
    defer { end() }
    let app = try registeredApp()
    let other = try registeredApp()
    let sessions = [try app.connect(), try app.connect()]
    let stays = try other.connect()
    #expect(gate.sessionCount == 3)

    let (gate, keyID) = (gate, app.enclave.keyIdentifier)
    let revocation = try beside({ gate.revoke(keyID, now: SystemClock().wall()) }) {
      for session in sessions { try expectClosed(session, reason: "key revoked") }
    }
    guard case .revoked(_, let outcome) = revocation else {
      Issue.record("\(revocation)")
      return
    }
    #expect(outcome.sessionsEnded == 2)
    #expect(outcome.sessionsLeft == 0 && !outcome.isSilent)
    #expect(outcome.unwritten == [])
    #expect(gate.sessionCount == 1)

    try stays.send(text: "look")
    #expect(try stays.receive() == .text("look"))
    let refused = #expect(throws: GateClientError.self) { try app.connect() }
    guard case .refused(let response) = refused else {
      Issue.record("not refused: \(String(describing: refused))")
      return
    }
    #expect(response.status == 403)
    #expect(response.errorCode == "key_revoked")
    #expect(gate.activity.refusals.contains { $0.code == .keyRevoked && $0.count == 1 })
    // A second time nothing is left to end.
    guard case .revoked(_, let again) = gate.revoke(keyID, now: SystemClock().wall()) else {
      Issue.record("not revoked again")
      return
    }
    #expect(again.sessionsEnded == 0 && again.unwritten == [])
  }

  /// Rows are read where they say: each kind once, against what was done.
  @Test func numbersAreThoseOfTheGate() throws {
    defer { end() }
    let session = try registeredApp().connect()
    var found: [String: Int] = [:]
    for (row, value) in gate.activity.numbers {
      #expect(found.updateValue(value, forKey: row.name) == nil, "\(row.name) twice")
      #expect(value >= 0)
    }
    let expected = [
      "loops": 2, "sessions": 1, "challenges": 2, "registrations": 1, "admitted": 1, "sessionsEnded": 0,
      "keys": 1, "revokedKeys": 0, "keysWithSessions": 1,
    ]
    for (name, value) in expected { #expect(found[name] == value, "\(name)") }
    _ = session
  }

  @Test func unknownKeyIsNotRevoked() throws {
    defer { end() }
    #expect(gate.revoke(KeyIdentifier(Bytes32(words: 1, 2, 3, 4)), now: SystemClock().wall()) == .unknownKey)
  }

  @Test func sessionsAreListedAndClosedByName() throws {
    defer { end() }
    let app = try registeredApp()
    let (first, second) = (try app.connect(), try app.connect())
    try first.send(text: "12345")
    #expect(try first.receive() == .text("12345"))
    let listed = try #require(gate.sessions(within: .seconds(60)))
    #expect(listed.count == 2)
    #expect(listed.allSatisfy { $0.keyID == app.enclave.keyIdentifier && $0.credential == "assertion" })
    let name = try #require(listed.first { $0.bytesFromPlayer == 5 }).name

    let gate = gate
    let closed = try beside({ gate.closeSessions { $0.name == name } }) {
      try expectClosed(first, reason: "closed by the operator")
    }
    #expect(closed?.ended == 1)
    #expect(closed?.left == 0)
    #expect(gate.sessions(within: .seconds(60))?.count == 1)
    // The key is as good as before.
    _ = try app.connect()
    #expect(gate.closeSessions { $0.name == name }?.ended == 0)
    _ = second
  }

  @Test func stoppedGateHasNoSessionsAndAnswersAtOnce() throws {
    defer { end() }
    let session = try registeredApp().connect()
    #expect(gate.sessions(within: .seconds(60))?.count == 1)
    gate.stop()
    let start = SystemClock().monotonic()
    #expect(gate.sessions(within: .seconds(60))?.count == 0)
    #expect(SystemClock().monotonic() - start < .seconds(30))
    _ = session
  }

  @Test func pruneKeepsKeysInUse() throws {
    defer { end() }
    _ = try registeredApp()
    let player = try registeredApp()
    let session = try player.connect()
    let later = UnixTime(milliseconds: SystemClock().wall().milliseconds + 60_000)
    #expect(gate.prune(unusedSince: later) == 1)
    #expect(gate.storeStatistics.keys == 1)
    #expect(store.find(player.enclave.keyIdentifier) != nil)
    _ = session
  }
}
