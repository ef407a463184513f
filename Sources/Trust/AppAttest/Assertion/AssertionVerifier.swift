/// Verifies assertions (docs/app-attest.md, "Assertion"; Apple, "Validating apps that connect to your server"): one
/// P-256 verification each.
package import Bytes
internal import Crypto
package import Identity

/// What the gate knows of the key that an assertion is said to be made with.
package struct RegisteredKey: Sendable {
  package let publicKey: P256Point
  /// Nil in records of older key files: any configured app matches, and the result says which.
  package let appID: AppID?
  /// Nil in records of older key files: accepted.
  package let environment: AttestEnvironment?
  package let storedCounter: UInt32

  package init(
    publicKey: P256Point, appID: AppID?, environment: AttestEnvironment?,
    storedCounter: UInt32
  ) {
    self.publicKey = publicKey
    self.appID = appID
    self.environment = environment
    self.storedCounter = storedCounter
  }
}

/// What a good assertion proves: the device with this key answered this challenge.
package struct ValidatedAssertion: Equatable, Sendable {
  /// Greater than the stored one; to be committed by compare-and-set before anybody is let in.
  package let signCount: UInt32
  package let appID: AppID
  /// Nil from iOS 26 and older.
  package let validationCategory: UInt32?
  package let bundleVersion: String?
}

/// One to a thread: it keeps the OpenSSL objects that a key is put into.
package final class AssertionVerifier {
  private let signatures = P256Verifier()

  package init() {}

  /// Throws the first rule that is broken, in the order of docs/app-attest.md, "Assertion". `clientDataHash` must be
  /// SHA-256 of the nonce that was issued here and presented in this request: nothing in the object can put another in
  /// its place.
  package func verify(
    _ assertion: Span<UInt8>, clientDataHash: Bytes32, by key: RegisteredKey, policy: AttestationPolicy
  ) throws(AssertionError) -> ValidatedAssertion {
    let clientDataHash = clientDataHash.inlineArray
    return try verify(assertion, verbatimClientDataHash: clientDataHash.span, by: key, policy: policy)
  }

  /// The same, with bytes of any number where the hash belongs, as `AttestationVerifier` has it for Apple's
  /// samples. The gate never calls this.
  package func verify(
    _ assertion: Span<UInt8>, verbatimClientDataHash: Span<UInt8>, by key: RegisteredKey,
    policy: AttestationPolicy
  ) throws(AssertionError) -> ValidatedAssertion {
    let object = try UnverifiedAssertion(assertion)
    let data = assertion.extracting(object.authenticatorData)
    let signature = assertion.extracting(object.signature)

    guard ECDSASignature.isWellFormed(signature, coordinateBytes: 32) else { throw .signatureEncoding }
    // ECDSA-P256-SHA256 is over the nonce, itself a SHA-256: hence a hash of a hash. One formula, no other is
    // tried.
    let nonce = SHA256.hash(data, verbatimClientDataHash)
    guard signatures.isValidSignature(signature, digest: SHA256.hash(nonce), by: key.publicKey) else {
      throw .signature
    }

    guard let authenticatorData = AuthenticatorData(data) else { throw .authenticatorData }
    let appID = try Self.app(of: authenticatorData, key, policy)
    guard authenticatorData.signCount > key.storedCounter else { throw .signCount }

    let rest = data.extracting(AuthenticatorData.headBytes..<data.count)
    guard let launch = authenticatorData.launchInformation(rest) else { throw .extensions }
    guard policy.launch.allows(launch) else { throw .launchPolicy }
    return ValidatedAssertion(
      signCount: authenticatorData.signCount, appID: appID, validationCategory: launch.validationCategory,
      bundleVersion: launch.bundleVersion)
  }

  private static func app(
    of authenticatorData: AuthenticatorData, _ key: RegisteredKey, _ policy: AttestationPolicy
  ) throws(AssertionError) -> AppID {
    let appID: AppID
    if let registered = key.appID {
      guard registered.rpIDHash.equalsInConstantTime(authenticatorData.rpIDHash) else { throw .relyingParty }
      guard policy.apps.contains(registered) else { throw .appNotConfigured }
      appID = registered
    } else {
      guard let configured = policy.app(rpIDHash: authenticatorData.rpIDHash) else { throw .relyingParty }
      appID = configured
    }
    if let environment = key.environment, !policy.environments.contains(environment) {
      throw .environmentNotAllowed
    }
    return appID
  }
}
