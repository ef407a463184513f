/// docs/app-attest.md, "Assertion": each case breaks one thing of a valid assertion.
import Identity
import TestPKI
import Testing

@testable import AppAttest
@testable import Bytes
@testable import CBOR
@testable import Crypto
@testable import System

struct AssertionBuilder {
  var signer = AttestationBuilder.deviceKey
  var rpIDHash = AttestationBuilder.app.rpIDHash
  var flags: UInt8 = 0x40
  var signCount: UInt32 = 8
  var extensions: [UInt8] = []
  var cut = 0
  /// From authenticator data to what the key signs.
  var message: ([UInt8]) -> [UInt8] = { SHA256.hash($0.span, AttestationBuilder.clientDataHash).array }
  var breakSignature: ([UInt8]) -> [UInt8] = { $0 }
  var breakObject: ([UInt8]) -> [UInt8] = { $0 }

  var appID: AppID? = AttestationBuilder.app
  var environment: AttestEnvironment? = .production
  var storedCounter: UInt32 = 7
  var policy = AttestationBuilder.policy

  func build() -> [UInt8] {
    let count = (0..<4).map { UInt8(truncatingIfNeeded: signCount >> UInt32(24 - $0 * 8)) }
    let data = Array((rpIDHash.array + [flags] + count + extensions).dropLast(cut))
    var object = CBOREncoder()
    object.beginMap(pairs: 2)
    object.append(text: "signature")
    object.append(bytes: breakSignature(signer.sign(message(data))))
    object.append(text: "authenticatorData")
    object.append(bytes: data)
    return breakObject(object.bytes)
  }

  func verify() throws(AssertionError) -> ValidatedAssertion {
    let object = build()
    return try AssertionVerifier().verify(
      object.span, clientDataHash: AttestationBuilder.clientDataHash,
      by: RegisteredKey(
        publicKey: AttestationBuilder.deviceKey.p256Point, appID: appID, environment: environment,
        storedCounter: storedCounter),
      policy: policy)
  }
}

