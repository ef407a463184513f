/// Device tokens: what is issued is accepted until its end, and nothing else is.
import Bytes
import Crypto
import DeviceWire
import JSON
import System
import Testing
import Time

@testable import DeviceTokens

@Suite struct TokenTests {
  let key: TokenKey
  let ring: TokenKeyRing

  init() throws {
    key = try TokenKey.generate()
    ring = TokenKeyRing(first: key, at: noon)
  }

  private func header(_ change: (String) -> String = { $0 }) -> String {
    change(#"{"alg":"ES256","kid":"\#(key.identifier)","typ":"portcullis-device+jwt"}"#)
  }

  private func claims() throws -> String { String(decoding: try token().claims, as: UTF8.self) }

  @Test func issuedAndAccepted() throws {
    var full = try token()
    #expect(try verify(ring.issue(full), under: ring) == full)
    full.appVersion = nil
    full.attestedAt = nil
    full.level = .bare
    full.userVerification = .none
    full.platform = .android
    let text = try ring.issue(full)
    #expect(try verify(text, under: ring, at: at(599)) == full)
    #expect(text.utf8.count < DeviceToken.largest)
  }

  @Test func theHeaderIsFixed() throws {
    let text = try ring.issue(token())
    let part = text.prefix { $0 != "." }
    let decoded = Base64URL.decode(Array(part.utf8).span)
    #expect(String(decoding: try #require(decoded), as: UTF8.self) == header())
  }

  /// A header of another form, under our own key: every way in which JOSE can be talked into something.
  @Test(arguments: [
    ("ES256", "none", TokenRejection.algorithm), ("ES256", "HS256", .algorithm),
    ("ES256", "ES384", .algorithm),
    ("ES256", "es256", .algorithm), ("ES256", "ES256 ", .algorithm),
    ("portcullis-device+jwt", "JWT", .type), ("portcullis-device+jwt", "Portcullis-device+jwt", .type),
    (#""kid":""#, #""kid":"x"#, .key),
    (#","typ""#, #","crit":[],"typ""#, .header), (#","typ""#, #","jku":"https://x.example","typ""#, .header),
    (#","typ""#, #","b64":false,"typ""#, .header), (#","typ""#, #","alg":"ES256","typ""#, .header),
    (#","typ":"portcullis-device+jwt""#, "", .header), (#""alg":"ES256","#, "", .header),
    (#""ES256""#, "null", .header), (#""ES256""#, #"["ES256"]"#, .header), ("}", "} ", nil),
    ("}", "}}", .header),
  ])
  func headers(old: String, new: String, rejection: TokenRejection?) throws {
    let changed = header { text in
      guard let range = text.firstRange(of: old) else { return text }
      return text.replacingCharacters(range, with: new)
    }
    #expect(changed != header())
    let text = try signed(header: changed, claims: claims(), by: key)
    guard let rejection else {
      _ = try verify(text, under: ring)
      return
    }
    #expect(throws: rejection) { _ = try verify(text, under: ring) }
  }

  /// Claims of another form, under our own key.
  @Test(arguments: [
    (#""iss":"https://gate.example""#, #""iss":"https://other.example""#, TokenRejection.issuer),
    (#""aud":"https://gate.example""#, #""aud":"https://gate.example/""#, .audience),
    (#""aud":"https://gate.example""#, #""aud":["https://gate.example"]"#, .claims),
    ("6f9619ff", "6F9619FF", .claims), (#""iat":1771286400"#, #""iat":1771286400.0"#, .claims),
    (#""iat":1771286400"#, #""iat":"1771286400""#, .claims), (#""iat":1771286400"#, #""iat":-1"#, .claims),
    (#""iat":1771286400"#, #""iat":1771286461"#, .issued),
    (#""iat":1771286400"#, #""iat":1771286399"#, .issued),
    (#""exp":1771287000"#, #""exp":1771287001"#, .issued),
    (#""exp":1771287000"#, #""exp":1771286400"#, .expired),
    (#""exp":1771287000,"#, "", .claims), (#""exp":1771287000"#, #""exp":null"#, .claims),
    (#""exp":1771287000"#, #""exp":9007199254740992"#, .claims),
    (#""level":"app_attested""#, #""level":"App_attested""#, .claims),
    (#""level":"app_attested""#, #""level":"bare","level":"app_attested""#, .claims),
    (#""uv":"app""#, #""uv":true"#, .claims), (#""platform":"ios""#, #""platform":"other""#, .claims),
    (#""app_version":"2.1""#, #""app_version":2"#, .claims),
    (#""attested_at":1"#, #""attested_at":-1"#, .claims),
    (#"{"jkt":"#, #"{"jwk":"#, .claims), (#""jti":""#, #""jti":"A"#, .claims),
  ])
  func otherClaims(old: String, new: String, rejection: TokenRejection) throws {
    let before = try claims()
    guard let range = before.firstRange(of: old) else {
      Issue.record("no \(old) in \(before)")
      return
    }
    let text = try signed(header: header(), claims: before.replacingCharacters(range, with: new), by: key)
    #expect(throws: rejection) { _ = try verify(text, under: ring) }
  }

  @Test func unknownClaimsAreIgnored() throws {
    let more = try claims().dropLast() + #","later":{"than":[null]}}"#
    let text = try signed(header: header(), claims: String(more), by: key)
    #expect(try verify(text, under: ring).issuer == issuer)
  }

  @Test func lifeIsToTheSecond() throws {
    let text = try ring.issue(token())
    _ = try verify(text, under: ring, at: at(-60))
    #expect(throws: TokenRejection.issued) { _ = try verify(text, under: ring, at: at(-61)) }
    _ = try verify(text, under: ring, at: at(599))
    #expect(throws: TokenRejection.expired) { _ = try verify(text, under: ring, at: at(600)) }
  }

  @Test func anotherKeySignsNothing() throws {
    let other = try TokenKey.generate()
    let text = try signed(header: header(), claims: claims(), by: other)
    #expect(throws: TokenRejection.signature) { _ = try verify(text, under: ring) }
    let own = try TokenKeyRing(first: other, at: noon).issue(token())
    #expect(throws: TokenRejection.key) { _ = try verify(own, under: ring) }
  }

  /// A MAC under the public key, which everybody has, where a signature should be.
  @Test func publicKeyIsNoSecret() throws {
    for algorithm in ["HS256", "ES256"] {
      let changed = header { $0.replacingCharacters($0.firstRange(of: "ES256"), with: algorithm) }
      let input = "\(Base64URL.encode(Array(changed.utf8))).\(Base64URL.encode(Array(try claims().utf8)))"
      for secret in [key.point.x963, Array(key.point.pem.utf8), ring.jwks] {
        let mac = HMACSHA256(key: secret.span).authenticate(Array(input.utf8).span)
        for ending in [mac.array, mac.array + mac.array, []] {
          #expect(throws: TokenRejection.self) {
            _ = try verify("\(input).\(Base64URL.encode(ending))", under: ring)
          }
        }
      }
    }
  }

  /// Each bit of a token counts, and each of its texts is the only one for its bytes.
  @Test func everyCharacterCounts() throws {
    let text = Array(try ring.issue(token()).utf8)
    func isRefused(_ bytes: [UInt8]) -> Bool {
      do throws(TokenRejection) {
        _ = try verify(String(decoding: bytes, as: UTF8.self), under: ring)
        return false
      } catch { return true }
    }
    #expect(!isRefused(text))
    for index in text.indices {
      var changed = text
      changed[index] ^= 1
      #expect(isRefused(changed), "\(index) changed")
      changed = text
      changed.remove(at: index)
      #expect(isRefused(changed), "\(index) left out")
    }
    for count in text.indices { #expect(isRefused(Array(text[..<count]))) }
    for more in ["=", ".", "A", "AAAA", " ", "\n", ".AAAA", "+"] {
      #expect(isRefused(text + Array(more.utf8)), "\(more)")
    }
  }

  @Test func lengthIsBounded() throws {
    var long = try token()
    let length = try ring.issue(long).utf8.count
    // Each three bytes of a claim are four of the token.
    for (more, isAccepted) in [(DeviceToken.largest, true), (DeviceToken.largest + 4, false)] {
      long.appVersion = String(repeating: "x", count: (more - length) / 4 * 3 + 3)
      let text = try ring.issue(long)
      #expect((text.utf8.count <= DeviceToken.largest) == isAccepted)
      if isAccepted {
        #expect(try verify(text, under: ring) == long)
      } else {
        #expect(throws: TokenRejection.size) { _ = try verify(text, under: ring) }
      }
    }
  }

  @Test func audiences() throws {
    var elsewhere = try token()
    elsewhere.audience = "forum"
    elsewhere.expiresAt = at(DeviceToken.longestLifeElsewhere)
    let text = try ring.issue(elsewhere)
    #expect(throws: TokenRejection.audience) { _ = try verify(text, under: ring) }
    #expect(try verify(text, under: ring, audiences: [issuer, "forum"]) == elsewhere)
  }

  /// What was found good before is judged again by its time and audience, and forgotten when there is too much.
  @Test func knownTokens() throws {
    let verifier = TokenVerifier(P256Verifier(), capacity: 2)
    let texts = try (0..<7).map { series in Array(try ring.issue(token(series: series)).utf8) }
    func series(_ text: [UInt8], audiences: [String] = [issuer], at now: UnixSeconds = noon) throws -> UInt32
    {
      try verifier.verify(text.span, under: ring, issuer: issuer, audiences: audiences, now: now)
        .identifier.series
    }
    for _ in 0..<3 {
      for (index, text) in texts.enumerated() { #expect(try series(text) == UInt32(index)) }
    }
    #expect(throws: TokenRejection.expired) { _ = try series(texts[6], at: at(600)) }
    #expect(throws: TokenRejection.audience) { _ = try series(texts[6], audiences: ["forum"]) }
  }

  @Test func identifiers() throws {
    let one = TokenIdentifier(series: 0x0102_0304, entropy: KernelEntropy())
    #expect(one.text.utf8.count == 22)
    #expect(TokenIdentifier(one.text) == one)
    #expect(
      TokenIdentifier(series: 1, entropy: KernelEntropy())
        != TokenIdentifier(series: 1, entropy: KernelEntropy()))
    for text in ["", String(one.text.dropLast()), one.text + "A", one.text + "=="] {
      #expect(TokenIdentifier(text) == nil)
    }
  }

  /// RFC 7638 has an example for RSA only; this one is of RFC 9449 §4.1 and §6.1.
  @Test func thumbprint() throws {
    let x = Base64URL.decode(Array("l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs".utf8).span)
    let y = Base64URL.decode(Array("9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA".utf8).span)
    let point = P256Point(
      x: try #require(x.flatMap { Bytes32($0) }), y: try #require(y.flatMap { Bytes32($0) }))
    let thumbprint = KeyThumbprint(point)
    #expect(thumbprint.text == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    #expect(KeyThumbprint(thumbprint.text) == thumbprint)
    #expect(KeyThumbprint(thumbprint.text + "=") == nil)
  }
}

extension String {
  /// The text with that part of it replaced, or as it is without one.
  func replacingCharacters(_ range: Range<String.Index>?, with text: String) -> String {
    guard let range else { return self }
    return String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
  }
}
