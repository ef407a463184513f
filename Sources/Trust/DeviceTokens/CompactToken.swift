/// The compact serialization of a signed token (RFC 7515 §7.1): what it is signed over, and its parts, not yet trusted.
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import JSON

struct UnverifiedToken {
  let keyIdentifier: String
  let claims: [UInt8]
  let signature: ES256Signature
  /// SHA-256 of the first two parts as they came.
  let digest: Bytes32

  static let type = "portcullis-device+jwt"
  static let algorithm = "ES256"

  /// One form is read, the one that is written here: whatever else JOSE allows is a header that is not ours.
  init(_ token: Span<UInt8>) throws(TokenRejection) {
    guard token.count <= DeviceToken.largest else { throw .size }
    var dots: [Int] = []
    for index in token.indices where token[index] == UInt8(ascii: ".") { dots.append(index) }
    guard dots.count == 2, let header = Base64URL.decode(token.extracting(..<dots[0])),
      let claims = Base64URL.decode(token.extracting((dots[0] + 1)..<dots[1])),
      let ending = Base64URL.decode(token.extracting((dots[1] + 1)...)),
      let signature = ES256Signature(ending.span)
    else { throw .form }
    keyIdentifier = try Self.keyIdentifier(inHeader: header)
    self.claims = claims
    self.signature = signature
    digest = SHA256.hash(token.extracting(..<dots[1]))
  }

  /// Never looks at a key, or an address of one, that a header brings along.
  private static func keyIdentifier(inHeader bytes: [UInt8]) throws(TokenRejection) -> String {
    // Nobody has signed it yet: no more is read than it may have.
    guard let header = (try? JSONValue(parsing: bytes.span, depthLimit: 1, valueLimit: 4))?.object,
      let algorithm = header["alg"]?.string, let type = header["typ"]?.string,
      let identifier = header["kid"]?.string, header.members.count == 3
    else { throw .header }
    guard algorithm.isSameText(as: Self.algorithm) else { throw .algorithm }
    guard type.isSameText(as: Self.type) else { throw .type }
    return identifier
  }

  static func signingInput(_ claims: [UInt8], by key: TokenKey) -> [UInt8] {
    let header = #"{"alg":"\#(algorithm)","kid":"\#(key.identifier)","typ":"\#(type)"}"#
    return Array("\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(claims))".utf8)
  }
}
