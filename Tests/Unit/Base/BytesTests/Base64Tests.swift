import Testing

@testable import Bytes

/// RFC 4648 §10 and the rule of docs/protocol.md, "Registration" on alphabets, padding and spare bits.
@Suite struct Base64Tests {
  static let vectors = [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ]

  @Test(arguments: vectors) func roundTrip(plain: String, encoded: String) {
    #expect(Base64.encode(Array(plain.utf8).span) == encoded)
    #expect(Base64.decode(Array(encoded.utf8).span) == Array(plain.utf8))
  }

  @Test(arguments: [
    ("--__", [UInt8]([0xFB, 0xEF, 0xFF])), ("++//", [0xFB, 0xEF, 0xFF]), ("Zg", Array("f".utf8)),
    ("-_8", [0xFB, 0xFF]), ("-_8=", [0xFB, 0xFF]), ("+/8=", [0xFB, 0xFF]),
  ])
  func accepted(text: String, bytes: [UInt8]) {
    #expect(Base64.decode(Array(text.utf8).span) == bytes)
  }

  @Test(arguments: [
    "Z", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm9v=", "=", "====", "Zm 9v", "Zm9v\n", "+-==", "+_8=", "+/8",
    "Z===", "Zg==Zg==",
    "Zm9\u{E9}",
  ])
  func refused(text: String) {
    #expect(Base64.decode(Array(text.utf8).span) == nil)
  }

  /// RFC 7515 §2: one text for any bytes.
  @Test func unpaddedURL() {
    for count in 0...6 {
      let bytes = [UInt8](repeating: 0xFB, count: count)
      let text = Base64.encodeURL(bytes.span)
      #expect(Base64.decodeURL(Array(text.utf8).span) == bytes)
    }
    for text in ["-_8=", "+/8=", "++//", "+/8", "Zg==", "Zh", "Zm9", "Z", "=", "Zg\n", " Zg"] {
      #expect(Base64.decodeURL(Array(text.utf8).span) == nil, "\(text)")
    }
  }
}
