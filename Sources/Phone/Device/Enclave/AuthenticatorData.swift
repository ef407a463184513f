/// Authenticator data as App Attest writes it (WebAuthn §6.1; Apple, "Validating apps that connect to your
/// server").
///
/// Written without the verifier's constants, so that a slip in either shows when one judges the other.
internal import Bytes
internal import CBOR
internal import Crypto
internal import Identity

extension AttestEnvironment {
  /// The 16 bytes by which an attestation names its environment; not the verifier's `aaguid`, as said above.
  fileprivate var authenticatorIdentifier: [UInt8] {
    switch self {
    case .production: Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
    case .development: Array("appattestdevelop".utf8)
    }
  }
}

/// What a device of iOS 27 says beside the rest about how the app was launched.
package struct LaunchClaim: Equatable, Sendable {
  package var validationCategory: UInt32
  package var bundleVersion: String

  package init(validationCategory: UInt32, bundleVersion: String) {
    self.validationCategory = validationCategory
    self.bundleVersion = bundleVersion
  }

  fileprivate var cbor: [UInt8] {
    var encoder = CBOREncoder()
    encoder.beginMap(pairs: 2)
    encoder.append(text: "apple_bundle_version_01")
    encoder.append(text: bundleVersion)
    encoder.append(text: "apple_validation_category_01")
    // Little-endian, unlike all other numbers here.
    encoder.append(bytes: (0..<4).map { UInt8(truncatingIfNeeded: validationCategory >> (8 * UInt32($0))) })
    return encoder.bytes
  }
}

struct AuthenticatorData {
  /// Attested credential data follows; Apple sets it in assertions too, where none does.
  private static let attested: UInt8 = 0x40
  /// A map of extensions follows.
  private static let extended: UInt8 = 0x80

  var appID: String
  var signCount: UInt32
  var launch: LaunchClaim?

  /// 37 bytes, and the extensions when there are any.
  var assertion: [UInt8] { head + (launch?.cbor ?? []) }

  /// The head, the credential with its COSE key, and the extensions when there are any.
  func attestation(_ environment: AttestEnvironment, _ key: KeyIdentifier, _ point: P256Point) -> [UInt8] {
    let identifier = key.digest.array
    let length = [UInt8(identifier.count >> 8), UInt8(identifier.count & 0xFF)]
    return head + environment.authenticatorIdentifier + length + identifier + Self.coseKey(point)
      + (launch?.cbor ?? [])
  }

  /// kty EC2, alg ES256, crv P-256, x, y (RFC 9053 §2.1 and §7.1.1).
  private static func coseKey(_ point: P256Point) -> [UInt8] {
    var encoder = CBOREncoder()
    encoder.beginMap(pairs: 5)
    encoder.append(unsigned: 1)
    encoder.append(unsigned: 2)
    encoder.append(unsigned: 3)
    encoder.append(negative: 6)
    encoder.append(negative: 0)
    encoder.append(unsigned: 1)
    encoder.append(negative: 1)
    encoder.append(bytes: point.x.array)
    encoder.append(negative: 2)
    encoder.append(bytes: point.y.array)
    return encoder.bytes
  }

  private var head: [UInt8] {
    let flags = Self.attested | (launch == nil ? 0 : Self.extended)
    let count = (0..<4).map { UInt8(truncatingIfNeeded: signCount >> (24 - 8 * UInt32($0))) }
    return SHA256.hash(Array(appID.utf8).span).array + [flags] + count
  }
}
