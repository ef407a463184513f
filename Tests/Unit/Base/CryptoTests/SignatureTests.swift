/// ECDSA on P-256: RFC 6979 A.2.5, and the DER of signatures.
import Testing

@testable import Bytes
@testable import Crypto

private func bytes(_ hex: String) -> [UInt8] {
  guard let bytes = Hex.decode(Array(hex.utf8).span) else { fatalError("not hex") }
  return bytes
}

@Suite struct SignatureTests {
  static let point: P256Point = {
    let x963 = bytes(
      "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
        + "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299")
    guard let point = P256Point(x963: x963.span) else { fatalError("not a point") }
    return point
  }()
  /// RFC 6979 A.2.5 with SHA-256, message "sample".
  static let r = bytes("efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716")
  static let s = bytes("f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8")
  static let signature: [UInt8] = [0x30, 0x46, 0x02, 0x21, 0x00] + r + [0x02, 0x21, 0x00] + s
  static let digest = SHA256.hash(Array("sample".utf8).span)
  /// The order of the group (SEC 2 §2.4.2).
  static let order = bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")

  @Test func example() {
    let verifier = P256Verifier()
    func isValid(_ signature: [UInt8], _ digest: Bytes32 = Self.digest) -> Bool {
      verifier.isValidSignature(signature.span, digest: digest, by: Self.point)
    }
    for _ in 0..<3 { #expect(isValid(Self.signature)) }
    #expect(!isValid(Self.signature, SHA256.hash(Array("test".utf8).span)))
    for index in Self.signature.indices {
      var changed = Self.signature
      changed[index] ^= 1
      #expect(!isValid(changed), "byte \(index)")
    }
    // n - s is the other signature of the same message: here the low one.
    #expect(isValid([0x30, 0x45, 0x02, 0x21, 0x00] + Self.r + [0x02, 0x20] + Self.negated(Self.s)))
    #expect(!isValid([0x30, 0x46, 0x02, 0x21, 0x00] + Self.order + [0x02, 0x21, 0x00] + Self.s))
  }

  /// The same key without its y, before and behind it with it.
  @Test func compressedPoints() {
    let verifier = P256Verifier()
    func isValid(_ point: CompressedP256Point, _ digest: Bytes32 = Self.digest) -> Bool {
      verifier.isValidSignature(Self.signature.span, digest: digest, by: point)
    }
    let point = CompressedP256Point(Self.point)
    #expect(point.isYOdd && point.encoded == [0x03] + Self.point.x963[1..<33])
    for _ in 0..<2 {
      #expect(isValid(point))
      #expect(!isValid(CompressedP256Point(x: point.x, isYOdd: false)))
      #expect(!isValid(point, SHA256.hash(Array("test".utf8).span)))
      let isValidByAll = verifier.isValidSignature(Self.signature.span, digest: Self.digest, by: Self.point)
      #expect(isValidByAll)
    }
    // No point has this x: it is above the field's order.
    #expect(!isValid(CompressedP256Point(x: Bytes32(words: .max, .max, .max, .max), isYOdd: true)))
    #expect(isValid(point))
  }

  private static func negated(_ scalar: [UInt8]) -> [UInt8] {
    var difference = [UInt8](repeating: 0, count: 32)
    var borrow = 0
    for index in (0..<32).reversed() {
      let value = Int(order[index]) - Int(scalar[index]) - borrow
      difference[index] = UInt8(truncatingIfNeeded: value)
      borrow = value < 0 ? 1 : 0
    }
    return difference
  }

  @Test(arguments: [
    P256Point(x: point.x, y: point.x), P256Point(x: Bytes32(), y: Bytes32()),
    P256Point(x: Bytes32(words: .max, .max, .max, .max), y: point.y),
  ])
  func pointsOffTheCurve(off: P256Point) {
    let verifier = P256Verifier()
    func isValid(by point: P256Point) -> Bool {
      verifier.isValidSignature(Self.signature.span, digest: Self.digest, by: point)
    }
    #expect(!verifier.isOnCurve(off))
    #expect(!isValid(by: off))
    // Nothing is left of it, nor of the key before it.
    #expect(verifier.isOnCurve(Self.point))
    #expect(isValid(by: Self.point))
    for _ in 0..<2 { #expect(!isValid(by: off)) }
    #expect(isValid(by: Self.point))
  }

  /// One place for all keys: each signature counts for its own key only, whichever was there before.
  @Test func keysInTurn() throws {
    let verifier = P256Verifier()
    let signers = try (0..<8).map { _ in try Self.signer() }
    for (index, signer) in signers.enumerated() {
      for (other, holder) in signers.enumerated() {
        let isValid = verifier.isValidSignature(signer.signature.span, digest: Self.digest, by: holder.point)
        #expect(isValid == (index == other), "\(index) by \(other)")
      }
    }
  }

  /// A new key's point, and its signature of "sample".
  private static func signer() throws -> (point: P256Point, signature: [UInt8]) {
    let key = try SigningKey.generate(.p256)
    let x963 = try key.publicPoint()
    let signature = try key.sign(Array("sample".utf8))
    let point = P256Point(x963: x963.span)
    return (try #require(point), signature)
  }

  private static func isWellFormed(_ der: [UInt8]) -> Bool {
    ECDSASignature.isWellFormed(der.span, coordinateBytes: 32)
  }

  /// What ECDSA-Sig-Value may look like.
  @Test(arguments: [
    ("smallest", [UInt8]([0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01]), true),
    ("7 bytes", [0x30, 0x05, 0x02, 0x01, 0x01, 0x02, 0x00], false),
    ("zero r", [0x30, 0x06, 0x02, 0x01, 0x00, 0x02, 0x01, 0x01], false),
    ("zero s", [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x00], false),
    ("negative s", [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x80], false),
    ("padded s", [0x30, 0x07, 0x02, 0x01, 0x01, 0x02, 0x02, 0x00, 0x01], false),
    ("128 as s", [0x30, 0x07, 0x02, 0x01, 0x01, 0x02, 0x02, 0x00, 0x80], true),
    ("long form", [0x30, 0x81, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01], false),
    ("trailing", [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01, 0x00], false),
    ("third integer", [0x30, 0x09, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01], false),
    ("r takes all", [0x30, 0x06, 0x02, 0x04, 0x01, 0x02, 0x01, 0x01], false),
    ("set", [0x31, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01], false),
    ("bit string", [0x30, 0x06, 0x03, 0x01, 0x01, 0x02, 0x01, 0x01], false),
    ("72 bytes", signature, true),
    ("33 bytes without a zero", [0x30, 0x46, 0x02, 0x21, 0x01] + r + [0x02, 0x21, 0x00] + s, false),
    ("34 bytes", [0x30, 0x47, 0x02, 0x22, 0x00, 0x80] + r + [0x02, 0x21, 0x00] + s, false),
  ])
  func encoding(name: String, der: [UInt8], isWellFormed: Bool) {
    #expect(Self.isWellFormed(der) == isWellFormed, "\(name)")
    for count in 0..<(isWellFormed ? der.count : 0) { #expect(!Self.isWellFormed(Array(der[..<count]))) }
  }
}
