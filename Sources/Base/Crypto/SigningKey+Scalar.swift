/// A P-256 signing key as its scalar, 32 bytes, which is how a store keeps one (RFC 5915 §3).
package import Bytes
internal import COpenSSL

extension SigningKey {
  /// Throws unless the scalar has 32 bytes, is not zero and is below the group's order.
  package static func p256(scalar: PrivateKeyText) throws(IssuingError) -> SigningKey {
    guard scalar.count == Int(PORTCULLIS_P256_SCALAR_BYTES) else { throw .unsupportedKey }
    ERR_clear_error()
    // 32 bytes, as was just seen; they are only read before the call returns.
    guard let key = unsafe scalar.withPointer({ unsafe portcullis_p256_from_scalar($0) }) else {
      throw .failed("make a key of its scalar")
    }
    return unsafe SigningKey(owning: key, .p256)
  }

  /// Throws for a key on another curve.
  package func scalar() throws(IssuingError) -> PrivateKeyText {
    ERR_clear_error()
    var bytes = [UInt8](repeating: 0, count: Int(PORTCULLIS_P256_SCALAR_BYTES))
    defer { wipe(&bytes) }
    // The call writes those 32 bytes or none.
    guard unsafe portcullis_p256_scalar(key, &bytes) == 1 else { throw .unsupportedKey }
    return PrivateKeyText(copying: bytes.span)
  }

  /// The public point of a key on P-256.
  package func point() throws(IssuingError) -> P256Point {
    let x963 = try publicPoint()
    guard let point = P256Point(x963: x963.span) else { throw .unsupportedKey }
    return point
  }
}
