/// AES Key Wrap and AES-256-GCM against the examples of their documents, and with each part changed.
import Testing

@testable import Bytes
@testable import Crypto

private func bytes(_ hex: String) -> [UInt8] {
  guard let bytes = Hex.decode(Array(hex.utf8).span) else { fatalError("not hex") }
  return bytes
}

private func key(_ hex: String) -> Bytes32 {
  guard let key = Bytes32(bytes(hex)) else { fatalError("not 32 bytes") }
  return key
}

@Suite struct KeyWrapTests {
  /// RFC 3394 §4.6.
  private static let wrapping = key("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
  private static let wrapped = bytes(
    "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21")
  private static let contents = key("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f")

  @Test func example() {
    #expect(AES256KeyWrap.wrap(Self.contents, under: Self.wrapping) == Self.wrapped)
    let unwrapped = AES256KeyWrap.unwrap(Self.wrapped.span, under: Self.wrapping)
    #expect(unwrapped == Self.contents)
  }

  @Test func eachBitCounts() {
    for place in Self.wrapped.indices {
      for bit in 0..<8 {
        var changed = Self.wrapped
        changed[place] ^= 1 << UInt8(bit)
        let unwrapped = AES256KeyWrap.unwrap(changed.span, under: Self.wrapping)
        #expect(unwrapped == nil, "bit \(bit) of byte \(place)")
      }
    }
    let unwrapped = AES256KeyWrap.unwrap(Self.wrapped.span, under: Self.contents)
    #expect(unwrapped == nil)
  }

  /// Keys of other lengths, which RFC 3394 wraps as well, are none of 256 bits.
  @Test func otherLengths() {
    for count in 0...80 where count != 40 {
      let other = Array((Self.wrapped + Self.wrapped).prefix(count))
      let unwrapped = AES256KeyWrap.unwrap(other.span, under: Self.wrapping)
      #expect(unwrapped == nil, "\(count) bytes")
    }
    // RFC 3394 §4.5: 192 bits under 256.
    let shorter = bytes("a8f9bc1612c68b3ff6e6f4fbe30e71e4769c8b80a32cb8958cd5d17d6b254da1")
    let unwrapped = AES256KeyWrap.unwrap(shorter.span, under: Self.wrapping)
    #expect(unwrapped == nil)
  }
}

@Suite struct GCMTests {
  struct Example: Sendable {
    let key: Bytes32
    let nonce: [UInt8]
    let additionalData: [UInt8]
    let plaintext: [UInt8]
    let ciphertext: [UInt8]
    let tag: [UInt8]

    func open() -> [UInt8]? { open(ciphertext, tag: tag, nonce: nonce, additionalData: additionalData) }

    func open(
      _ ciphertext: [UInt8], tag: [UInt8], nonce: [UInt8], additionalData: [UInt8]
    ) -> [UInt8]? {
      AES256GCM.open(
        ciphertext.span, tag: tag.span, nonce: nonce.span, additionalData: additionalData.span, key: key)
    }
  }

  /// McGrew and Viega, The Galois/Counter Mode of Operation, appendix B: test cases 13, 14 and 16.
  static let examples = [
    Example(
      key: Bytes32(), nonce: .init(repeating: 0, count: 12), additionalData: [], plaintext: [],
      ciphertext: [], tag: bytes("530f8afbc74536b9a963b4f1c4cb738b")),
    Example(
      key: Bytes32(), nonce: .init(repeating: 0, count: 12), additionalData: [],
      plaintext: .init(repeating: 0, count: 16), ciphertext: bytes("cea7403d4d606b6e074ec5d3baf39d18"),
      tag: bytes("d0d1c8a799996bf0265b98b5d48ab919")),
    Example(
      key: key("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"),
      nonce: bytes("cafebabefacedbaddecaf888"),
      additionalData: bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2"),
      plaintext: bytes(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
          + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"),
      ciphertext: bytes(
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
          + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"),
      tag: bytes("76fc6ece0f4e1768cddf8853bb2d551b")),
  ]

  @Test(arguments: examples) func example(_ example: Example) {
    let sealed = AES256GCM.seal(
      example.plaintext.span, nonce: example.nonce.span, additionalData: example.additionalData.span,
      key: example.key)
    #expect(sealed.ciphertext == example.ciphertext)
    #expect(sealed.tag == example.tag)
    #expect(example.open() == example.plaintext)
  }

  @Test func eachByteCounts() throws {
    let good = try #require(Self.examples.last)
    func changes(_ bytes: [UInt8]) -> [[UInt8]] {
      bytes.indices.map { place in
        var changed = bytes
        changed[place] ^= 0x80
        return changed
      } + [bytes + [0], bytes.dropLast()]
    }
    for other in changes(good.ciphertext) {
      #expect(good.open(other, tag: good.tag, nonce: good.nonce, additionalData: good.additionalData) == nil)
    }
    for other in changes(good.tag) {
      #expect(
        good.open(good.ciphertext, tag: other, nonce: good.nonce, additionalData: good.additionalData) == nil)
    }
    for other in changes(good.nonce) {
      #expect(
        good.open(good.ciphertext, tag: good.tag, nonce: other, additionalData: good.additionalData) == nil)
    }
    for other in changes(good.additionalData) {
      #expect(good.open(good.ciphertext, tag: good.tag, nonce: good.nonce, additionalData: other) == nil)
    }
  }

  /// The beginning of the right tag is none, however long (CVE-2023-37464).
  @Test func shortTags() throws {
    let good = try #require(Self.examples.last)
    for count in 0..<16 {
      let tag = Array(good.tag.prefix(count))
      let opened = good.open(
        good.ciphertext, tag: tag, nonce: good.nonce, additionalData: good.additionalData)
      #expect(opened == nil)
    }
  }
}
