/// What a device token says: a JWT (RFC 7519) about a device, the key that it holds and what vouches for it.
internal import Bytes
package import DeviceWire
package import Time

package struct DeviceToken: Equatable, Sendable {
  /// `iss`: the gate's public URL.
  package var issuer: String
  /// `sub`.
  package var device: DeviceID
  /// `aud`: the issuer itself, or one of the operator's audiences.
  package var audience: String
  package var issuedAt: UnixSeconds
  /// The first second in which it is over.
  package var expiresAt: UnixSeconds
  /// `jti`.
  package var identifier: TokenIdentifier
  /// `cnf.jkt` (RFC 7800 §3, RFC 9449 §6.1): whoever shows the token should also hold this key.
  package var deviceKey: KeyThumbprint
  package var level: Level
  package var userVerification: UserVerification
  package var platform: DevicePlatform
  package var appVersion: String?
  package var attestedAt: UnixSeconds?

  package init(
    issuer: String, device: DeviceID, audience: String, issuedAt: UnixSeconds, expiresAt: UnixSeconds,
    identifier: TokenIdentifier, deviceKey: KeyThumbprint, level: Level, userVerification: UserVerification,
    platform: DevicePlatform, appVersion: String? = nil, attestedAt: UnixSeconds? = nil
  ) {
    self.issuer = issuer
    self.device = device
    self.audience = audience
    self.issuedAt = issuedAt
    self.expiresAt = expiresAt
    self.identifier = identifier
    self.deviceKey = deviceKey
    self.level = level
    self.userVerification = userVerification
    self.platform = platform
    self.appVersion = appVersion
    self.attestedAt = attestedAt
  }

  /// For the gate itself, in seconds.
  package static let longestLife: Int64 = 600
  /// For others, who do not hear of it when it ends early.
  package static let longestLifeElsewhere: Int64 = 300
  /// A whole token's bytes.
  package static let largest = 2048
}

/// A token's own name. It tells the series it is of: when a device's keys or what vouches for them end, its series
/// ends, and so do all tokens of it, to the second and without a list of them.
package struct TokenIdentifier: Hashable, Sendable {
  package let series: UInt32
  private let random: [UInt8]

  package init(series: UInt32, entropy: some Entropy) {
    self.series = series
    random = entropy.bytes(12)
  }

  /// From 22 characters of base64url, else nil.
  package init?(_ text: String) {
    guard let bytes = Base64URL.decode(Array(text.utf8).span), bytes.count == 16 else { return nil }
    series = bytes[..<4].reduce(0) { $0 << 8 | UInt32($1) }
    random = Array(bytes[4...])
  }

  package var text: String {
    Base64URL.encode([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: series >> $0) } + random)
  }
}
