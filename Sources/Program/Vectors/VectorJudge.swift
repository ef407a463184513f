/// Verifies cases of vector files with the gate's own verifiers, and says what they found.
package import AppAttest
internal import Bytes
internal import Crypto
internal import Identity
package import Time

/// What the verifiers say of a case.
package enum VectorVerdict: Equatable, Sendable {
  case accept([Fact])
  /// The step's word, and the precise rule.
  case reject(check: String, reason: String)

  package struct Fact: Equatable, Sendable {
    package let name: String
    package let value: String

    init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A case whose answer is left open never differs.
  package func differs(from expectation: Expectation) -> Bool {
    switch (self, expectation.result) {
    case (.accept, .accept), (.reject, .reject), (_, .policy): false
    case (.accept, .reject), (.reject, .accept): true
    }
  }
}

package enum VectorJudge {
  /// - Parameters:
  ///   - verifier: with the root that the case names, for attestations.
  ///   - now: for attestations that name no time.
  package static func judge(
    _ vector: VectorCase, attestation: VectorCase.Attestation, by verifier: AttestationVerifier, now: UnixTime
  ) -> VectorVerdict {
    guard let object = attestation.object else { return notBase64 }
    do throws(AttestationError) {
      let keyID = try KeyIdentifier(attestationInput: Array(attestation.keyID.utf8).span)
      return .accept(
        facts(
          try verifier.verify(
            object.span, keyID: keyID, verbatimClientDataHash: vector.clientDataHash.span,
            at: attestation.verifyAt ?? now, policy: vector.policy)))
    } catch {
      return .reject(check: error.step.rawValue, reason: "\(error)")
    }
  }

  package static func judge(_ vector: VectorCase, assertion: VectorCase.Assertion) -> VectorVerdict {
    guard let object = assertion.object else { return notBase64 }
    guard let key = assertion.key else {
      return .reject(check: "input.public_key", reason: "no point on P-256")
    }
    // Without an app the registered one cannot be the configured one.
    guard let appID = vector.policy.apps.first else {
      return .reject(
        check: AssertionError.relyingParty.step.rawValue, reason: "\(AssertionError.relyingParty)")
    }
    let registered = RegisteredKey(
      publicKey: key, appID: appID, environment: nil, storedCounter: assertion.previousCounter)
    do throws(AssertionError) {
      return .accept(
        facts(
          try AssertionVerifier().verify(
            object.span, verbatimClientDataHash: vector.clientDataHash.span, by: registered,
            policy: vector.policy)))
    } catch {
      return .reject(check: error.step.rawValue, reason: "\(error)")
    }
  }

  private static let notBase64 = VectorVerdict.reject(
    check: "input.base64", reason: "the object is not base64")

  private static func facts(_ validated: ValidatedAttestation) -> [VectorVerdict.Fact] {
    [
      .init("keyId", validated.keyID.base64), .init("appId", validated.appID.description),
      .init("environment", validated.environment.rawValue),
      .init("publicKey", Base64.encode(validated.publicKey.x963.span)),
      .init("receiptBytes", "\(validated.receipt.count)"),
    ] + launchFacts(validated.validationCategory, validated.bundleVersion)
  }

  private static func facts(_ validated: ValidatedAssertion) -> [VectorVerdict.Fact] {
    [.init("appId", validated.appID.description), .init("signCount", "\(validated.signCount)")]
      + launchFacts(validated.validationCategory, validated.bundleVersion)
  }

  private static func launchFacts(_ category: UInt32?, _ version: String?) -> [VectorVerdict.Fact] {
    [
      category.map { .init("validationCategory", "\($0)") },
      version.map { .init("bundleVersion", PrintableText.field($0, limit: 256)) },
    ].compactMap(\.self)
  }
}
