/// The one DER form of `ECDSA-Sig-Value` (RFC 3279 §2.2.3), checked before OpenSSL sees a signature.
package enum ECDSASignature {
  /// Whether `der` is exactly SEQUENCE { INTEGER r, INTEGER s }, both minimal, positive and no longer than
  /// a coordinate of the curve (32 bytes for P-256, 48 for P-384). Whether they are below the group's order
  /// is for the verification. High s is allowed: Apple's devices make no difference.
  package static func isWellFormed(_ der: Span<UInt8>, coordinateBytes: Int) -> Bool {
    // Two integers of a 48-byte curve take 102 bytes, so lengths are always one byte.
    guard der.count >= 8, der.count <= 6 + 2 * (coordinateBytes + 1), der.count < 130,
      der[0] == 0x30, Int(der[1]) == der.count - 2,
      let afterR = positiveInteger(der, at: 2, coordinateBytes: coordinateBytes),
      let afterS = positiveInteger(der, at: afterR, coordinateBytes: coordinateBytes)
    else { return false }
    return afterS == der.count
  }

  /// Where the integer at `start` ends, or nil when it is not one.
  private static func positiveInteger(_ der: Span<UInt8>, at start: Int, coordinateBytes: Int) -> Int? {
    guard start + 2 < der.count, der[start] == 0x02 else { return nil }
    let length = Int(der[start + 1])
    let end = start + 2 + length
    guard length >= 1, length <= coordinateBytes + 1, end <= der.count else { return nil }
    let first = der[start + 2]
    guard first < 0x80 else { return nil }
    if first == 0 {
      // A leading zero is there to keep the next byte's high bit from being a sign, or the number is zero.
      guard length > 1, der[start + 3] >= 0x80 else { return nil }
    } else if length > coordinateBytes {
      return nil
    }
    return end
  }
}
