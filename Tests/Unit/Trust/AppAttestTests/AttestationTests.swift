/// docs/app-attest.md, "Attestation" on a test PKI, and the published sample under Apple's root.
import Foundation
import Identity
import Kit
import TestPKI
import Testing
import Time

@testable import AppAttest
@testable import Bytes
@testable import CBOR
@testable import Crypto
@testable import System
@testable import X509

@Suite struct AttestationTests {
  typealias Case = ChainTests.Case

  static func extensions(category: [UInt8] = [4, 0, 0, 0], version: String = "1.0") -> [UInt8] {
    var map = CBOREncoder()
    map.beginMap(pairs: 2)
    map.append(text: "apple_bundle_version_01")
    map.append(text: version)
    map.append(text: "apple_validation_category_01")
    map.append(bytes: category)
    return map.bytes
  }

  static let cases: [Case] = [
    Case("valid", nil) { _ in },
    Case("another format", .formatName) { $0.format = "apple-appattest " },
    Case("no nonce", .nonceExtension) { $0.nonceExtension = { _ in [] } },
    Case("nonce with 31 bytes", .nonceExtension) {
      $0.nonceExtension = { _ in [0x30, 0x23, 0xA1, 0x21, 0x04, 0x1F] + [UInt8](repeating: 0, count: 31) }
    },
    Case("something after the nonce", .nonceExtension) {
      let good = $0.nonceExtension
      $0.nonceExtension = { good($0) + [0x00] }
    },
    Case("the nonce of other authenticator data", .nonce) {
      let good = $0.nonceExtension
      $0.nonceExtension = { good($0 + [0x00]) }
    },
    Case("the hash alone as nonce", .nonce) {
      $0.nonceExtension = { _ in
        [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20] + AttestationBuilder.clientDataHash.array
      }
    },
    Case("another app's hash", .relyingParty) {
      $0.rpIDHash = SHA256.hash(Array("com.example.mud".utf8).span)
    },
    Case("no app id in the leaf", .leafAppID) { $0.leaf.remove(AppleIdentifiers.keyOwner) },
    Case("another app id in the leaf", .leafAppID) {
      $0.leaf.set(AppleIdentifiers.keyOwner, AttestationBuilder.keyOwner("ABCDE12345.com.example.mux"))
    },
    Case("the app id in the leaf twice", .leafAppID) {
      let member = DERWriter.element(
        [0xBF, 0x89, 0x34], DERWriter.octetString(Array(AttestationBuilder.app.description.utf8)))
      $0.leaf.set(AppleIdentifiers.keyOwner, DERWriter.sequence(member, member))
    },
    Case("something after the app id in the leaf", .leafAppID) {
      $0.leaf.set(
        AppleIdentifiers.keyOwner,
        AttestationBuilder.keyOwner(AttestationBuilder.app.description) + [0x05, 0x00])
    },
    Case("something beside the app id in the leaf", .leafAppID) {
      let name = DERWriter.octetString(Array(AttestationBuilder.app.description.utf8))
      $0.leaf.set(
        AppleIdentifiers.keyOwner,
        DERWriter.sequence(DERWriter.element([0xBF, 0x89, 0x34], name + name)))
    },
    Case("counter 1", .signCount) { $0.signCount = 1 },
    Case("counter 0x01000000", .signCount) { $0.signCount = 0x0100_0000 },
    Case("development", .aaguid) { $0.aaguid = AttestEnvironment.development.aaguid },
    Case("AAGUID's last byte", .aaguid) { $0.aaguid[15] = 1 },
    Case("AT clear", .authenticatorData) { $0.flags = 0 },
    Case("credential id of 33 bytes", .authenticatorData) {
      $0.credentialIDLength = [0, 33]
      $0.credentialID.append(0)
    },
    Case("another credential id", .credentialID) { $0.credentialID[31] ^= 1 },
    Case("another COSE key", .coseKey) { $0.coseKey = CredentialData.coseKey(TestKey.p256().p256Point) },
    Case("COSE key one byte short", .coseKey) { $0.coseKey.removeLast() },
    Case("ED without extensions", .extensions) { $0.flags = 0xC0 },
    Case("extensions, flagged", nil) {
      $0.flags = 0xC0
      $0.extensions = Self.extensions()
    },
    Case("extensions, not flagged", nil) { $0.extensions = Self.extensions() },
    Case("extensions and a byte", .extensions) { $0.extensions = Self.extensions() + [0x00] },
    Case("unknown extension, flagged", nil) {
      $0.flags = 0xC0
      $0.extensions = [0xA1, 0x61, 0x78, 0x01]
    },
    Case("unknown extension, not flagged", .extensions) { $0.extensions = [0xA1, 0x61, 0x78, 0x01] },
    Case("empty map, flagged", .extensions) {
      $0.flags = 0xC0
      $0.extensions = [0xA0]
    },
    Case("version of 256 bytes", nil) {
      $0.extensions = Self.extensions(version: String(repeating: "1", count: 256))
    },
    Case("version of 257 bytes", .extensions) {
      $0.extensions = Self.extensions(version: String(repeating: "1", count: 257))
    },
    Case("category of 5 bytes", .extensions) { $0.extensions = Self.extensions(category: [4, 0, 0, 0, 0]) },
    Case("cut after 36 bytes of authenticator data", .cbor(.truncated)) {
      $0.breakObject = { $0.dropLast(128) }
    },
    Case("16,385 bytes", .tooLarge) {
      $0.breakObject = { $0 + [UInt8](repeating: 0, count: 16_385 - $0.count) }
    },
    Case("16,384 bytes, some of them trailing", .cbor(.trailingBytes)) {
      $0.breakObject = { $0 + [UInt8](repeating: 0, count: 16_384 - $0.count) }
    },
  ]

