import KeyStore
import Kit
import Stores
import Time
import TLSPeers
import Testing

@testable import Admission
@testable import Gateway
@testable import Scheduling
@testable import Telemetry

/// A gate over a store that has to ask a database, which others share (`LateStore`): finds and changes come true when the test
/// says so (docs/protocol.md, "Admission").
@Suite struct LateStoreTests {
  private let harness: LoopHarness
  private let store: LateStore
  private let key: TestKey

  init() throws {
    harness = try LoopHarness(TestKey.settings, hasGame: true, isStoreLate: true)
    store = try #require(harness.lateStore)
    key = try TestKey(harness)
  }

  // MARK: Finding the key

  @Test func anAnswerInTime() throws {
    let app = try calling()
    harness.pass(.milliseconds(2999))
    app.hear()
    #expect(app.head.isEmpty && admissionState == .finding)
    store.answerFind()
    harness.turn()
    #expect(admissionState == .committing)
    store.answerChanges()
    turn(app)
    #expect(app.head.hasPrefix("HTTP/1.1 101 "))
  }

  /// The connection goes on, and nobody hears what comes behind the refusal.
  @Test func anAnswerThatIsLate() throws {
    let app = try calling()
    harness.pass(.milliseconds(3001))
    expect(app, 503, "store_unavailable", "find_timeout")
    let refused = app.head
    store.answerFind()
    turn(app)
    #expect(app.head == refused && admissionState == nil)
    #expect(store.changeCount == 0)
    #expect(harness.loop.connections.count == 1 && harness.loop.sessions.count == 0)
    app.vanish()
    harness.settle()
    harness.expectNothingLeft()
  }

  @Test func anAnswerForAConnectionThatHasGone() throws {
    let app = try calling()
    app.vanish()
    harness.settle()
    #expect(harness.loop.connections.count == 0)
    store.answerFind()
    harness.turn()
    #expect(store.changeCount == 0)
    harness.expectNothingLeft()
  }

  /// That of the admission before says nothing about the one that waits now, whatever it says.
  @Test(arguments: [KeyFinding.unknown, .failed, nil])
  func anAnswerForTheAdmissionBefore(_ finding: KeyFinding?) throws {
    let app = try calling()
    harness.pass(.milliseconds(3001))
    expect(app, 503, "store_unavailable", "find_timeout")
    let another = try TestKey(harness)
    try app.callAgain(fields: try another.fields())
    harness.turn()
    #expect(store.findCount == 2)
    store.answerFind(finding)
    turn(app)
    #expect(admissionState == .finding && app.head.isEmpty)
    store.answerFind()
    harness.turn()
    store.answerChanges()
    turn(app)
    #expect(app.head.hasPrefix("HTTP/1.1 101 "))
    #expect(harness.loop.sessions.count == 1)
  }

  @Test(arguments: [
    (KeyFinding.unknown, 401, "key_unknown", "key_unknown"),
    (.failed, 503, "store_unavailable", "find_failed"),
  ])
  func whatIsFound(_ finding: KeyFinding, status: Int, code: String, step: String) throws {
    let app = try calling()
    store.answerFind(finding)
    expect(app, status, code, step)
    #expect(store.changeCount == 0)
  }

  @Test func aKeyThatWasRevokedWhereOthersAre() throws {
    let app = try calling()
    _ = harness.store.revoke(key.identifier, now: harness.clock.wall()) { _ in }
    store.answerFind()
    expect(app, 403, "key_revoked", "key_revoked")
  }

  @Test func whoeverSpeaksMeanwhile() throws {
    let app = try calling()
    app.sendText("early")
    expect(app, 400, "bad_request", "bytes_before_101")
  }

  @Test func aStopMeanwhile() throws {
    let app = try calling()
    harness.loop.mailbox.post(.drain(spread: .zero))
    expect(app, 503, "shutting_down", "draining")
  }

  // MARK: The counter

