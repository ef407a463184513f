import KeyStore
import Kit
import Stores
import Time
import TLSPeers
import Testing

@testable import Admission
@testable import Gateway
@testable import Scheduling

/// What lets an upgrade in is judged again when its `101` is due (docs/protocol.md, "Admission"): here it has changed while
/// the game was being called, or while the session to go on with was asked for. What concerns devices is in
/// `AdmittedDevicesTests`.
@Suite struct InForceTests {
  // MARK: Settings

  /// What an upgrade comes by, and a reload that takes it back, or one that does not.
  struct Reload: CustomTestStringConvertible {
    let testDescription: String
    let before: [(String, String)]
    let after: [(String, String)]
    var fields: [String] = []
    var hasKey = false
    /// Nil where the upgrade is let in.
    let code: String?
  }

  private static let (game, other) = ("https://game.example", "https://other.example")
  private static let open = [("REQUIRE_APP_AUTH", "false")]
  private static let key = TestKey.settings
  private static let anotherApp = [("REQUIRE_APP_AUTH", "true"), ("APPATTEST_APP_IDS", "ABCDE12345.a.b")]

  static let reloads = [
    Reload(
      testDescription: "an origin is allowed no more", before: open,
      after: open + [("ALLOWED_ORIGINS", other)],
      fields: ["Origin: \(game)"], code: "origin_forbidden"),
    Reload(
      testDescription: "another origin is", before: open + [("ALLOWED_ORIGINS", game)],
      after: open + [("ALLOWED_ORIGINS", "\(game),\(other)")], fields: ["Origin: \(game)"], code: nil),
    Reload(
      testDescription: "whoever sends no origin", before: open, after: open + [("ALLOWED_ORIGINS", other)],
      code: nil),
    Reload(
      testDescription: "everybody has to attest", before: open, after: key, code: "assertion_required"),
    Reload(
      testDescription: "nobody has to attest", before: key, after: open, hasKey: true, code: nil),
    Reload(testDescription: "nothing changes", before: key, after: key, hasKey: true, code: nil),
    Reload(
      testDescription: "the app is configured no more", before: key, after: anotherApp, hasKey: true,
      code: "key_unknown"),
    Reload(
      testDescription: "the environment is served no more", before: key,
      after: key + [("APPATTEST_ENVIRONMENT", "development")], hasKey: true, code: "key_unknown"),
    Reload(
      testDescription: "launch information is asked for", before: key,
      after: key + [("APPATTEST_REQUIRE_LAUNCH_INFO", "true")], hasKey: true, code: "assertion_rejected"),
  ]

  @Test(arguments: reloads) func aReloadMeanwhile(_ reload: Reload) throws {
    let harness = try LoopHarness(reload.before, hasGame: true)
    let fields = reload.hasKey ? try TestKey(harness).fields() : []
    let app = try calling(harness, reload.fields + fields)
    try harness.reload(reload.after)
    expect(reload.code, app, harness)
  }

  // MARK: Certificates

  /// Another client CA takes the place of the one that judged the certificate, or stands beside it from now on; or the
  /// certificate ends.
  @Test(arguments: ["replaced", "beside", "switched off", "ended"])
  func aCertificateMeanwhile(_ change: String) throws {
    let authority = try Authority("Clients")
    let another = try Authority("Others")
    let settings = [("REQUIRE_APP_AUTH", "true"), ("APPATTEST_APP_IDS", TestKey.appID)]
    let clock = ManualClock(wall: SystemClock().wall().milliseconds)
    let harness = try LoopHarness(settings, clock: clock, hasGame: true, clientCA: authority.pem)
    let options = ClientOptions(identity: try authority.issue("somebody"))
    let app = try calling(harness, [], options)
    switch change {
    case "replaced": try harness.reload(settings, clientCA: another.pem)
    case "beside": try harness.reload(settings, clientCA: authority.pem + another.pem)
    case "switched off": try harness.reload(settings + [("ALLOW_MTLS_FALLBACK", "false")])
    default: clock.advance(.seconds(86_400))
    }
    expect(change == "beside" ? nil : "assertion_required", app, harness)
    #expect(harness.events.contains("client_certificate_refused") == (change != "beside"))
  }

