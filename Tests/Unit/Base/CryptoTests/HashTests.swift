/// SHA-256, HMAC and AES against the examples of their standards.
import Testing

@testable import Bytes
@testable import Crypto

private func bytes(_ hex: String) -> [UInt8] {
  guard let bytes = Hex.decode(Array(hex.utf8).span) else { fatalError("not hex") }
  return bytes
}

@Suite struct HashTests {
  /// FIPS 180-4, examples of NIST's Cryptographic Standards and Guidelines.
  static let sha256 = [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ]

  @Test(arguments: sha256) func digests(text: String, expected: String) {
    let message = Array(text.utf8)
    let digest = SHA256.hash(message.span)
    #expect(digest.hex == expected)
    for split in 0...message.count {
      let (first, second) = (Array(message[..<split]), Array(message[split...]))
      let digest = SHA256.hash(first.span, second.span)
      #expect(digest.hex == expected)
    }
  }

  @Test func parts() {
    let digest = SHA256.hash([UInt8]().span)
    let head: [UInt8] = [1, 2, 3]
    let whole = head + digest.array
    let (inParts, atOnce) = (SHA256.hash(head.span, digest), SHA256.hash(whole.span))
    #expect(inParts == atOnce)
    let (ofDigest, ofBytes) = (SHA256.hash(digest), SHA256.hash(digest.array.span))
    #expect(ofDigest == ofBytes)
  }

  /// RFC 4231 §4.2, §4.3 and §4.7.
  static let hmac = [
    (
      String(repeating: "0b", count: 20), "4869205468657265",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      String(repeating: "aa", count: 131),
      "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65"
        + "204b6579202d2048617368204b6579204669727374",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
  ]

  @Test(arguments: hmac) func authentication(key: String, message: String, tag: String) {
    let hmac = HMACSHA256(key: bytes(key).span)
    // The kept key serves any number of messages.
    for _ in 0..<3 {
      let found = hmac.authenticate(bytes(message).span)
      #expect(found.hex == tag)
    }
    let ofNothing = hmac.authenticate([UInt8]().span)
    #expect(ofNothing.hex != tag)
    let byText = HMACSHA256(key: PrivateKeyText(copying: bytes(key).span)).authenticate(bytes(message).span)
    #expect(byText.hex == tag)
  }

  /// RFC 5869 Appendix A.1 to A.3: secret, salt, name, and what is derived.
  static let hkdf = [
    (
      String(repeating: "0b", count: 22), "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9",
      "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
    ),
    (
      hex(0x00..<0x50), hex(0x60..<0xB0), hex(0xB0..<0x100),
      "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
        + "59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71"
        + "cc30c58179ec3e87c14c01d5c1f3434f1d87"
    ),
    (
      String(repeating: "0b", count: 22), "", "",
      "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
    ),
  ]

  private static func hex(_ range: Range<Int>) -> String {
    let bytes = range.map { UInt8($0) }
    return Hex.encode(bytes.span)
  }

  @Test(arguments: hkdf) func derivation(secret: String, salt: String, name: String, expected: String) {
    let (secret, salt, name) = (bytes(secret), bytes(salt), bytes(name))
    let text = PrivateKeyText(copying: secret.span)
    let key = HKDFSHA256(text, salt: salt)
    for count in [expected.utf8.count / 2, 0, 1, 31, 32, 33] {
      let derived = key.expand(count, for: name)
      let found = Hex.encode(derived.span)
      #expect(found == expected.prefix(count * 2))
    }
    let most = key.expand(HKDFSHA256.mostBytes, for: [])
    #expect(most.count == 8160)
  }

  /// FIPS 197 Appendix C.3.
  @Test func block() throws {
    let key = [UInt8](0..<32)
    let cipher = AES256Block(key: key.span)
    let aes = try #require(cipher)
    let plain = Block16(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)
    let encrypted = Block16(high: 0x8EA2_B7CA_5167_45BF, low: 0xEAFC_4990_4B49_6089)
    for _ in 0..<3 {
      #expect(aes.encrypt(plain) == encrypted)
      #expect(aes.decrypt(encrypted) == plain)
    }
    let copy = encrypted.inlineArray
    let again = Block16(copy.span)
    #expect(again == encrypted)
    for count in [0, 15, 17] {
      let none = Block16([UInt8](repeating: 0, count: count).span)
      #expect(none == nil)
    }
    for count in [0, 16, 31, 33] {
      let none = AES256Block(key: [UInt8](repeating: 0, count: count).span)
      #expect(none == nil)
    }
  }
}
