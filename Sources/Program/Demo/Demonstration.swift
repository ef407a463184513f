/// The whole of Portcullis on the loopback in one process: game, gate and a device that is honest and then cheats.
///
/// Each step says what is tried and what came of it, and fails when that is not what should have come.
internal import Addresses
internal import Admission
internal import AppAttest
internal import Assembly
internal import Bytes
internal import Configuration
internal import Crypto
internal import Device
internal import Dialing
internal import Gateway
internal import Identity
internal import KeyStore
internal import Logging
internal import Logs
internal import PortcullisClient
internal import System
internal import Time
internal import TLS

package final class Demonstration {
  static let appID = "ABCDE12345.com.example.mud"

  let folder: String
  let tell: (String) -> Void
  let mud: TinyMUD
  private let store: KeyStore
  private let gate: Gate
  private let log: GateLog
  let authority: TestAttestationAuthority
  let app: SimulatedApp
  /// Where sessions go that outlive their connections.
  let sessionGate: SessionGate
  let office: Office
  let insides: Insides
  /// Nil where nobody wants to look.
  let visit: (any ConsoleVisit)?
  var failures = 0
  /// The game as a service, once it is one.
  var service: ApprovalService?

  /// - Parameters:
  ///   - folder: an empty directory for the key store.
  ///   - tell: takes each line of the story.
  ///   - visit: looks at the console in the end.
  package init(
    in folder: String, tell: @escaping (String) -> Void, gateLog: @escaping @Sendable ([UInt8]) -> Void,
    visit: (any ConsoleVisit)? = nil
  ) throws {
    self.folder = folder
    self.tell = tell
    self.visit = visit
    authority = try TestAttestationAuthority.create(now: SystemClock().wall())
    mud = try TinyMUD()
    let loaded = try Self.configuration(folder: folder, game: mud.endpoint, hasConsole: visit != nil)
    let configuration = loaded.configuration
    log = GateLog(sink: DemonstrationLog(write: gateLog))
    store = try KeyStore.open(path: configuration.store.path) { _ in }
    let certificate = try SelfSignedCertificate.localhost()
    let certificatePEM = Array(certificate.certificate.pem.utf8)
    office = try Office(in: folder, certificatePEM: certificatePEM, log: log)
    let tls = try TLSMaterial(certificate)
    gate = try GateAssembly(
      configuration, store: store, root: try AttestationRoot(pem: Array(authority.root.pem.utf8).span),
      tls: tls, log: log, devices: office.devices
    ).start()
    insides = Insides(
      gate: gate, loaded: loaded, tls: tls, devices: office.devices, store: store, log: log)
    guard let trust = ServerTrust.pin(fingerprint: certificate.fingerprint),
      let endpoint = gate.endpoints.first
    else {
      throw DemonstrationFailure(description: "the gate has no address")
    }
    let url = GateURL(host: endpoint.address.description, port: endpoint.port)
    try office.announce("https://\(url.authority)")
    let device = folder + "/device.json"
    app = SimulatedApp(
      try GateClient(url, trust: trust),
      try SoftwareEnclave.generate(appID: Self.appID, environment: .production, keptIn: device))
    sessionGate = SessionGate(url: url, trust: trust, credential: .appKey(path: device))
    tell("game   a MUD of three rooms on \(mud.endpoint)")
    tell("gate   on \(endpoint), in front of it; keys in \(configuration.store.path)")
    tell("device a software Secure Enclave, key \(app.enclave.keyIdentifier.short)…, app \(Self.appID)")
  }

  private static func configuration(
    folder: String, game: Endpoint, hasConsole: Bool
  ) throws -> LoadedConfiguration {
    try ConfigurationLoader.load(
      environment: [
        ("PORTCULLIS_ENV", "test"), ("LISTEN", "127.0.0.1:0"), ("BACKEND", game.description),
        ("APPATTEST_APP_IDS", appID), ("ATTESTED_KEYS_PATH", folder + "/attested-keys.json"),
        ("CONTROL_SOCKET", folder + "/portcullis.sock"), ("WORKERS", "1"),
        ("DEVICES_PATH", folder + "/devices.db"), ("PUBLIC_URL", "https://localhost"),
        ("GATE_DEVICES", "bare"),
      ] + (hasConsole ? [("ADMIN_LISTEN", "127.0.0.1:0")] : []), files: SystemFiles(), processors: 1,
      descriptorLimit: ProcessContext.descriptorLimit()
    )
  }

  /// The story from beginning to end.
  ///
  /// - Returns: whether every step did as it should.
  package func run() -> Bool {
    play()
    fight()
    decide()
    typeCodes()
    cheat()
    revoke()
    showConsole()
    end()
    tell("")
    tell(failures == 0 ? "Every step did as it should." : "\(failures) step(s) did NOT do as they should.")
    return failures == 0
  }

  // MARK: The honest player

  private func play() {
    tell("\nAn honest player")
    refused("connects with no credential at all", "assertion_required") { app, _ in
      _ = try app.client.connectWebSocket()
    }
    step("registers: challenge, attestation, key made durable") { app, authority in
      try app.register(with: authority)
      return "200 registered"
    }
    step("connects and plays: challenge, assertion, WebSocket") { app, _ in
      let session = try app.connect()
      var heard = try Self.listen(session, for: "Exits: north.")
      for (line, answer) in [("look", "portcullis"), ("north", "crow"), ("say hello", "You say: hello")] {
        try session.send(binary: Array((line + "\n").utf8))
        heard += try Self.listen(session, for: answer)
      }
      try session.send(binary: Array("quit\n".utf8))
      heard += try Self.listen(session, for: "Farewell.")
      guard case .closed(let code, _) = try Self.end(of: session), code == 1000 else { return nil }
      return "101, \(heard) bytes of game, then close 1000"
    }
  }

  // MARK: The line that is cut

  private func fight() {
    tell("\nA phone that loses its network")
    let gate = sessionGate
    let mud = mud
    step("is cut off in the middle of a fight, comes back, and nothing is missing") { _, _ in
      let before = mud.visits
      let fight = try Fight(through: gate)
      let rounds = try fight.run()
      guard rounds == Array(1...TinyMUD.rounds), fight.wasResumed, mud.visits - before == 1 else {
        return nil
      }
      return
        "\(rounds.count) rounds, each once, over \(fight.connections) connections and one visit to the game"
    }
  }

  // MARK: The cheat

  private func cheat() {
    tell("\nThe same device cheats")
    let before = mud.visits
    refused("replays a whole upgrade", "nonce_invalid") { app, _ in
      let headers = try app.admission(for: app.challenge())
      let session = try app.client.connectWebSocket(fields: headers.fields)
      try session.close()
      _ = try Self.end(of: session)
      _ = try app.client.connectWebSocket(fields: headers.fields)
    }
    refused("replays an assertion under a fresh challenge", "assertion_rejected") { app, _ in
      var headers = try app.admission(for: app.challenge())
      headers.nonce = try app.challenge().nonce
      _ = try app.client.connectWebSocket(fields: headers.fields)
    }
    refused("signs an old counter", "assertion_rejected") { app, _ in
      let headers = try app.admission(for: app.challenge(), signCount: 1)
      _ = try app.client.connectWebSocket(fields: headers.fields)
    }
    refused("makes up a challenge", "nonce_invalid") { app, _ in
      var headers = try app.admission(for: app.challenge())
      headers.nonce = String(repeating: "ab", count: 32)
      _ = try app.client.connectWebSocket(fields: headers.fields)
    }
    refused("uses a key that was never registered", "key_unknown") { app, _ in
      let other = SimulatedApp(
        app.client, try SoftwareEnclave.generate(appID: Self.appID, environment: .production))
      _ = try other.connect()
    }
    refused("registers a key that nobody at Apple certified", "attestation_rejected") { app, _ in
      let forger = try TestAttestationAuthority.create(now: SystemClock().wall())
      let other = SimulatedApp(
        app.client, try SoftwareEnclave.generate(appID: Self.appID, environment: .production))
      try other.register(with: forger)
    }
    refused("registers a modified app", "attestation_rejected") { app, authority in
      let other = SimulatedApp(
        app.client,
        try SoftwareEnclave.generate(appID: "ABCDE12345.com.example.cheat", environment: .production))
      try other.register(with: authority)
    }
    refused("registers a development build", "attestation_rejected") { app, authority in
      let other = SimulatedApp(
        app.client, try SoftwareEnclave.generate(appID: Self.appID, environment: .development))
      try other.register(with: authority)
    }
    let visits = mud.visits - before
    check(
      "of all this the game saw one visit: the upgrade that was honest the first time", visits == 1,
      "\(visits) seen")
  }

  // MARK: The operator

  private func revoke() {
    tell("\nThe operator revokes the key")
    let keyID = app.enclave.keyIdentifier
    let gate = gate
    step("a session that is open ends with 1008") { app, _ in
      let session = try app.connect()
      _ = try Self.listen(session, for: "Exits: north.")
      guard case .revoked(_, let outcome) = gate.revoke(keyID, now: SystemClock().wall()),
        outcome.sessionsEnded == 1, outcome.unwritten.isEmpty
      else { return nil }
      guard case .closed(let code, let reason) = try Self.end(of: session), code == 1008 else { return nil }
      return "close \(code) (\(reason))"
    }
    refused("the device connects again", "key_revoked") { app, _ in _ = try app.connect() }
    refused("and registers again", "key_revoked") { app, authority in try app.register(with: authority) }
  }

  private func end() {
    tell("\nThe gate stops")
    gate.beginDrain(timeout: .seconds(2))
    gate.stop()
    mud.stop()
    office.stop()
    let isClean = store.close()
    check("the key store is written and its journal empty", isClean, "")
  }
}

struct DemonstrationFailure: Error, CustomStringConvertible {
  let description: String
}

private struct DemonstrationLog: LogSink {
  let write: @Sendable ([UInt8]) -> Void
  func write(_ line: [UInt8]) { write(line) }
}
