/// Authenticator data as App Attest writes it (WebAuthn §6.1; Apple, "Validating apps that connect to your server").
internal import Bytes

package enum AttestationEnvironment: String, CaseIterable, Sendable {
  case production
  case development

  /// The 16 bytes by which an attestation names its environment.
  package var authenticatorIdentifier: [UInt8] {
    switch self {
    case .production: Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
    case .development: Array("appattestdevelop".utf8)
    }
  }
}

/// What a device of iOS 27 says beside the rest about how the app was launched.
package struct LaunchInformation: Equatable, Sendable {
  package var validationCategory: UInt32
  package var bundleVersion: String

  package init(validationCategory: UInt32, bundleVersion: String) {
    self.validationCategory = validationCategory
    self.bundleVersion = bundleVersion
  }

  var cbor: [UInt8] {
    let littleEndian = (0..<4).map { UInt8(truncatingIfNeeded: validationCategory >> (8 * UInt32($0))) }
    return CBORHeads.map([
      (CBORHeads.text("apple_bundle_version_01"), CBORHeads.text(bundleVersion)),
      (CBORHeads.text("apple_validation_category_01"), CBORHeads.bytes(littleEndian)),
    ])
  }
}

struct AuthenticatorData {
  /// Attested credential data follows; Apple sets it in assertions too, where none does.
  private static let attested: UInt8 = 0x40
  /// A map of extensions follows.
  private static let extended: UInt8 = 0x80

  var appID: String
  var signCount: UInt32
  var launch: LaunchInformation?

  /// 37 bytes, and the extensions when there are any.
  var assertion: [UInt8] { head + (launch?.cbor ?? []) }

  /// The head, the credential with its COSE key, and the extensions when there are any.
  func attestation(_ environment: AttestationEnvironment, _ key: KeyIdentifier, _ point: P256Point) -> [UInt8] {
    let identifier = key.digest.array
    let length = [UInt8(identifier.count >> 8), UInt8(identifier.count & 0xFF)]
    // kty EC2, alg ES256, crv P-256, x, y (RFC 9053 §2.1 and §7.1.1).
    let coseKey = CBORHeads.map([
      (CBORHeads.unsigned(1), CBORHeads.unsigned(2)),
      (CBORHeads.unsigned(3), CBORHeads.negative(6)),
      (CBORHeads.negative(0), CBORHeads.unsigned(1)),
      (CBORHeads.negative(1), CBORHeads.bytes(point.x.array)),
      (CBORHeads.negative(2), CBORHeads.bytes(point.y.array)),
    ])
    return head + environment.authenticatorIdentifier + length + identifier + coseKey + (launch?.cbor ?? [])
  }

  private var head: [UInt8] {
    let flags = Self.attested | (launch == nil ? 0 : Self.extended)
    let count = (0..<4).map { UInt8(truncatingIfNeeded: signCount >> (24 - 8 * UInt32($0))) }
    return sha256(Array(appID.utf8)).array + [flags] + count
  }
}
