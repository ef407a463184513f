import AppAttest
import Bytes
import Crypto
import Device
import Foundation
import Identity
import Time
import Testing

/// What the device writes, judged by the gate's verifiers; the two share no constant.
@Suite struct VerifierTests {
  private let now = SystemClock().wall()
  private let authority: TestAttestationAuthority
  private let verifier: AttestationVerifier
  private let hash: Bytes32
  private static let appID = "ABCDE12345.org.example.game"
  private let app: AppID

  init() throws {
    authority = try TestAttestationAuthority.create(now: now)
    let der = authority.root.der
    let root = try AttestationRoot(der: der.span)
    verifier = AttestationVerifier(root: root)
    hash = try #require(Bytes32([UInt8](100..<132)))
    app = try #require(AppID(Self.appID))
  }

  private func enclave(
    _ environment: AttestEnvironment = .production, launch: LaunchClaim? = nil,
    appID: String = Self.appID
  ) throws -> SoftwareEnclave {
    try SoftwareEnclave.generate(appID: appID, environment: environment, launch: launch)
  }

  private func policy(_ environment: AttestEnvironment = .production, launch: LaunchPolicy = .any)
    -> AttestationPolicy
  {
    AttestationPolicy(apps: [app], environments: [environment], launch: launch)
  }

  @Test(
    arguments: [AttestEnvironment.production, .development],
    [
      nil, LaunchClaim(validationCategory: 4, bundleVersion: "1.0"),
      LaunchClaim(validationCategory: .max, bundleVersion: String(repeating: "9", count: 256)),
    ])
  func attestationsAreAccepted(environment: AttestEnvironment, launch: LaunchClaim?) throws {
    let enclave = try enclave(environment, launch: launch)
    let attestation = try enclave.attest(clientDataHash: hash, by: authority, now: now)
    let validated = try verifier.verify(
      attestation.span, keyID: enclave.keyIdentifier, clientDataHash: hash, at: now,
      policy: policy(environment))
    #expect(validated.publicKey == enclave.point)
    #expect(validated.appID == app)
    #expect(validated.environment == environment)
    #expect(validated.validationCategory == launch?.validationCategory)
    #expect(validated.bundleVersion == launch?.bundleVersion)
    let other: AttestEnvironment = environment == .production ? .development : .production
    #expect(throws: AttestationError.aaguid) {
      try verifier.verify(
        attestation.span, keyID: enclave.keyIdentifier, clientDataHash: hash, at: now, policy: policy(other))
    }
  }

  @Test func anotherChallengeKeyAppOrRootIsNot() throws {
    let enclave = try enclave()
    let attestation = try enclave.attest(clientDataHash: hash, by: authority, now: now)
    let judge = {
      (keyID: KeyIdentifier, hash: Bytes32, verifier: AttestationVerifier) throws(AttestationError) in
      _ = try verifier.verify(attestation.span, keyID: keyID, clientDataHash: hash, at: now, policy: policy())
    }
    #expect(throws: AttestationError.nonce) { try judge(enclave.keyIdentifier, Bytes32(), verifier) }
    let foreign = try self.enclave().keyIdentifier
    #expect(throws: AttestationError.keyIdentifier) { try judge(foreign, hash, verifier) }
    #expect(throws: AttestationError.self) { try judge(enclave.keyIdentifier, hash, .init(root: .apple())) }
    let stranger = try self.enclave(appID: "ABCDE12345.org.example.other")
    let strange = try stranger.attest(clientDataHash: hash, by: authority, now: now)
    #expect(throws: AttestationError.relyingParty) {
      try verifier.verify(
        strange.span, keyID: stranger.keyIdentifier, clientDataHash: hash, at: now, policy: policy())
    }
  }

  @Test(arguments: [nil, LaunchClaim(validationCategory: 4, bundleVersion: "1.0")])
  func assertionsAreAcceptedOnce(launch: LaunchClaim?) throws {
    let enclave = try enclave(launch: launch)
    var stored: UInt32 = 0
    for expected in UInt32(1)...3 {
      let assertion = try enclave.assert(clientDataHash: hash)
      let validated = try judge(assertion, of: enclave, stored: stored)
      #expect(validated.signCount == expected)
      #expect(validated.bundleVersion == launch?.bundleVersion)
      stored = expected
      #expect(throws: AssertionError.signCount) { try judge(assertion, of: enclave, stored: stored) }
    }
    let high = try enclave.assertion(clientDataHash: hash, signCount: .max)
    #expect(try judge(high, of: enclave, stored: .max - 1).signCount == .max)
    let low = try enclave.assertion(clientDataHash: hash, signCount: 0)
    #expect(throws: AssertionError.signCount) { try judge(low, of: enclave, stored: 0) }
  }

  @Test func anotherKeysAssertionIsNot() throws {
    let assertion = try enclave().assert(clientDataHash: hash)
    let other = try enclave()
    #expect(throws: AssertionError.signature) { try judge(assertion, of: other, stored: 0) }
  }

  private func judge(
    _ assertion: [UInt8], of enclave: SoftwareEnclave, stored: UInt32
  ) throws -> ValidatedAssertion {
    let key = RegisteredKey(
      publicKey: enclave.point, appID: app, environment: .production,
      storedCounter: stored)
    return try AssertionVerifier().verify(assertion.span, clientDataHash: hash, by: key, policy: policy())
  }
}