  // MARK: Keys

  @Test func aKeyThatIsRevokedMeanwhile() throws {
    let harness = try LoopHarness(Self.key, hasGame: true)
    let key = try TestKey(harness)
    let app = try calling(harness, try key.fields())
    _ = harness.store.revoke(key.identifier, now: harness.clock.wall()) { _ in }
    expect("key_revoked", app, harness)
  }

  /// One that another gate had registered is good for a while.
  @Test(arguments: [false, true]) func anImportedKeyWhoseTimeIsOverMeanwhile(isOver: Bool) throws {
    let harness = try LoopHarness(Self.key, hasGame: true)
    let until = UnixTime(milliseconds: harness.clock.wall().milliseconds + 2000)
    let key = try TestKey(harness, importedUntil: until)
    let app = try calling(harness, try key.fields())
    harness.clock.advance(.milliseconds(isOver ? 2000 : 1999))
    expect(isOver ? "key_unknown" : nil, app, harness)
  }

  // MARK: Sessions that go on

  /// The upgrade that asked for it is refused; the session waits on, for whoever may come in.
  @Test func aSessionThatIsGoneOnWith() throws {
    let harness = try LoopHarness(Self.key, loops: 2, hasGame: true)
    let key = try TestKey(harness)
    let app = TestApp(harness)
    try app.connect(fields: try key.fields())
    app.vanish()
    harness.settle()
    try app.call(at: 1, fields: try key.fields())
    // The second loop has asked, the first one hands the session over.
    for loop in [1, 1, 0] { harness.loops[loop].turn(waiting: 0) }
    try #require(harness.loops[0].sessions.count == 0)
    try harness.reload(Self.anotherApp)
    harness.game?.accept()
    harness.game?.callers.first?.say("meanwhile\r\n")
    for _ in 0..<4 { harness.turn() }
    app.hear()
    #expect(app.head.contains("Portcullis-Error: key_unknown"))
    #expect(harness.shared.detached == 1 && harness.shared.sessions.value == 0)
    #expect(harness.shared.detachedByAddress.count == 1)
    app.vanish()
    try harness.reload(Self.key)
    try app.connect(fields: try key.fields())
    #expect(app.wasResumed)
    for _ in 0..<4 { harness.turn() }
    app.hear()
    #expect(app.text.contains("meanwhile"))
    #expect(harness.game?.callers.count == 1)
  }

  // MARK: Helpers

  /// An app whose upgrade is good so far: the game has been called, and has not answered.
  private func calling(
    _ harness: LoopHarness, _ fields: [String], _ options: ClientOptions = ClientOptions()
  ) throws -> TestApp {
    let app = TestApp(harness)
    try app.prepare(options)
    try app.call(fields: fields)
    func isCalling() -> Bool {
      var isCalling = false
      harness.loop.connections.forEach { connection in
        if case .admission(let admission) = connection.stage { isCalling = admission.call.isUnderWay }
      }
      return isCalling
    }
    for _ in 0..<4 where !isCalling() { harness.turn() }
    try #require(isCalling())
    return app
  }

  /// - Parameter code: nil for one that is let in.
  private func expect(
    _ code: String?, _ app: TestApp, _ harness: LoopHarness, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for _ in 0..<4 { harness.turn() }
    app.hear()
    let refusal = app.head.split(separator: "\r\n").first { $0.hasPrefix("Portcullis-Error: ") }
    #expect(refusal.map { $0.dropFirst(18) } == code.map { $0[...] }, sourceLocation: sourceLocation)
    #expect(app.head.hasPrefix("HTTP/1.1 101 ") == (code == nil), sourceLocation: sourceLocation)
    #expect(harness.shared.sessions.value == (code == nil ? 1 : 0), sourceLocation: sourceLocation)
    #expect(harness.loop.sessions.count == harness.shared.sessions.value, sourceLocation: sourceLocation)
  }
}
