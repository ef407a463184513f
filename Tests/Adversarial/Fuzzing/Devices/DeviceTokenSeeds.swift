/// Seeds of device tokens, signed by the harness's key.
internal import Crypto
@testable internal import DeviceTokens
internal import DeviceWire

extension SignedSeed {
  static let deviceTokens: [SignedSeed] = {
    let claims =
      #"{"iss":"\#(DeviceTokenHarness.issuer)","sub":"6f9619ff-8b86-4011-b42d-00cf4fc964ff","#
      + #""aud":"\#(DeviceTokenHarness.issuer)","iat":1771286400,"exp":1771287000,"#
      + #""jti":"AAAAAQECAwQFBgcICQoLDA","cnf":{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"},"#
      + #""level":"app_attested","uv":"app","platform":"ios","app_version":"2.1","attested_at":1771286340}"#
    let typed = #""typ":"portcullis-device+jwt""#
    return [
      SignedSeed(.deviceToken, "accepted-full", token(claims)),
      SignedSeed(
        .deviceToken, "accepted-shortest",
        token(claims.replacing(#","app_version":"2.1","attested_at":1771286340"#, with: ""))),
      SignedSeed(
        .deviceToken, "accepted-unknown-claim",
        token(claims.replacing(#""uv""#, with: #""later":[null,1.5e3],"uv""#))),
      SignedSeed(.deviceToken, "refused-none", token(claims, #""alg":"none",\#(typed)"#)),
      SignedSeed(.deviceToken, "refused-mac", token(claims, #""alg":"HS256",\#(typed)"#)),
      SignedSeed(.deviceToken, "refused-other-type", token(claims, #""alg":"ES256","typ":"JWT""#)),
      SignedSeed(
        .deviceToken, "refused-critical", token(claims, #""alg":"ES256","crit":["exp"],\#(typed)"#)),
      SignedSeed(
        .deviceToken, "refused-expired", token(claims.replacing("1771287000", with: "1771286400"))),
      SignedSeed(
        .deviceToken, "refused-too-long-a-life", token(claims.replacing("1771287000", with: "1771287001"))),
      SignedSeed(
        .deviceToken, "refused-claim-twice", token(claims.replacing(#"{"iss""#, with: #"{"iat":1,"iss""#))),
      SignedSeed(
        .deviceToken, "refused-signature",
        Array(token(claims).dropLast(86)) + [UInt8](repeating: UInt8(ascii: "A"), count: 86)),
      SignedSeed(.deviceToken, "refused-padding", token(claims) + Array("==".utf8)),
    ]
  }()

  /// Without a `kid` of its own, the header has the key's.
  private static func token(
    _ claims: String, _ header: String = #""alg":"ES256","typ":"portcullis-device+jwt""#
  ) -> [UInt8] {
    let key = DeviceTokenHarness.ring.current.key
    let header = #"{"kid":"\#(key.identifier)",\#(header)}"#
    let input = Array("\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(claims.utf8)))".utf8)
    do throws(IssuingError) {
      return input + Array(".\(Base64URL.encode(try key.signES256(input).bytes))".utf8)
    } catch {
      fatalError("no signature: \(error)")
    }
  }
}
