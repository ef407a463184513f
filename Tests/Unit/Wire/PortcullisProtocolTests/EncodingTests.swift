/// Bytes as text, both ways, and a code's text with the reason why it is none.
import PortcullisProtocol
import Testing

@Suite struct EncodingTests {
  @Test(arguments: [
    ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
    ("foobar", "Zm9vYmFy"),
  ])
  func base64(plain: String, encoded: String) {
    #expect(ByteText.base64URL(Array(plain.utf8)) == encoded)
    #expect(ByteText.bytes(base64: encoded) == Array(plain.utf8))
    let padding = String(repeating: "=", count: (4 - encoded.utf8.count % 4) % 4)
    #expect(ByteText.bytes(base64: encoded + padding) == Array(plain.utf8))
  }

  @Test(arguments: ["Z", "Zh", "Zm9=", "Zm9v=", "Zm9v====", "-_+/", "Zg=", "Z g", "Zg\n", "+/8", "é"])
  func noBase64(text: String) {
    #expect(ByteText.bytes(base64: text) == nil)
  }

  @Test func everyLengthComesBack() {
    for count in 0...64 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 151 + 0x83) }
      #expect(ByteText.bytes(base64: ByteText.base64URL(bytes)) == bytes)
      #expect(ByteText.bytes(hex: ByteText.hex(bytes)) == bytes)
      #expect((Octets32(bytes) != nil) == (count == 32))
    }
    #expect(ByteText.bytes(hex: "0") == nil && ByteText.bytes(hex: "AB") == nil)
  }

  private static let start =
    "PORTCULLIS:/1/AAAQEAYEAUDAOCAJBIFQYDIOB4/777P37H37L47R57W6X2PH4XR6A"
    + "/AAEBAGBAFAYDQQCIKBMGA2DQPCAIREEYUCULBOGAZDINRYHI6D4A"

  private static let wrong: [(String, PairingURIError)] = [
    ("https://example.com", .otherCode), ("", .otherCode), ("portcullis:/1/a", .lowerCase),
    ("\(start)/gate:1", .lowerCase), ("PORTCULLIS:/2/A", .laterVersion), ("PORTCULLIS:/1/A/B", .length),
    (start, .length), (start.replacing("AAAQ", with: "AAA") + "/GATE:1", .length),
    ("\(start)/USER@GATE:1", .host), ("\(start)/:1", .host), ("\(start)/GATE:0", .port),
    ("\(start)/GATE", .port), ("\(start)/GATE:65536", .port),
  ]

  @Test(arguments: wrong)
  func noCode(text: String, reason: PairingURIError) {
    #expect(throws: reason) { try PairingURI(parsing: text) }
    #expect(PairingURI(text) == nil)
  }
}
