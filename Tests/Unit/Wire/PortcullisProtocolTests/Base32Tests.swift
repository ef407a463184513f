import PortcullisProtocol
import Testing

/// RFC 4648 §10 without the padding, and that each value has one spelling.
@Suite struct Base32Tests {
  @Test(arguments: [
    ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"),
    ("foobar", "MZXW6YTBOI"),
  ])
  func roundTrip(plain: String, encoded: String) {
    #expect(Base32.encode(Array(plain.utf8)) == encoded)
    #expect(Base32.decode(encoded) == Array(plain.utf8))
  }

  @Test(arguments: [
    "M", "MZX", "MZXW6Y", "MZ", "MZXR", "MZXW7", "MZXW6YR", "my", "MZXW6YT1", "MY======", "MZ XQ", "MZXQ\n",
    "MZXWÉY",
  ])
  func refused(text: String) {
    #expect(Base32.decode(text) == nil)
  }

  @Test func everyLengthComesBack() {
    for count in 0...40 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 151 + 0x83) }
      let text = Base32.encode(bytes)
      #expect(text.utf8.count == (count * 8 + 4) / 5)
      #expect(Base32.decode(text) == bytes)
    }
  }
}
