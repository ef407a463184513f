/// The algorithms by which certificates of a chain are signed: ECDSA and RSA PKCS#1 v1.5, with SHA-2 (RFC 5758 §3.2,
/// RFC 8017 §A.2.4).
internal import Bytes
internal import Crypto
internal import X509

struct SignatureAlgorithm {
  let family: IssuerKey.Family
  let digest: SignatureDigest

  /// From both `AlgorithmIdentifier`s, which are to be the same; parameters are absent or NULL. Nil for others.
  init?(_ outer: Span<UInt8>, inner: Span<UInt8>) {
    guard outer.isEqual(to: inner), let identifier = Self.identifier(outer) else { return nil }
    let content = outer.extracting(identifier)
    guard let known = Self.known.first(where: { content.isEqual(to: $0.identifier) }) else { return nil }
    family = known.family
    digest = known.digest
  }

  private static func identifier(_ whole: Span<UInt8>) -> Range<Int>? {
    do throws(DERError) {
      var outer = DERReader(whole)
      var fields = DERReader(whole, in: try outer.next(.sequence).content)
      let identifier = try fields.next(.objectIdentifier).content
      _ = try fields.nextIfPresent(.universal(5))
      try fields.expectEnd()
      return identifier
    } catch {
      return nil
    }
  }

  private static let known: [(identifier: [UInt8], family: IssuerKey.Family, digest: SignatureDigest)] = {
    let ecdsa: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03]
    let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01]
    return [
      (ecdsa + [2], .ecdsa, .sha256), (ecdsa + [3], .ecdsa, .sha384), (ecdsa + [4], .ecdsa, .sha512),
      (rsa + [11], .rsa, .sha256), (rsa + [12], .rsa, .sha384), (rsa + [13], .rsa, .sha512),
    ]
  }()
}

extension IssuerKey {
  /// From a whole `SubjectPublicKeyInfo`; nil for what signs nothing here: other curves, compressed points, curves by their
  /// parameters, RSA below 2,048 or above 8,192 bits.
  init?(subjectPublicKeyInfo whole: Span<UInt8>) {
    if let point = P256Point(subjectPublicKeyInfo: whole) {
      self = .p256(point: point.x963)
    } else if let point = P384Point.x963(subjectPublicKeyInfo: whole) {
      self = .p384(point: point)
    } else if let key = Self.rsa(whole) {
      self = key
    } else {
      return nil
    }
  }

  /// SEQUENCE { SEQUENCE { rsaEncryption, NULL }, BIT STRING of SEQUENCE { n, e } } (RFC 3279 §2.3.1).
  private static func rsa(_ whole: Span<UInt8>) -> IssuerKey? {
    do throws(DERError) {
      var outer = DERReader(whole)
      var fields = DERReader(whole, in: try outer.next(.sequence).content)
      guard whole.extracting(try fields.next(.sequence).whole).isEqual(to: rsaEncryption) else { return nil }
      let bits = try fields.next(.bitString).content
      try fields.expectEnd()
      guard whole[bits.lowerBound] == 0 else { return nil }
      try DERWalk.check(whole, in: bits.dropFirst())
      var inner = DERReader(whole, in: bits.dropFirst())
      var numbers = DERReader(whole, in: try inner.next(.sequence).content)
      let modulus = magnitude(whole.extracting(try numbers.next(.integer).content))
      let exponent = magnitude(whole.extracting(try numbers.next(.integer).content))
      try numbers.expectEnd()
      guard let modulus, let exponent, let first = modulus.first, let last = exponent.last else { return nil }
      let count = modulus.count * 8 - first.leadingZeroBitCount
      // A long exponent is there to make the verifier work.
      guard (2048...8192).contains(count), last & 1 == 1, exponent != [1], exponent.count <= 8 else {
        return nil
      }
      return .rsa(modulus: modulus, exponent: exponent)
    } catch {
      return nil
    }
  }

  /// Without a leading zero; nil below zero.
  private static func magnitude(_ content: Span<UInt8>) -> [UInt8]? {
    guard content[0] < 0x80 else { return nil }
    return content.extracting((content[0] == 0 ? 1 : 0)..<content.count).array
  }

  private static let rsaEncryption: [UInt8] = [
    0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
  ]
}
