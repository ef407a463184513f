/// All App Attest vectors of `../shared/vectors` (their README says what each field means), as `verify` reads and judges them.
import JSON
import Testing

@testable import AppAttest
@testable import Vectors

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

  @Test func nothingIsPassedOverInSilence() { VectorFile.account(for: Self.known) }

  @Test(arguments: [
    "generated-attestation.jsonl", "generated-assertion.jsonl", "real-attestation.jsonl",
    "real-assertion.jsonl",
  ])
  func verdicts(file: String) throws {
    var agreeing = 0
    var rejected = 0
    for line in VectorFile.lines(file) ?? [] {
      let vector = try Self.vector(try VectorLine(parsing: line.span))
      let expectation = try #require(vector.expectation)
      let step = try Self.step(vector)
      switch expectation.result {
      case .accept: #expect(step == nil, "\(vector.name)")
      case .reject:
        #expect(step != nil, "\(vector.name)")
        guard let step else { continue }
        rejected += 1
        let agrees = expectation.checks.isEmpty || expectation.checks.contains(step)
        #expect(agrees, "\(vector.name): \(step), not \(expectation.checks)")
        if agrees { agreeing += 1 }
      case .policy:
        guard let decision = Self.decisions[vector.name] else {
          Issue.record("\(vector.name): no decision")
          continue
        }
        #expect(step == decision.step, "\(vector.name): \(decision.reason)")
      }
    }
    print("\(file): \(agreeing) of \(rejected) refusals name an expected step")
  }

  /// A good object, and every prefix of it or one changed byte after the other: each is refused.
  @Test func sweeps() throws {
    for line in VectorFile.lines("sweeps.jsonl") ?? [] {
      let value = try JSONValue(parsing: line.span, depthLimit: VectorLine.depthLimit)
      let sweep = try #require(value.object)
      let name = try #require(sweep["name"]?.string)
      let object = try #require(sweep["base"]?.object)
      let base = try Self.vector(try VectorLine(object))
      #expect(try Self.step(base) == nil, "\(name)")
      for (variant, object) in try Self.variants(of: base, in: name) {
        #expect(try Self.step(base, with: object) != nil, "\(name): \(variant)")
      }
    }
  }

  private static func variants(of base: VectorCase, in sweep: String) throws -> [(String, [UInt8])] {
    let object: [UInt8]
    var receipt = 0..<0
    switch base.subject {
    case .attestation(let attestation):
      let bytes = try #require(attestation.object)
      let unverified = try UnverifiedAttestation(bytes.span)
      (object, receipt) = (bytes, unverified.receipt)
    case .assertion(let assertion): object = try #require(assertion.object)
    }
    if sweep.hasSuffix("every-prefix") {
      return object.indices.map { ("prefix of \($0)", Array(object[..<$0])) }
    }
    return object.indices.compactMap { index in
      var changed = object
      changed[index] = sweep.hasSuffix("to-ff") ? 0xFF : object[index] ^ 0x01
      // The receipt is stored as it is, and unverified.
      return receipt.contains(index) || changed == object ? nil : ("byte \(index)", changed)
    }
  }

  private static func vector(_ line: VectorLine) throws -> VectorCase {
    guard case .verifiable(let vector) = line else { throw NoVector() }
    return vector
  }

  private struct NoVector: Error {}

  /// The step that refuses it; nil when it is accepted.
  /// - Parameter object: in place of its own.
  private static func step(_ vector: VectorCase, with object: [UInt8]? = nil) throws -> String? {
    let verdict: VectorVerdict
    switch vector.subject {
    case .attestation(let own):
      let attestation = VectorCase.Attestation(
        object: object ?? own.object, keyID: own.keyID, root: own.root, verifyAt: own.verifyAt)
      verdict = VectorJudge.judge(
        vector, attestation: attestation, by: try verifier(root: own.root),
        now: try #require(own.verifyAt))
    case .assertion(let own):
      let assertion = VectorCase.Assertion(
        object: object ?? own.object, key: own.key, previousCounter: own.previousCounter)
      verdict = VectorJudge.judge(vector, assertion: assertion)
    }
    return if case .reject(let step, _) = verdict { step } else { nil }
  }

  private static func verifier(root name: String) throws -> AttestationVerifier {
    if name == "apple" { return AttestationVerifier(root: .apple()) }
    return try #require(roots[name] ?? nil)
  }

  /// Made once, as the sweeps ask for them for each byte.
  private static let roots: [String: AttestationVerifier?] = ["test_root.pem"].reduce(into: [:]) {
    roots, name in
    roots[name] = VectorFile.contents(name).flatMap { pem in
      (try? AttestationRoot(pem: pem.span)).map(AttestationVerifier.init(root:))
    }
  }
}
