/// Keys by which certificates of a chain are signed, as `SubjectPublicKeyInfo`s have them.
import Crypto
import Testing

@testable import AndroidKey

@Suite struct IssuerKeyTests {
  private static let rsaEncryption = DERWriter.sequence(
    DERWriter.objectIdentifier([1, 2, 840, 113549, 1, 1, 1]), DERWriter.element(0x05, []))
  private static let modulus = DERWriter.integer(magnitude: [UInt8](repeating: 0xAB, count: 256))
  private static let exponent = DERWriter.integer(65_537)

  private func key(_ whole: [UInt8]) -> IssuerKey? { IssuerKey(subjectPublicKeyInfo: whole.span) }

  @Test func anRSAKey() {
    let numbers = DERWriter.bitString(DERWriter.sequence(Self.modulus, Self.exponent))
    let found = key(DERWriter.sequence(Self.rsaEncryption, numbers))
    #expect(found == .rsa(modulus: [UInt8](repeating: 0xAB, count: 256), exponent: [1, 0, 1]))
  }

  /// In each of the places where something more could stand.
  @Test func nothingMoreThanAnRSAKey() {
    let more = DERWriter.element(0x05, [])
    let numbers = DERWriter.sequence(Self.modulus, Self.exponent)
    for whole in [
      DERWriter.sequence(Self.rsaEncryption, DERWriter.bitString(numbers), more),
      DERWriter.sequence(Self.rsaEncryption, DERWriter.bitString(numbers + more)),
      DERWriter.sequence(
        Self.rsaEncryption, DERWriter.bitString(DERWriter.sequence(Self.modulus, Self.exponent, more))),
    ] {
      #expect(key(whole) == nil)
    }
  }

  @Test(arguments: [SigningKey.Curve.p256, .p384])
  func pointsAreWhole(curve: SigningKey.Curve) throws {
    let made = try SigningKey.generate(curve)
    let (spki, point) = (try made.subjectPublicKeyInfo(), try made.publicPoint())
    #expect(key(spki) == (curve == .p256 ? .p256(point: point) : .p384(point: point)))
    #expect(key(spki + [0]) == nil && key(Array(spki.dropLast())) == nil)
    // A hybrid encoding, which has as many bytes.
    var hybrid = spki
    hybrid[spki.count - point.count] = 0x06
    #expect(key(hybrid) == nil)
  }
}
