/// Device tokens: what passes is one of the key's, within the rules, and has one text.
internal import Bytes
internal import Crypto
internal import DeviceWire
@testable internal import DeviceTokens
internal import JSON
internal import System
internal import Time

enum DeviceTokenHarness {
  static let issuer = "https://gate.example"
  static let now = UnixSeconds(UnixTime(milliseconds: 1_771_286_400_000))
  /// A ring of one key that is the same in each run.
  static let ring: TokenKeyRing = {
    let scalar = [UInt8](repeating: 7, count: 32)
    do throws(IssuingError) {
      return TokenKeyRing(first: try TokenKey.read(scalar: PrivateKeyText(copying: scalar.span)), at: now)
    } catch {
      fatalError("no key: \(error)")
    }
  }()

  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let verdict = verify(bytes)
    switch verdict {
    case .success(let token): try judge(bytes, token)
    case .failure(.signature):
      // A fuzzer signs nothing: what it has made is signed as it stands, and judged once more.
      guard let signed = signed(bytes) else {
        throw BrokenProperty("a signature is wrong, and nothing is signed")
      }
      if case .success(let token) = verify(signed) { try judge(signed, token) }
      return .refused
    case .failure: return .refused
    }
    return .accepted
  }

  private static func verify(_ bytes: [UInt8]) -> Result<DeviceToken, TokenRejection> {
    let verifier = TokenVerifier(P256Verifier())
    do throws(TokenRejection) {
      return .success(
        try verifier.verify(bytes.span, under: ring, issuer: issuer, audiences: [issuer], now: now))
    } catch {
      return .failure(error)
    }
  }

  private static func signed(_ bytes: [UInt8]) -> [UInt8]? {
    guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    let input = Array(bytes[..<dot])
    guard let signature = try? ring.current.key.signES256(input) else { return nil }
    return input + [UInt8(ascii: ".")] + Array(Base64URL.encode(signature.bytes).utf8)
  }

  private static func judge(_ bytes: [UInt8], _ token: DeviceToken) throws(BrokenProperty) {
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
    try require(parts.count == 3 && bytes.count <= DeviceToken.largest, "of another form")
    for part in parts {
      let decoded = Base64URL.decode(part.span)
      try require(decoded.map(Base64URL.encode) == String(decoding: part, as: UTF8.self), "another text")
    }
    let middle = parts[1]
    guard let decoded = Base64URL.decode(middle.span),
      let claims = (try? JSONValue(parsing: decoded.span, depthLimit: 8))?.object
    else { throw BrokenProperty("claims that are no object") }
    try require(claims["iss"]?.string == issuer && claims["aud"]?.string == issuer, "for somebody else")
    try require(claims["sub"]?.string == token.device.text, "of another device")
    guard let issued = claims["iat"]?.integer, let expires = claims["exp"]?.integer else {
      throw BrokenProperty("without an end")
    }
    try require(issued <= now.value + 60 && expires > now.value && expires - issued <= 600, "not now")
    guard let again = try? ring.issue(token) else { throw BrokenProperty("cannot be issued") }
    if again.utf8.count <= DeviceToken.largest {
      try require((try? verify(Array(again.utf8)).get()) == token, "another token when issued")
    }
  }
}
