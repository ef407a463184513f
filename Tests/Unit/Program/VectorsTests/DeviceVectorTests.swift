/// All messages and summaries of `../shared/vectors/devices` (their README says what each field means); where they are
/// not, the tests say so, and fail in CI.
import Bytes
import Crypto
import Kit
import Testing
import Vectors

@Suite struct DeviceVectorTests {
  /// How many lines each file had when this was written.
  private static let known = [
    "devices/android-key.jsonl": 408, "devices/messages.jsonl": 773, "devices/play-integrity.jsonl": 278,
    "devices/real-android-key.jsonl": 146,
    "devices/risk.jsonl": 96, "devices/summaries.jsonl": 271, "devices/sweeps.jsonl": 29,
  ]

  @Test func nothingIsPassedOverInSilence() { VectorFile.account(for: Self.known) }

  @Test(arguments: known.keys.sorted()) func verdicts(file: String) throws {
    // Said and counted above.
    guard let lines = VectorFile.lines(file) else { return }
    let verifier = P256Verifier()
    var judged = 0
    for line in lines {
      let judgement = try JudgedLine(line, verifier)
      guard let verdict = judgement.verdict else { continue }
      let expectation = try #require(judgement.expectation)
      #expect(!verdict.differs(from: expectation), "\(judgement.name): \(verdict)")
      #expect(!judgement.hasOtherRisk, "\(judgement.name): \(verdict)")
      if case .reject(let check, _) = verdict, !expectation.checks.isEmpty {
        #expect(expectation.checks.contains(check), "\(judgement.name): \(check)")
      }
      judged += 1
    }
    print("\(file): \(judged) of \(lines.count) lines are judged")
    #expect(judged > 0)
  }
}

/// A line of a file with what the gate says of it.
struct JudgedLine {
  let name: String
  let expectation: Vectors.Expectation?
  /// Nil when it is of a kind that is not judged here.
  let verdict: VectorVerdict?
  /// Other reasons or distances than were expected.
  private(set) var hasOtherRisk = false

  init(_ line: [UInt8], _ verifier: P256Verifier) throws {
    switch try VectorLine(parsing: line.span) {
    case .message(let message):
      (name, expectation, verdict) = (message.name, message.expectation, message.judge(by: verifier))
    case .summary(let summary):
      (name, expectation, verdict) = (summary.name, summary.expectation, summary.judge())
    case .play(let play):
      (name, expectation, verdict) = (play.name, play.expectation, play.judge(by: verifier))
    case .risk(let risk):
      (name, expectation, verdict) = (risk.name, risk.expectation, risk.judge())
      hasOtherRisk = risk.differs
    case .androidKey(let attestation):
      (name, expectation, verdict) = (attestation.name, attestation.expectation, attestation.judge())
    case .sweep(let sweep):
      (name, expectation, verdict) = (sweep.name, sweep.expectation, try sweep.judge(by: verifier))
    case .verifiable(let vector): (name, expectation, verdict) = (vector.name, vector.expectation, nil)
    case .unsupported(let name): (self.name, expectation, verdict) = (name, nil, nil)
    }
  }
}