  @Test(arguments: cases) func oneThingBroken(_ one: Case) {
    var builder = AttestationBuilder()
    one.change(&builder)
    #expect(builder.error() == one.error)
  }

  /// Signatures vary by a few bytes, so the size is hit by trying, each time with as much as the last one lacked: that one
  /// may have been of a length that hardly any other has.
  @Test func exactlyTheLimit() throws {
    var builder = AttestationBuilder()
    builder.receipt = [UInt8](repeating: 0, count: 1000)
    let verifier = AttestationBuilder.verifier()
    for _ in 0..<1000 {
      let object = builder.build()
      let lack = UnverifiedAttestation.maximumBytes - object.count
      guard lack == 0 else {
        builder.receipt = [UInt8](repeating: 0, count: builder.receipt.count + lack)
        continue
      }
      _ = try verifier.verify(
        object.span, keyID: AttestationBuilder.keyID, clientDataHash: AttestationBuilder.clientDataHash,
        at: AttestationBuilder.now, policy: AttestationBuilder.policy)
      return
    }
    Issue.record("no object of exactly the limit")
  }

  @Test func anotherKeyIdentifier() throws {
    let object = AttestationBuilder().build()
    #expect(throws: AttestationError.keyIdentifier) {
      try AttestationBuilder.verifier().verify(
        object.span, keyID: KeyIdentifier(SHA256.hash(object.span)),
        clientDataHash: AttestationBuilder.clientDataHash,
        at: AttestationBuilder.now, policy: AttestationBuilder.policy)
    }
    #expect(throws: AttestationError.malformedKeyIdentifier) {
      try KeyIdentifier(attestationInput: Array("AAAA".utf8).span)
    }
  }

  @Test func whatIsValidated() throws {
    var builder = AttestationBuilder()
    builder.extensions = Self.extensions(category: [0x01, 0x02, 0x03, 0x04], version: "1314")
    builder.aaguid = AttestEnvironment.development.aaguid
    let other = try #require(AppID("ABCDE12345.com.example.other"))
    let policy = AttestationPolicy(
      apps: [other, AttestationBuilder.app], environments: [.production, .development])
    let object = builder.build()
    let result = try AttestationBuilder.verifier().verify(
      object.span, keyID: AttestationBuilder.keyID, clientDataHash: AttestationBuilder.clientDataHash,
      at: AttestationBuilder.now, policy: policy)
    #expect(
      result
        == ValidatedAttestation(
          keyID: AttestationBuilder.keyID, publicKey: AttestationBuilder.deviceKey.p256Point,
          appID: AttestationBuilder.app, environment: .development, validationCategory: 0x0403_0201,
          bundleVersion: "1314", receipt: Array("receipt".utf8)))
  }

  @Test(arguments: [
    (LaunchPolicy.any, true, true), (LaunchPolicy(requiresLaunchInformation: true), true, false),
    (LaunchPolicy(allowedCategories: [2, 4]), true, true),
    (LaunchPolicy(allowedCategories: [2]), false, true),
    (LaunchPolicy(allowedCategories: []), false, true),
    (LaunchPolicy(allowedBundleVersions: ["1.0", "1.1"]), true, true),
    (LaunchPolicy(allowedBundleVersions: ["1.1"]), false, true),
    (
      LaunchPolicy(allowedCategories: [4], allowedBundleVersions: ["1.0"], requiresLaunchInformation: true),
      true, false
    ),
  ])
  func launchPolicy(_ launch: LaunchPolicy, allowsInformation: Bool, allowsNone: Bool) {
    let policy = AttestationPolicy(apps: [AttestationBuilder.app], launch: launch)
    var builder = AttestationBuilder()
    #expect(builder.error(policy: policy) == (allowsNone ? nil : .launchPolicy))
    builder.extensions = Self.extensions()
    #expect(builder.error(policy: policy) == (allowsInformation ? nil : .launchPolicy))
  }

  @Test func versionsAreComparedAsBytes() {
    let policy = AttestationPolicy(
      apps: [AttestationBuilder.app], launch: LaunchPolicy(allowedBundleVersions: ["1.\u{F3}"]))
    var builder = AttestationBuilder()
    builder.extensions = Self.extensions(version: "1.\u{F3}")
    #expect(builder.error(policy: policy) == nil)
    builder.extensions = Self.extensions(version: "1.o\u{301}")
    #expect(builder.error(policy: policy) == .launchPolicy)
  }

  @Test func publishedSample() throws {
    func bytes(_ text: String) -> [UInt8]? { Base64.decode(Array(text.utf8).span) }
    let object = try #require(bytes(AppleGuide2026.attestation))
    let challenge = try #require(bytes(AppleGuide2026.challenge))
    let app = try #require(AppID(teamID: AppleGuide2026.teamID, bundleID: AppleGuide2026.bundleID))
    let time = try #require(UnixTime(timestamp: AppleGuide2026.issuedAt))
    let keyID = try KeyIdentifier(attestationInput: Array(AppleGuide2026.keyID.utf8).span)
    let verifier = AttestationVerifier(root: .apple())
    let result = try verifier.verify(
      object.span, keyID: keyID, verbatimClientDataHash: challenge.span, at: time,
      policy: AttestationPolicy(apps: [app]))
    #expect(result.environment == .production)
    #expect(result.validationCategory == 1)
    #expect(result.bundleVersion == "1")
    #expect(result.receipt.count > 3000)
    #expect(throws: AttestationError.signature(.intermediate, ChainTests.signatureFailure)) {
      try AttestationBuilder.verifierWithNames(of: app).verify(
        object.span, keyID: keyID, verbatimClientDataHash: challenge.span, at: time,
        policy: AttestationPolicy(apps: [app]))
    }
  }

  @Test func rootIsTheOneInCerts() throws {
    let file = Repository.folder.appending(path: "certs/Apple_App_Attestation_Root_CA.pem")
    let pem = Array(try Data(contentsOf: file))
    let fromFile = try AttestationRoot(pem: pem.span)
    #expect(fromFile.isApple)
    #expect(fromFile.fingerprint == AttestationRoot.apple().fingerprint)
  }

  /// One verifier on several threads, good and bad objects mixed.
  @Test func threads() {
    let verifier = AttestationBuilder.verifier()
    let good = AttestationBuilder().build()
    var broken = AttestationBuilder()
    broken.intermediateSigner = AttestationBuilder.otherKey
    let bad = broken.build()
    DispatchQueue.concurrentPerform(iterations: 32) { index in
      let object = index % 4 == 0 ? bad : good
      let accepted =
        (try? verifier.verify(
          object.span, keyID: AttestationBuilder.keyID, clientDataHash: AttestationBuilder.clientDataHash,
          at: AttestationBuilder.now, policy: AttestationBuilder.policy)) != nil
      #expect(accepted == (index % 4 != 0))
    }
  }
}

extension AttestationBuilder {
  /// Under an impostor of Apple's root: the same name, another key.
  static func verifierWithNames(of app: AppID) -> AttestationVerifier {
    let name = AttestationRoot.apple().certificate.subject
    var root = TestCertificate(
      issuer: name, notBefore: "200101000000Z", notAfter: "450101000000Z", subject: name,
      key: rootKey.subjectPublicKeyInfo, extensions: [])
    root.set(ObjectIdentifiers.basicConstraints, critical: DERWriter.true, DERWriter.sequence(DERWriter.true))
    root.set(ObjectIdentifiers.keyUsage, critical: DERWriter.true, [0x03, 0x02, 0x01, 0x06])
    do {
      return AttestationVerifier(root: try AttestationRoot(der: root.encoded(signedBy: rootKey).span))
    } catch {
      fatalError("test root: \(error)")
    }
  }
}
