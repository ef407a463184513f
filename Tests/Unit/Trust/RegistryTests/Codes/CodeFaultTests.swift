/// Whatever becomes of the disk while a code is typed: it passes once at most, and a guess that was answered is counted.
import Bytes
import Crypto
import DeviceWire
import FaultDisk
import JSON
import Kit
import PortcullisProtocol
import Synchronization
import Time
import Testing

@testable import Registry

/// Counts up, eight bytes.
final class CodeCounter: Sendable {
  private let number = Atomic<UInt64>(0)

  func next() -> [UInt8] {
    let next = number.add(1, ordering: .relaxed).newValue
    return (0..<8).map { UInt8(truncatingIfNeeded: next >> UInt64(8 * $0)) }
  }
}

@Suite struct CodeFaultTests {
  @Test(arguments: FaultDisk.Fault.allCases) func atEveryCall(fault: FaultDisk.Fault) throws {
    let calm = try Story(seed: 0) { $0.countCalls() }
    #expect(calm.passes == 1 && calm.guesses == 7)
    try #require(calm.calls > 20)
    for call in 0..<calm.calls {
      let story = try Story(seed: UInt64(call)) { $0.plan(fault, at: call) }
      try story.verify("\(fault) at call \(call)")
    }
  }
}

/// A code is there. Two guesses; then it is typed twice at once, with one guess more; each as often as there is no
/// answer.
private final class Story {
  private let part: WorkerPart
  private let phone: Phone
  private let service: String
  private let asked: (first: CodeChallengeID, second: CodeChallengeID)
  private(set) var passes = 0
  /// Guesses that were answered.
  private(set) var guesses = 0
  private(set) var calls = 0

  init(seed: UInt64, _ plan: (FaultDisk) -> Void) throws {
    part = try WorkerPart(seed: seed)
    try part.start()
    let made = try Self.begin(part)
    (phone, service, asked) = (made.phone, made.service, (made.first.id, made.second.id))
    plan(part.disk)
    let wrong = (another(than: made.first.code), another(than: made.second.code))
    for _ in 0..<3 { type([(asked.second, wrong.1), (asked.second, wrong.1)]) }
    type([(asked.first, made.first.code), (asked.first, made.first.code)])
    type([(asked.first, made.first.code), (asked.first, wrong.0)])
    calls = part.disk.calls
    if part.disk.isDown { part.kill() } else { part.stop() }
    part.disk.restart()
    try part.start()
    type([(asked.first, made.first.code), (asked.second, wrong.1)])
  }

  /// Both in one group.
  private func type(_ tries: [(CodeChallengeID, String)]) {
    guard part.worker != nil, !part.disk.isDown else { return }
    part.clock.advance(.seconds(1))
    part.worker?.recoverIfDue()
    let calls = tries.compactMap { verify($0.0, $0.1) }
    for ((challenge, _), reply) in zip(tries, part.serve(calls)) {
      switch reply {
      case .answered: passes += 1
      case .refused(let refusal) where refusal.code == .codeRejected:
        if challenge == asked.second { guesses += 1 }
      default: break
      }
    }
  }

  private func verify(_ challenge: CodeChallengeID, _ code: String) -> VerifyCode? {
    let body = Array(
      #"{"challenge_id":"\#(challenge.text)","login_id":"l","otp_code":"\#(code)"}"#.utf8)
    guard let form = try? Form(body: body.span, checkedBy: P256Verifier()) else { return nil }
    return try? VerifyCode(bearer: service, form: form)
  }

  func verify(_ what: String) throws {
    #expect(passes <= 1, "\(what)")
    let store = try #require(part.worker?.store)
    let first = try #require(try store.codeChallenge(asked.first))
    #expect(passes == 0 || first.state == .passed, "\(what)")
    // The second login's code has heard all guesses that were answered, up to its end.
    let second = try #require(try store.codeChallenge(asked.second))
    #expect((second.code?.wrong ?? 5) >= min(guesses, 5), "\(what)")
    part.stop()
    _ = try part.auditRows()
  }

  // MARK: The beginning

  private struct Made {
    let phone: Phone
    let service: String
    let first: (id: CodeChallengeID, code: String)
    let second: (id: CodeChallengeID, code: String)
  }

  private static func begin(_ part: WorkerPart) throws -> Made {
    let phone = try Phone.make()
    let now = try #require(part.worker).clock.wall()
    let add = Array(#"{"name":"web","scopes":["codes"]}"#.utf8)
    let object = try #require(try JSONValue(parsing: add.span, depthLimit: 4).object)
    let service = try #require(try json(part.serve(OperatorOrder.call("services-add", object)))["token"])
    _ = part.serve(Insert(phone: phone, now: now))
    let codes = try (0..<2).map { _ in try code(part, phone, service) }
    return Made(phone: phone, service: service, first: codes[0], second: codes[1])
  }

  private static func code(
    _ part: WorkerPart, _ phone: Phone, _ service: String
  ) throws -> (id: CodeChallengeID, code: String) {
    let body = Array(#"{"subject":"frodo","login_id":"l","text":"t"}"#.utf8)
    let form = try Form(body: body.span, checkedBy: P256Verifier())
    let asked = try json(part.serve(ChallengeCode(bearer: service, form: form)))
    let id = try #require(CodeChallengeID(asked["challenge_id"] ?? ""))
    let worker = try #require(part.worker)
    let device = try #require(try worker.store.device(phone.id))
    var transaction = worker.transaction(for: .gate)
    let token = try transaction.token(for: device).text
    let nonce = try #require(try worker.store.nonce(of: id, for: phone.id))
    _ = try transaction.device(bearer: token)
    let issue = SignedIssue(
      server: worker.server, device: phone.id, challenge: id, nonce: nonce,
      signedAt: UnixSeconds(transaction.now), signals: Array("{}".utf8))
    let signed = Array(issue.body(try phone.signByDevice(issue.message)).utf8)
    let sent = try IssueCodeForm(Form(body: signed.span, checkedBy: P256Verifier()))
    let issued = try json(part.serve(IssueCode(bearer: token, sent, nonce: nil)))
    return (id, try #require(issued["otp_code"]))
  }

  private static func json(_ reply: Reply?) throws -> Answer {
    guard let json = reply?.json else { throw Unanswered(reply: String(describing: reply)) }
    return Answer(json: json, refusal: nil)
  }

  private struct Unanswered: Error { let reply: String }

  /// The phone, as an operator has confirmed it.
  private struct Insert: RegistryCall {
    let phone: Phone
    let now: UnixTime

    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      var record = DeviceRecord(
        id: phone.id, state: .active, subject: Subject("frodo"), name: nil, platform: .ios,
        keys: phone.keys, level: .appAttested, verification: .app, createdAt: now)
      record.activatedAt = now
      record.attestedAt = now
      let device = record
      try transaction.store.insert(device)
      return .reply(.answered([]))
    }
  }
}
