/// Assertions (docs/app-attest.md, "Assertion"): nothing passes that the device has not signed, and of what it has
/// signed, only what keeps every rule.
///
/// As with attestations, an input is verified as it is, and once more after the device has signed its
/// authenticator data.
@testable internal import AppAttest
internal import Bytes
internal import Crypto
internal import Identity

enum AssertionHarness {
  static let storedCounter: UInt32 = 7
  private static let authority = TestAuthority.shared
  private static let key = RegisteredKey(
    publicKey: authority.devicePoint, appID: TestAuthority.app, environment: .production,
    storedCounter: storedCounter)
  /// What seeds have the device sign: all that may pass as it is.
  private static let signed = TestAuthority.Launch.allCases.map { authority.assertedData($0, signCount: 8) }

  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let object = try? UnverifiedAssertion(bytes.span)
    let result = verify(bytes)
    guard let object else {
      guard case .failure = result else { throw BrokenProperty("accepted, but no assertion object") }
      return .refused
    }
    let data = Array(bytes[object.authenticatorData])
    if case .success = result {
      try require(signed.contains(data), "forged: \(Hex.encode(data.span))")
      try require(bytes.count <= 2048, "larger than the limit")
    }
    try checkSigned(data)
    return if case .success = result { .accepted } else { .refused }
  }

  /// Signed by the device, the data passes just when it keeps the rules.
  static func checkSigned(_ data: [UInt8]) throws(BrokenProperty) {
    let bytes = authority.assertion(data)
    switch verify(bytes) {
    case .success(let assertion):
      try require(keepsRules(data), "accepted against the rules: \(Hex.encode(data.span))")
      try require(assertion.appID == TestAuthority.app, "another app")
      try require(assertion.signCount == counter(data), "another counter")
      try AttestationHarness.checkLaunch(
        Array(data[37...]), isFlagged: data[32] & 0x80 != 0, assertion.validationCategory,
        assertion.bundleVersion)
    case .failure(let error):
      try require(error != .signature && error != .signatureEncoding, "a good signature refused")
      // Of the rest only what the extensions say can still be wrong.
      try require(
        !keepsRules(data) || error == .extensions || error == .tooLarge, "refused within the rules: \(error)")
    }
    let other = authority.assertion(data, clientDataHash: Bytes32())
    if case .success = verify(other) { throw BrokenProperty("accepted for another challenge") }
  }

  private static func verify(_ bytes: [UInt8]) -> Result<ValidatedAssertion, AssertionError> {
    do throws(AssertionError) {
      return .success(
        try AssertionVerifier().verify(
          bytes.span, clientDataHash: TestAuthority.clientDataHash, by: key, policy: TestAuthority.policy))
    } catch {
      return .failure(error)
    }
  }

  private static func keepsRules(_ data: [UInt8]) -> Bool {
    data.count >= 37 && data[..<32].elementsEqual(TestAuthority.app.rpIDHash.array)
      && counter(data) > storedCounter
  }

  private static func counter(_ data: [UInt8]) -> UInt32 {
    data[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
