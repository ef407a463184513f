/// Pseudonyms of devices: made as documented, written and read, and of no key that is not one.
import Testing

@testable import Bytes
@testable import Crypto
@testable import Identity

@Suite struct DevicePseudonymTests {
  private static func key(_ bytes: [UInt8]) -> PseudonymKey? {
    PseudonymKey(PrivateKeyText(copying: bytes.span))
  }

  private static let digest: [UInt8] = (0..<32).map { $0 * 8 }

  /// By Python: base64.urlsafe_b64encode(hmac.digest(bytes(range(32)), word + bytes(range(0, 256, 8)), "sha256")[:16]).
  @Test func vectors() throws {
    let key = try #require(Self.key((0..<32).map { $0 }))
    let hash = try #require(Bytes32(Self.digest))
    #expect(key.pseudonym(ofKey: KeyIdentifier(hash)).description == "D2J9Fy7QRvKZ8BgwrS1BIQ")
    #expect(key.pseudonym(ofCertificateKey: hash).description == "eOvmyn8AHE4ha1RGVipjxg")
  }

  /// By Python's hmac, as RFC 5869 says, without a salt.
  @Test func otherKeysAreDerived() throws {
    let key = try #require(Self.key((0..<32).map { $0 }))
    let derived = key.derive(64, for: "portcullis/register-challenge/v1")
    let text = Hex.encode(derived.span)
    #expect(
      text == "2f7c1e114541f53711de9ab8dccf43e9f01b8b0bd2f83b939cd09a00d7f016bc"
        + "009a7f3da642b7748a9a0ee450c8bb1c202a472004df58b5ce5e210f2de79276")
  }

  @Test func anotherKeyGivesAnotherName() throws {
    let hash = try #require(Bytes32(Self.digest))
    let names = try (0..<20).map { number in
      try #require(Self.key([UInt8](repeating: number, count: 32))).pseudonym(ofKey: KeyIdentifier(hash))
    }
    #expect(Set(names).count == names.count)
  }

  @Test(arguments: [0, 1, 31, 33, 64]) func onlyThirtyTwoBytesAreAKey(count: Int) {
    #expect(Self.key([UInt8](repeating: 7, count: count)) == nil)
  }

  @Test func readAsWritten() throws {
    for number in 0..<50 as Range<UInt8> {
      let key = try #require(Self.key([UInt8](repeating: number, count: 32)))
      let name = key.pseudonym(ofKey: KeyIdentifier(try #require(Bytes32(Self.digest))))
      let text = name.description
      #expect(text.utf8.count == 22 && !text.contains { "+/=".contains($0) })
      #expect(DevicePseudonym(text) == name)
      #expect(DevicePseudonym(text + "==") == name)
      #expect(DevicePseudonym(Base64.encode(name.bytes.span)) == name)
      #expect(name.bytes.count == DevicePseudonym.byteCount)
    }
  }

  @Test(arguments: [
    "", "AAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAB", "AAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAA",
    "AAAAAAAAAAAAAAAAAAAA.A", " AAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
  ])
  func refused(text: String) {
    #expect(DevicePseudonym(text) == nil)
  }
}
