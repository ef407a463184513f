import Bytes
import Crypto
import Device
import Identity
import KeyStore
import Kit
import PortcullisProtocol
import Stores
import Time
import Testing

@testable import Admission
@testable import Gateway

/// An attested key that the harness's store knows, and what an upgrade says with it.
struct TestKey {
  static let appID = "ABCDE12345.org.example.game"
  /// For a gate that asks for keys.
  static let settings = [("REQUIRE_APP_AUTH", "true"), ("APPATTEST_APP_IDS", appID)]

  private let enclave: SoftwareEnclave
  private let harness: LoopHarness

  /// - Parameter importedUntil: nil for one that was registered here.
  init(_ harness: LoopHarness, importedUntil end: UnixTime? = nil) throws {
    self.harness = harness
    enclave = try SoftwareEnclave.generate(appID: Self.appID, environment: .production)
    if let end {
      let key = ForeignKey(
        identifier: enclave.keyIdentifier, publicKey: enclave.point, signCount: 0,
        registeredAt: harness.clock.wall())
      _ = harness.store.adopt([key], KeyImport(from: .goldfinch, until: end), appID: Self.appID) { _ in }
      return
    }
    _ = harness.store.register(
      NewKey(
        identifier: enclave.keyIdentifier, publicKey: enclave.point, appID: Self.appID,
        environment: .production,
        registeredAt: harness.clock.wall())
    ) { _ in }
  }

  var identifier: KeyIdentifier { enclave.keyIdentifier }

  func assertion(over hash: Bytes32) throws -> [UInt8] { try enclave.assert(clientDataHash: hash) }

  /// The fields of one upgrade.
  /// - Parameter nonce: a new one where there is none.
  func fields(nonce: Bytes32? = nil) throws -> [String] {
    let nonce = try nonce ?? #require(harness.shared.challenges.issue(loop: 0)).nonce
    let assertion = try enclave.assert(clientDataHash: SHA256.hash(nonce))
    return [
      "\(HeaderName.assertionKeyID): \(identifier.base64)",
      "\(HeaderName.assertionData): \(Base64.encode(assertion.span))",
      "\(HeaderName.assertionNonce): \(Hex.encode(nonce.array.span))",
    ]
  }
}
