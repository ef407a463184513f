/// Issues device tokens and judges them: one formula, in the order of `TokenRejection`.
package import Crypto
package import DeviceWire
internal import Bytes

extension TokenKeyRing {
  /// Under the key that signs now.
  package func issue(_ token: DeviceToken) throws(IssuingError) -> String {
    let input = UnverifiedToken.signingInput(token.claims, by: current.key)
    let signature = try current.key.signES256(input)
    return "\(String(decoding: input, as: UTF8.self)).\(Base64URL.encode(signature.bytes))"
  }
}

/// One to a thread.
package final class TokenVerifier {
  private let verifier: P256Verifier
  /// Tokens whose signatures were found good, by their hashes: a phone shows its own at each request.
  private var known: [Bytes32: DeviceToken] = [:]
  /// Those of a while ago; what is shown again moves on, the rest is forgotten with them.
  private var old: [Bytes32: DeviceToken] = [:]
  private let capacity: Int

  /// - Parameter capacity: how many tokens are kept in each of two tables, some 500 bytes each.
  package init(_ verifier: P256Verifier, capacity: Int = 8192) {
    self.verifier = verifier
    self.capacity = capacity
  }

  /// - Parameters:
  ///   - audiences: whom it may be for.
  ///   - leeway: how far in the future it may have been issued: a clock may have lost so much at a start.
  package func verify(
    _ text: Span<UInt8>, under ring: TokenKeyRing, issuer: String, audiences: [String], now: UnixSeconds,
    leeway: Int64 = 60
  ) throws(TokenRejection) -> DeviceToken {
    let token = try authenticate(text, under: ring)
    guard token.issuer.isSameText(as: issuer) else { throw .issuer }
    guard audiences.contains(where: token.audience.isSameText) else { throw .audience }
    guard token.issuedAt <= now + leeway, token.expiresAt - token.issuedAt <= DeviceToken.longestLife else {
      throw .issued
    }
    guard now < token.expiresAt else { throw .expired }
    return token
  }

  private func authenticate(
    _ text: Span<UInt8>, under ring: TokenKeyRing
  ) throws(TokenRejection) -> DeviceToken {
    guard text.count <= DeviceToken.largest else { throw .size }
    let hash = SHA256.hash(text)
    if let token = known[hash] { return token }
    if let token = old[hash] {
      remember(token, as: hash)
      return token
    }
    let unverified = try UnverifiedToken(text)
    guard let key = ring.key(identifier: unverified.keyIdentifier) else { throw .key }
    guard verifier.isValidSignature(unverified.signature, digest: unverified.digest, by: key.point) else {
      throw .signature
    }
    let token = try DeviceToken(claims: unverified.claims.span)
    remember(token, as: hash)
    return token
  }

  /// For another ring: what was found good was so under the one before.
  package func forget() {
    (known, old) = ([:], [:])
  }

  private func remember(_ token: DeviceToken, as hash: Bytes32) {
    if known.count >= capacity {
      old = known
      known = [:]
    }
    known[hash] = token
  }
}