  /// Of two gates that took the same counter one has lost it, and what was revoked or removed elsewhere is so.
  @Test(arguments: [
    ("nothing", 101, "", ""), ("counted", 401, "assertion_rejected", "counter"),
    ("revoked", 403, "key_revoked", "key_revoked"), ("removed", 401, "key_unknown", "key_unknown"),
  ])
  func aCounterThatIsLost(_ elsewhere: String, status: Int, code: String, step: String) throws {
    let app = try calling()
    store.answerFind()
    harness.turn()
    let (database, now) = (harness.store, harness.clock.wall())
    switch elsewhere {
    case "counted":
      _ = database.advanceCounter(
        of: key.identifier, to: 1, recording: nil, environment: nil, now: now, spending: nil,
        isGathered: false
      ) { _ in }
    case "revoked": _ = database.revoke(key.identifier, now: now) { _ in }
    case "removed":
      let cutoff = UnixTime(milliseconds: now.milliseconds + 1)
      #expect(database.prune(unusedSince: cutoff, isInUse: { _ in false }, completion: { _ in }) == 1)
    default: break
    }
    store.answerChanges()
    if code.isEmpty {
      turn(app)
      #expect(app.head.hasPrefix("HTTP/1.1 101 "))
    } else {
      expect(app, status, code, step)
      #expect(harness.shared.register.keyCount == 0)
    }
    harness.game?.accept()
    #expect(harness.game?.callers.count == (code.isEmpty ? 1 : 0))
  }

  /// The challenge was used at another gate meanwhile: neither counter nor session comes of it.
  @Test func aChallengeThatWasUsedElsewhere() throws {
    let app = TestApp(harness)
    let nonce = try #require(harness.shared.challenges.issue(loop: 0)).nonce
    try app.call(fields: try key.fields(nonce: nonce))
    harness.turn()
    store.answerFind()
    harness.turn()
    #expect(harness.store.spend(nonce))
    store.answerChanges()
    expect(app, 401, "nonce_invalid", "nonce_used")
    #expect(harness.shared.register.keyCount == 0)
    #expect(harness.store.find(key.identifier)?.signCount == 0)
  }

  @Test func aCounterThatTheDatabaseDoesNotAnswer() throws {
    let app = try calling()
    store.answerFind()
    harness.turn()
    harness.pass(.milliseconds(3001))
    expect(app, 503, "store_unavailable", "commit_timeout")
  }

  // MARK: Sessions that have gone

  /// An upgrade that names a session which is nowhere looks its key up again: has a later one of the app had it?
  @Test(arguments: ["first", "later", "failed", "silent"])
  func aSessionThatIsNowhere(_ order: String) throws {
    let app = try calling()
    store.answerFind()
    harness.turn()
    store.answerChanges()
    turn(app)
    try #require(app.id != nil)
    app.vanish()
    harness.settle()
    // SESSION_RESUME_FOR is over.
    harness.pass(.seconds(600))
    try #require(harness.loop.sessions.count == 0)
    try app.call(fields: try key.fields())
    harness.turn()
    store.answerFind()
    harness.turn()
    store.answerChanges()
    harness.turn()
    #expect(admissionState == .recounting && store.findCount == 1)
    switch order {
    case "later":
      _ = harness.store.advanceCounter(
        of: key.identifier, to: 9, recording: nil, environment: nil, now: harness.clock.wall(),
        spending: nil, isGathered: false
      ) { _ in }
      store.answerFind()
      expect(app, 409, "superseded", "superseded")
    case "failed":
      store.answerFind(.failed)
      expect(app, 503, "store_unavailable", "find_failed")
    case "silent":
      harness.pass(.milliseconds(3001))
      expect(app, 503, "store_unavailable", "find_timeout")
    default:
      store.answerFind()
      turn(app)
      #expect(app.head.hasPrefix("HTTP/1.1 101 ") && !app.wasResumed)
    }
  }

  // MARK: Helpers

  /// An app whose upgrade waits for the database.
  private func calling() throws -> TestApp {
    let app = TestApp(harness)
    try app.call(fields: try key.fields())
    harness.turn()
    try #require(admissionState == .finding && store.findCount == 1)
    return app
  }

  /// Of the one that is under way.
  private var admissionState: AdmissionMachine.State? {
    var state: AdmissionMachine.State?
    harness.loop.connections.forEach { connection in
      if case .admission(let admission) = connection.stage { state = admission.machine.state }
    }
    return state
  }

  private func turn(_ app: TestApp) {
    for _ in 0..<4 { harness.turn() }
    app.hear()
  }

  private func expect(
    _ app: TestApp, _ status: Int, _ code: String, _ step: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    turn(app)
    #expect(app.head.hasPrefix("HTTP/1.1 \(status) "), sourceLocation: sourceLocation)
    #expect(app.head.contains("Portcullis-Error: \(code)"), sourceLocation: sourceLocation)
    #expect(harness.shared.refusals.latest.first?.step == step, sourceLocation: sourceLocation)
    #expect(admissionState == nil, sourceLocation: sourceLocation)
  }
}
