/// ES256 of JOSE and P-256 keys as scalars, against the examples of RFC 7515 and RFC 6979.
import Testing

@testable import Bytes
@testable import Crypto

@Suite struct ES256Tests {
  private static func decoded(_ text: String) -> [UInt8] {
    guard let bytes = Base64.decode(Array(text.utf8).span) else { fatalError("not base64url") }
    return bytes
  }

  private static func key(_ scalar: [UInt8]) throws -> SigningKey {
    try SigningKey.p256(scalar: PrivateKeyText(copying: scalar.span))
  }

  private static func bytes(of text: PrivateKeyText) -> [UInt8] {
    // The buffer is the object's own, and is copied.
    unsafe text.withPointer { unsafe Array(UnsafeBufferPointer(start: $0, count: text.count)) }
  }

  /// RFC 7515 A.3.
  static let scalar = decoded("jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI")
  static let x = decoded("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
  static let y = decoded("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
  static let signed =
    "eyJhbGciOiJFUzI1NiJ9"
    + ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
  static let signature = decoded(
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")

  @Test func exampleOfJOSE() throws {
    let point = try Self.key(Self.scalar).point()
    #expect(point.x.array == Self.x && point.y.array == Self.y)
    let digest = SHA256.hash(Array(Self.signed.utf8).span)
    let verifier = P256Verifier()
    func isValid(_ bytes: [UInt8]) throws -> Bool {
      let read = ES256Signature(bytes.span)
      let signature = try #require(read)
      return verifier.isValidSignature(signature, digest: digest, by: point)
    }
    #expect(try isValid(Self.signature))
    for index in Self.signature.indices {
      var changed = Self.signature
      changed[index] ^= 1
      #expect(try !isValid(changed), "byte \(index)")
    }
    let zero = [UInt8](repeating: 0, count: 32)
    #expect(try !isValid(zero + Self.signature[32...]))
    #expect(try !isValid(Self.signature[..<32] + zero))
    #expect(try !isValid(SignatureTests.order + Self.signature[32...]))
  }

  @Test(arguments: [0, 1, 63, 65, 72]) func otherLengthsAreNone(count: Int) {
    let bytes = [UInt8](repeating: 1, count: count)
    let signature = ES256Signature(bytes.span)
    #expect(signature == nil)
  }

  /// Whatever r and s begin with, both forms are of the same numbers.
  @Test(
    arguments: [
      ([0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x7F], 1, 0x7F),
      ([0x30, 0x08, 0x02, 0x02, 0x00, 0x80, 0x02, 0x02, 0x00, 0xFF], 0x80, 0xFF),
    ] as [([UInt8], UInt8, UInt8)])
  func shortNumbers(der: [UInt8], r: UInt8, s: UInt8) throws {
    let read = ES256Signature(der: der.span)
    let signature = try #require(read)
    let zeros = [UInt8](repeating: 0, count: 31)
    #expect(signature.bytes == zeros + [r] + zeros + [s])
    #expect(signature.der == der)
  }

  @Test func longNumbers() throws {
    let der = SignatureTests.signature
    let read = ES256Signature(der: der.span)
    let signature = try #require(read)
    #expect(signature.bytes == SignatureTests.r + SignatureTests.s)
    #expect(signature.der == der)
    for count in der.indices {
      let cut = Array(der[..<count])
      let none = ES256Signature(der: cut.span)
      #expect(none == nil)
    }
  }

  @Test func keysGoThroughTheirScalar() throws {
    let verifier = P256Verifier()
    let message = Array("sample".utf8)
    for _ in 0..<16 {
      let made = try SigningKey.generate(.p256)
      let scalar = try made.scalar()
      let again = try SigningKey.p256(scalar: scalar)
      let (sameScalar, samePoint) = (try again.scalar(), try again.point())
      let point = try made.point()
      #expect(sameScalar == scalar && samePoint == point)
      let signature = try again.signES256(message)
      #expect(verifier.isValidSignature(signature, digest: SHA256.hash(message.span), by: point))
    }
    #expect(try Self.bytes(of: Self.key(Self.scalar).scalar()) == Self.scalar)
  }

  /// What is no scalar: of another length, zero, the order and above.
  @Test(arguments: [
    [], [UInt8](repeating: 1, count: 31), [UInt8](repeating: 1, count: 33), [UInt8](repeating: 0, count: 32),
    SignatureTests.order, [UInt8](repeating: 0xFF, count: 32),
  ])
  func noScalar(bytes: [UInt8]) {
    #expect(throws: IssuingError.self) { _ = try Self.key(bytes).point() }
  }

  @Test func smallestAndGreatestScalar() throws {
    let one = [UInt8](repeating: 0, count: 31) + [1]
    var greatest = SignatureTests.order
    greatest[31] -= 1
    // The group's base point and its negative (SEC 2 §2.4.2): the same x.
    #expect(try Self.key(one).point().x == Self.key(greatest).point().x)
    #expect(try Self.key(one).point().y != Self.key(greatest).point().y)
  }

  @Test func anotherCurveHasNone() throws {
    let key = try SigningKey.generate(.p384)
    var failures = 0
    do { _ = try key.scalar() } catch { failures += 1 }
    do { _ = try key.signES256([1]) } catch { failures += 1 }
    do { _ = try key.point() } catch { failures += 1 }
    #expect(failures == 3)
  }
}
