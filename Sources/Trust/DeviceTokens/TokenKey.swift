/// A key that signs tokens, and its public side as others read it.
package import Bytes
package import Crypto
package import DeviceWire

/// Any number of threads may use it at once.
package final class TokenKey: Sendable {
  package let point: P256Point
  package let thumbprint: KeyThumbprint
  private let key: SigningKey

  /// `kid` of what it signs.
  package var identifier: String { thumbprint.text }

  private init(_ key: consuming SigningKey, _ point: P256Point) {
    self.key = key
    self.point = point
    thumbprint = KeyThumbprint(point)
  }

  package static func generate() throws(IssuingError) -> TokenKey {
    let key = try SigningKey.generate(.p256)
    let point = try key.point()
    return TokenKey(key, point)
  }

  /// From 32 bytes; throws for what is no scalar of P-256.
  package static func read(scalar: PrivateKeyText) throws(IssuingError) -> TokenKey {
    let key = try SigningKey.p256(scalar: scalar)
    let point = try key.point()
    return TokenKey(key, point)
  }

  /// What a store keeps, 32 bytes.
  package func scalar() throws(IssuingError) -> PrivateKeyText { try key.scalar() }

  /// For tokens: r and s.
  package func signES256(_ message: [UInt8]) throws(IssuingError) -> ES256Signature {
    try key.signES256(message)
  }

  /// For what else the gate vouches for, such as its audit's head: DER.
  package func sign(_ message: DeviceMessage) throws(IssuingError) -> [UInt8] { try key.sign(message.bytes) }

  /// RFC 7517 §4, RFC 7518 §6.2.1.
  var publicJWK: String {
    #"{\#(KeyThumbprint.requiredMembers(of: point)),"kid":"\#(identifier)","use":"sig","alg":"ES256"}"#
  }
}
