/// Issues and judges device tokens under the keys that the store has.
package import Crypto
package import DeviceTokens
package import DeviceWire
internal import PortcullisProtocol
internal import System
package import Time

/// Used by the registry's thread alone.
package final class TokenMint {
  package private(set) var ring: TokenKeyRing {
    // It knows tokens whose keys may be gone.
    didSet { verifier.forget() }
  }
  private let verifier: TokenVerifier

  /// With the keys that are there, or with a first one. What was due while nobody was there is done by `advance`.
  package init(
    _ store: RegistryDatabase, at now: UnixTime, _ verifier: P256Verifier
  ) throws(CallFailure) {
    self.verifier = TokenVerifier(verifier)
    ring = try Self.ring(of: store, at: now)
  }

  /// After the store was opened anew: what was not kept has not happened.
  package func reload(from store: RegistryDatabase, at now: UnixTime) throws(CallFailure) {
    ring = try Self.ring(of: store, at: now)
  }

  private static func ring(
    of store: RegistryDatabase, at now: UnixTime
  ) throws(CallFailure) -> TokenKeyRing {
    let members = try store.tokenKeys()
    if !members.isEmpty {
      guard let ring = TokenKeyRing(members) else {
        throw .store(.broken("the token keys are no ring of keys"))
      }
      return ring
    }
    let ring = TokenKeyRing(first: try makeKey(), at: UnixSeconds(now))
    try store.setTokenKeys(ring.members)
    return ring
  }

  /// When `advance` has something to do.
  package var nextChange: UnixTime { UnixTime(ring.nextChange) }

  /// Does what is due with the keys; true when there is a new set to be published.
  package func advance(_ store: RegistryDatabase, to now: UnixTime) throws(CallFailure) -> Bool {
    var advanced = ring
    let hasChanged = try advanced.advance(to: UnixSeconds(now), makeKey: Self.makeKey)
    if hasChanged {
      try store.setTokenKeys(advanced.members)
      ring = advanced
    }
    return hasChanged
  }

  /// By an operator's order; the new set is to be published.
  func replaceKeys(
    in store: RegistryDatabase, at now: UnixTime, endingTokens: Bool
  ) throws(CallFailure) {
    var replaced = ring
    replaced.replace(with: try Self.makeKey(), at: UnixSeconds(now), endingTokens: endingTokens)
    try store.setTokenKeys(replaced.members)
    ring = replaced
  }

  private static func makeKey() throws(CallFailure) -> TokenKey {
    do throws(IssuingError) { return try .generate() } catch {
      throw .store(.broken("no key for tokens: \(error)"))
    }
  }

  /// - Parameter audience: `.gate`, or one of the operator's.
  package func issue(
    for device: DeviceRecord, audience: Audience, issuer: String, now: UnixTime, entropy: some Entropy
  ) throws(CallFailure) -> IssuedToken {
    let issuedAt = UnixSeconds(now)
    let life = audience.isGate ? DeviceToken.longestLife : DeviceToken.longestLifeElsewhere
    let token = DeviceToken(
      issuer: issuer, device: device.id, audience: audience.isGate ? issuer : audience.text,
      issuedAt: issuedAt, expiresAt: issuedAt + life,
      identifier: TokenIdentifier(series: device.tokenSeries, entropy: entropy),
      deviceKey: KeyThumbprint(device.keys.device.point), level: device.level,
      userVerification: device.verification, platform: device.platform, appVersion: device.appVersion,
      attestedAt: device.attestedAt.map { UnixSeconds($0) })
    do throws(IssuingError) {
      return IssuedToken(text: try ring.issue(token), expiresAt: token.expiresAt)
    } catch {
      throw .refused(.internalError, "token_signing")
    }
  }

  /// What a token says, which may not be true any more.
  package func read(
    _ text: Span<UInt8>, issuer: String, audiences: [String], now: UnixTime
  ) throws(TokenRejection) -> DeviceToken {
    try verifier.verify(text, under: ring, issuer: issuer, audiences: audiences, now: UnixSeconds(now))
  }
}

package struct IssuedToken: Sendable {
  package let text: String
  package let expiresAt: UnixSeconds
}

extension UnixTime {
  package init(_ seconds: UnixSeconds) {
    let (milliseconds, overflow) = seconds.value.multipliedReportingOverflow(by: 1000)
    self.init(milliseconds: overflow ? .max : milliseconds)
  }
}
