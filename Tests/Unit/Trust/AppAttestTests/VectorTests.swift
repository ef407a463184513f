/// All vectors of `../shared/vectors` (their README says what each field means).
import Foundation
import Obligation
import Testing

@testable import AppAttest

@Suite struct VectorTests {
  /// Where the vectors leave the verdict open: ours, and why. Nil is "accept".
  static let decisions: [String: (step: String?, reason: String)] = [
    "att-valid-at-notAfter": (nil, "RFC 5280 §4.1.2.5: the validity period includes notAfter"),
    "att-nonce-ext-critical": (
      "cert_critical", "Apple's is not critical, and OpenSSL would refuse it as unknown too"
    ),
    "att-cose-order-swapped": ("cose_key", "devices send one encoding of a key; it is compared as bytes"),
    "att-ext-empty-map-flagged": ("extensions", "a flag that announces extensions is followed by some"),
    "att-receipt-swapped": (
      nil, "the nonce does not cover the receipt, which is stored as opaque and unverified"
    ),
    "asr-valid-1mb-client-data": (
      nil, "only the hash of client data gets here; its size is the HTTP layer's"
    ),
  ]

  /// How many cases each file had when this was written.
  static let known = [
    "generated-attestation.jsonl": 338, "generated-assertion.jsonl": 130, "real-attestation.jsonl": 11,
    "real-assertion.jsonl": 6, "sweeps.jsonl": 6,
  ]

  /// What is not there is counted and said; a file that is there and holds less than it did is a mistake.
  @Test func nothingIsPassedOverInSilence() {
    var missing = 0
    for (file, count) in Self.known {
      if let found = VectorFiles.count(file) {
        #expect(found >= count, "\(file)")
      } else {
        missing += count
      }
    }
    #expect(missing == 0 || !Obligation.runs(false, "vectors"), "\(VectorFiles.folder.path())")
    let all = Self.known.values.reduce(0, +)
    let rest = missing > 0 ? "; \(missing) are missing, as \(VectorFiles.folder.path()) is not whole" : ""
    print("vectors: \(all - missing) of \(all) known cases are judged\(rest)")
  }

  @Test(arguments: [
    "generated-attestation.jsonl", "generated-assertion.jsonl", "real-attestation.jsonl",
    "real-assertion.jsonl",
  ])
  func verdicts(file: String) {
    var agreeing = 0
    var rejected = 0
    for vector in VectorFiles.lines(file, as: VectorCase.self) {
      let verdict = VectorJudge.judge(vector)
      switch vector.expect.result {
      case "accept": #expect(verdict.step == nil, "\(vector.name)")
      case "reject":
        #expect(verdict.step != nil, "\(vector.name)")
        guard let step = verdict.step else { continue }
        rejected += 1
        let words = [vector.expect.check ?? step] + (vector.expect.also ?? [])
        #expect(words.contains(step), "\(vector.name): \(words)")
        if words.contains(step) { agreeing += 1 }
      case "policy":
        guard let decision = Self.decisions[vector.name] else {
          Issue.record("\(vector.name): no decision")
          continue
        }
        #expect(verdict.step == decision.step, "\(vector.name): \(decision.reason)")
      default: Issue.record("\(vector.name): unknown expectation")
      }
    }
    print("\(file): \(agreeing) of \(rejected) refusals name an expected step")
  }

  @Test(arguments: VectorFiles.lines("sweeps.jsonl", as: VectorSweep.self))
  func sweep(_ sweep: VectorSweep) throws {
    let base = sweep.base
    let object = try #require(VectorJudge.bytes(base.attestation_b64 ?? base.assertion_b64))
    #expect(VectorJudge.judge(base).step == nil)
    if sweep.name.hasSuffix("every-prefix") {
      for count in 0..<object.count {
        #expect(VectorJudge.judge(base, object: Array(object[..<count])).step != nil, "prefix of \(count)")
      }
      return
    }
    let receipt = base.kind == "attestation" ? try UnverifiedAttestation(object.span).receipt : 0..<0
    for index in object.indices where !receipt.contains(index) {
      var changed = object
      changed[index] = sweep.name.hasSuffix("to-ff") ? 0xFF : object[index] ^ 0x01
      if changed == object { continue }
      #expect(VectorJudge.judge(base, object: changed).step != nil, "byte \(index)")
    }
  }
}