@Suite struct AssertionTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let error: AssertionError?
    let change: @Sendable (inout AssertionBuilder) -> Void

    init(
      _ name: String, _ error: AssertionError?, _ change: @escaping @Sendable (inout AssertionBuilder) -> Void
    ) {
      testDescription = name
      self.error = error
      self.change = change
    }
  }

  static let other: AppID = {
    guard let app = AppID("ABCDE12345.com.example.other") else { fatalError("not an app id") }
    return app
  }()

  static let cases: [Case] = [
    Case("valid", nil) { _ in },
    Case("flags 00", nil) { $0.flags = 0 },
    Case("flags C0 and a map", nil) {
      $0.flags = 0xC0
      $0.extensions = AttestationTests.extensions()
    },
    Case("flags C1 and a map", nil) {
      $0.flags = 0xC1
      $0.extensions = AttestationTests.extensions()
    },
    Case("flags 40 and a map", nil) { $0.extensions = AttestationTests.extensions() },
    Case("flags C0 without a map", .extensions) { $0.flags = 0xC0 },
    Case("credential data", .extensions) { $0.extensions = [UInt8](repeating: 0, count: 127) },
    Case("36 bytes", .authenticatorData) { $0.cut = 1 },
    Case("no authenticator data", .authenticatorData) { $0.cut = 37 },
    Case("counter equal", .signCount) { $0.storedCounter = 8 },
    Case("counter lower", .signCount) { $0.storedCounter = 9 },
    Case("counter higher by one", nil) { ($0.signCount, $0.storedCounter) = (9, 8) },
    Case("counter higher by a thousand", nil) { ($0.signCount, $0.storedCounter) = (1008, 8) },
    Case("counter at its end", nil) { ($0.signCount, $0.storedCounter) = (.max, .max - 1) },
    Case("counter wrapped", .signCount) { ($0.signCount, $0.storedCounter) = (0, .max) },
    Case("counter beyond Int32", nil) { ($0.signCount, $0.storedCounter) = (0x8000_0000, 0x7FFF_FFFF) },
    Case("another key", .signature) { $0.signer = TestKey.p256() },
    Case("hashed once less", .signature) { $0.message = { $0 + AttestationBuilder.clientDataHash.array } },
    Case("hashed once more", .signature) {
      $0.message = { SHA256.hash(SHA256.hash($0.span, AttestationBuilder.clientDataHash)).array }
    },
    Case("another client data hash", .signature) {
      $0.message = { SHA256.hash($0.span, SHA256.hash([UInt8]([1]).span)).array }
    },
    Case("authenticator data alone", .signature) { $0.message = { SHA256.hash($0.span).array } },
    Case("a byte after the signature", .signatureEncoding) { $0.breakSignature = { $0 + [0x00] } },
    Case("no signature", .signatureEncoding) { $0.breakSignature = { _ in [] } },
    Case("another app", .relyingParty) { $0.rpIDHash = AssertionTests.other.rpIDHash },
    Case("registered for another app", .relyingParty) { $0.appID = AssertionTests.other },
    Case("an older record, a configured app", nil) { ($0.appID, $0.environment) = (nil, nil) },
    Case("an older record, an app that is not configured", .relyingParty) {
      $0.appID = nil
      $0.rpIDHash = AssertionTests.other.rpIDHash
    },
    Case("an app no longer configured", .appNotConfigured) {
      $0.policy = AttestationPolicy(apps: [AssertionTests.other])
    },
    Case("a key of another configured app", .relyingParty) {
      $0.policy = AttestationPolicy(apps: [AssertionTests.other, AttestationBuilder.app])
      $0.rpIDHash = AssertionTests.other.rpIDHash
    },
    Case("an environment no longer allowed", .environmentNotAllowed) { $0.environment = .development },
    Case("launch information required", .launchPolicy) {
      $0.policy = AttestationPolicy(
        apps: [AttestationBuilder.app], launch: LaunchPolicy(requiresLaunchInformation: true))
    },
    Case("a category that is not allowed", .launchPolicy) {
      $0.extensions = AttestationTests.extensions()
      $0.policy = AttestationPolicy(
        apps: [AttestationBuilder.app], launch: LaunchPolicy(allowedCategories: [3]))
    },
    Case("2,049 bytes", .tooLarge) {
      $0.breakObject = { $0 + [UInt8](repeating: 0, count: 2049 - $0.count) }
    },
    Case("2,048 bytes, some of them trailing", .cbor(.trailingBytes)) {
      $0.breakObject = { $0 + [UInt8](repeating: 0, count: 2048 - $0.count) }
    },
    Case("an array", .format) { $0.breakObject = { _ in [0x80] } },
    Case("an empty map", .format) { $0.breakObject = { _ in [0xA0] } },
    Case("an unknown member", .format) { $0.breakObject = { [0xA3] + $0[1...] + [0x61, 0x78, 0x00] } },
    Case("a member twice", .cbor(.duplicateKey)) {
      $0.breakObject = { [0xA3] + $0[1...] + $0[1..<12] + [0x00] }
    },
  ]

  @Test(arguments: cases) func oneThingBroken(_ one: Case) {
    var builder = AssertionBuilder()
    one.change(&builder)
    do throws(AssertionError) {
      _ = try builder.verify()
      #expect(one.error == nil)
    } catch {
      #expect(error == one.error)
    }
  }

  @Test func whatIsValidated() throws {
    var builder = AssertionBuilder()
    builder.extensions = AttestationTests.extensions(version: "1314")
    builder.appID = nil
    builder.policy = AttestationPolicy(apps: [Self.other, AttestationBuilder.app])
    #expect(
      try builder.verify()
        == ValidatedAssertion(
          signCount: 8, appID: AttestationBuilder.app, validationCategory: 4, bundleVersion: "1314"))
  }

  @Test func servedKeys() {
    let policy = AttestationBuilder.policy
    #expect(policy.serves(appID: AttestationBuilder.app, environment: .production))
    #expect(policy.serves(appID: nil, environment: nil))
    #expect(!policy.serves(appID: Self.other, environment: .production))
    #expect(!policy.serves(appID: AttestationBuilder.app, environment: .development))
  }

  @Test(arguments: AttestationStep.allCases.map(\.rawValue) + AssertionStep.allCases.map(\.rawValue))
  func stepsAreOneWordInTheLog(_ word: String) {
    #expect(
      word.utf8.allSatisfy {
        ($0 >= 0x61 && $0 <= 0x7A) || $0 == 0x5F || $0 == 0x2E || ($0 >= 0x30 && $0 <= 0x39)
      })
  }
}
