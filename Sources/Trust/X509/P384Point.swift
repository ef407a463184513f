/// Points on P-384, as keys of certificates have them.
internal import Bytes

package enum P384Point {
  /// The 97 bytes of an uncompressed point, of a `SubjectPublicKeyInfo` with the named curve (RFC 5480 §2), else nil. That
  /// it lies on the curve is not checked.
  package static func x963(subjectPublicKeyInfo whole: Span<UInt8>) -> [UInt8]? {
    guard whole.count == head.count + 97, whole.startsWith(head), whole[head.count] == 0x04 else {
      return nil
    }
    return whole.extracting(head.count..<whole.count).array
  }

  /// SEQUENCE { SEQUENCE { id-ecPublicKey, secp384r1 }, BIT STRING } up to the point.
  private static let head: [UInt8] = [
    0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B, 0x81,
    0x04, 0x00, 0x22, 0x03, 0x62, 0x00,
  ]
}
