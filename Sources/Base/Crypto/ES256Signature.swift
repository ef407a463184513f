/// ECDSA on P-256 with SHA-256 as JOSE writes it (RFC 7518 §3.4): r and s, 32 bytes each, without any structure.
package import Bytes

/// Any 64 bytes; whether r and s are in 1…n−1 is for the verification. High s is allowed, as in DER.
package struct ES256Signature: Hashable, Sendable {
  package let r: Bytes32
  package let s: Bytes32

  /// Nil unless there are exactly 64 bytes.
  package init?(_ bytes: Span<UInt8>) {
    guard bytes.count == 64, let r = Bytes32(bytes.extracting(..<32)),
      let s = Bytes32(bytes.extracting(32...))
    else { return nil }
    self.r = r
    self.s = s
  }

  /// Nil unless it is the one DER form of two positive integers of at most 32 bytes.
  package init?(der: Span<UInt8>) {
    guard ECDSASignature.isWellFormed(der, coordinateBytes: 32) else { return nil }
    let endOfR = 4 + Int(der[3])
    r = Self.coordinate(der.extracting(4..<endOfR))
    s = Self.coordinate(der.extracting((endOfR + 2)...))
  }

  package var bytes: [UInt8] { r.array + s.array }

  package var der: [UInt8] {
    DERWriter.sequence(DERWriter.integer(magnitude: r.array), DERWriter.integer(magnitude: s.array))
  }

  /// Of an integer's contents: filled up to 32 bytes, or without the zero before a high bit.
  private static func coordinate(_ contents: Span<UInt8>) -> Bytes32 {
    let digits = contents.array.suffix(32)
    let bytes = [UInt8](repeating: 0, count: 32 - digits.count) + digits
    guard let coordinate = Bytes32(bytes) else { fatalError("ES256Signature: not a coordinate") }
    return coordinate
  }
}

extension P256Verifier {
  /// Whether `signature` is over a message whose SHA-256 is `digest` and by the key with this point.
  package func isValidSignature(_ signature: ES256Signature, digest: Bytes32, by point: P256Point) -> Bool {
    isValidSignature(signature.der.span, digest: digest, by: point)
  }
}

extension SigningKey {
  /// ES256 over `message`, by a key on P-256.
  package func signES256(_ message: [UInt8]) throws(IssuingError) -> ES256Signature {
    guard curve == .p256 else { throw .unsupportedKey }
    // Kept in a variable: this compiler breaks on a span of what a throwing call returns.
    let der = try sign(message)
    guard let signature = ES256Signature(der: der.span) else { throw .unsupportedKey }
    return signature
  }
}
