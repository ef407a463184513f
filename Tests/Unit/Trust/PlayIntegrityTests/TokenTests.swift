/// Each step of docs/android.md, "Play Integrity", by tokens that break it, and by those that come near.
import Bytes
import Crypto
import DeviceWire
import PlayIntegrity
import System
import Testing
import Time

@Suite struct TokenTests {
  private let maker: TokenMaker

  init() throws {
    maker = try TokenMaker()
  }

  private func verdict(_ token: TestToken) throws -> Result<PlayVerdict, PlayRejection> {
    try judge(token.make(by: maker), [maker.keys])
  }

  @Test func goodOnes() throws {
    let verdict = try verdict(TestToken()).get()
    #expect(verdict.package == TestToken.package)
    #expect(verdict.level == .device)
    #expect(verdict.timestamp == UnixTime(milliseconds: 1_772_452_800_000))
  }

  @Test func theOneOfAnotherImplementation() throws {
    let file =
      #"[{"decryption_key":"\#(ForeignToken.decryption)","verification_key":"\#(ForeignToken.verification)"}]"#
    let keys = try PlayKeys.read(Array(file.utf8).span)
    let verdict = try judge(ForeignToken.text, keys).get()
    #expect(verdict.package == TestToken.package && verdict.level == .device)
  }

  // MARK: The envelope

  @Test func sizes() throws {
    let rest = try TestToken().make(by: maker)
    for (count, expected) in [(16_384, PlayRejection.envelopeParts), (16_385, .size), (1 << 20, .size)] {
      let padding = String(repeating: ".", count: count - rest.utf8.count)
      #expect(try judge(rest + padding, [maker.keys]).rejection == expected)
    }
  }

  @Test func fiveParts() throws {
    let parts = try TestToken().parts(by: maker)
    for count in 0..<5 {
      #expect(
        try judge(parts.prefix(count).joined(separator: "."), [maker.keys]).rejection == .envelopeParts)
    }
    for text in [(parts + [""]).joined(separator: "."), "....", "....."] {
      let expected: PlayRejection = text == "...." ? .envelopeHeader : .envelopeParts
      #expect(try judge(text, [maker.keys]).rejection == expected)
    }
    #expect(try judge(TestToken().signed(by: maker), [maker.keys]).rejection == .envelopeParts)
  }

  @Test(arguments: 0..<5) func eachPartIsBase64URL(part: Int) throws {
    for wrong in ["=", "+", "/", "\n", " ", "\u{E9}", "\0"] {
      var parts = try TestToken().parts(by: maker)
      parts[part] += wrong
      #expect(try judge(parts.joined(separator: "."), [maker.keys]).rejection == .envelopeBase64)
    }
  }

  @Test(arguments: [
    ("", PlayRejection.envelopeHeader), ("[]", .envelopeHeader), (#"{"alg":"A256KW"}"#, .envelopeEncryption),
    (#"{"enc":"A256GCM"}"#, .envelopeAlgorithm), (#"{"alg":"dir","enc":"A256GCM"}"#, .envelopeAlgorithm),
    (#"{"alg":"a256kw","enc":"A256GCM"}"#, .envelopeAlgorithm),
    (#"{"alg":["A256KW"],"enc":"A256GCM"}"#, .envelopeAlgorithm),
    (#"{"alg":"A256KW","enc":"A128GCM"}"#, .envelopeEncryption),
    (#"{"alg":"A256KW","alg":"A256KW","enc":"A256GCM"}"#, .envelopeHeader),
    (#"{"alg":"A256KW","\u0061lg":"A256KW","enc":"A256GCM"}"#, .envelopeHeader),
    (#"{"alg":"A256KW","enc":"A256GCM","crit":[]}"#, .envelopeHeader),
    (#"{"alg":"A256KW","enc":"A256GCM","zip":"DEF"}"#, .envelopeHeader),
    (#"{"alg":"A256KW","enc":"A256GCM","b64":true}"#, .envelopeHeader),
    (#"{"alg":"A256KW","enc":"A256GCM","x":[[[[[[[[]]]]]]]]}"#, .envelopeHeader),
    (#"{"alg":"A256KW","enc":"A256GCM"} x"#, .envelopeHeader),
  ])
  func envelopeHeaders(header: String, expected: PlayRejection) throws {
    var token = TestToken()
    token.outerHeader = header
    #expect(try verdict(token).rejection == expected)
  }

  @Test(arguments: [
    #" { "enc" : "A256GCM" , "alg" : "A256KW" } "#, #"{"\u0061lg":"A256KW","enc":"A256GCM"}"#,
    #"{"alg":"A256KW","enc":"A256GCM","kid":"1","jwk":{"kty":"oct"},"x":[[[[[[[]]]]]]],"y":null}"#,
  ])
  func goodEnvelopeHeaders(header: String) throws {
    var token = TestToken()
    token.outerHeader = header
    #expect(try verdict(token).rejection == nil)
  }

  @Test func lengths() throws {
    let good = try TestToken().parts(by: maker)
    for (part, length, expected) in [
      (1, 40, PlayRejection.wrappedKeyLength), (2, 12, .nonceLength), (4, 16, .tagLength),
    ] {
      let decoded = Base64.decode(Array(good[part].utf8).span)
      let bytes = try #require(decoded)
      for count in 0...(length + 8) where count != length {
        var parts = good
        parts[part] = Base64.encodeURL(Array((bytes + bytes).prefix(count)).span)
        let found = try judge(parts.joined(separator: "."), [maker.keys]).rejection
        #expect(found == expected, "\(count) bytes")
      }
    }
  }

  @Test func keysOfOthers() throws {
    let other = try TokenMaker(wrapping: 0x5B)
    let token = try TestToken().make(by: maker)
    #expect(try judge(token, []).rejection == .unwrap)
    #expect(try judge(token, [other.keys]).rejection == .unwrap)
    #expect(try judge(token, [other.keys, maker.keys]).rejection == nil)
    // Pairs stay pairs: what one opens, another one's key has not signed.
    let mixed = PlayKeys(decryption: maker.wrapping, verification: other.point)
    #expect(try judge(token, [mixed, maker.keys]).rejection == .signature)
    #expect(try judge(token, [other.keys, mixed]).rejection == .signature)
    let both = [maker.keys, other.keys]
    let crossed = TestToken().parts(try TestToken().signed(by: other), for: maker).joined(separator: ".")
    #expect(try judge(crossed, both).rejection == .signature)
  }

  /// What is sealed says nothing before the tag is right, and the tag covers the header's own spelling.
  @Test func anotherHeaderOfTheSameMeaning() throws {
    var parts = try TestToken().parts(by: maker)
    parts[0] = TestToken.text(#"{"enc":"A256GCM","alg":"A256KW"}"#)
    #expect(try judge(parts.joined(separator: "."), [maker.keys]).rejection == .authentication)
    parts = try TestToken().parts(by: maker)
    parts[3] = ""
    #expect(try judge(parts.joined(separator: "."), [maker.keys]).rejection == .authentication)
  }

  // MARK: The signature

  @Test func threePartsOfASCII() throws {
    let good = try TestToken().signed(by: maker)
    for contents in ["", ".", "...", good + ".", "\u{E9}" + good, String(good.prefix { $0 != "." })] {
      let token = TestToken().parts(contents, for: maker).joined(separator: ".")
      #expect(try judge(token, [maker.keys]).rejection == .signatureParts)
    }
    for contents in [good + "=", good + "\n", "\0" + good, good.replacing(".", with: "+.")] {
      let token = TestToken().parts(contents, for: maker).joined(separator: ".")
      #expect(try judge(token, [maker.keys]).rejection == .signatureBase64)
    }
  }

  @Test(arguments: [
    ("", PlayRejection.signatureHeader), (#"{"alg":"ES256","b64":false}"#, .signatureHeader),
    (#"{"alg":"ES256","crit":["exp"]}"#, .signatureHeader),
    (#"{"alg":"ES256","alg":"none"}"#, .signatureHeader), (#"{}"#, .signatureAlgorithm),
    (#"{"alg":"none"}"#, .signatureAlgorithm), (#"{"alg":"HS256"}"#, .signatureAlgorithm),
    (#"{"alg":"es256"}"#, .signatureAlgorithm), (#"{"alg":"ES256K"}"#, .signatureAlgorithm),
  ])
  func signatureHeaders(header: String, expected: PlayRejection) throws {
    var token = TestToken()
    token.innerHeader = header
    #expect(try verdict(token).rejection == expected)
  }

  /// A header's own key is not looked at, and neither is what is signed by it.
  @Test func keysInHeaders() throws {
    let other = try TokenMaker()
    var token = TestToken()
    let (x, y) = (TestToken.text(other.point.x), TestToken.text(other.point.y))
    token.innerHeader = #"{"alg":"ES256","jwk":{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}}"#
    #expect(try verdict(token).rejection == nil)
    let forged = token.parts(try token.signed(by: other), for: maker).joined(separator: ".")
    #expect(try judge(forged, [maker.keys]).rejection == .signature)
  }

  @Test func signatures() throws {
    let good = try TestToken().signed(by: maker)
    let input = good.split(separator: ".").prefix(2).joined(separator: ".")
    let signature = try maker.signing.signES256(Array(input.utf8))
    func found(_ bytes: [UInt8]) throws -> PlayRejection? {
      let contents = "\(input).\(Base64.encodeURL(bytes.span))"
      return try judge(TestToken().parts(contents, for: maker).joined(separator: "."), [maker.keys]).rejection
    }
    #expect(try found(signature.bytes) == nil)
    for bytes in [[], signature.der, signature.bytes.dropLast(), signature.bytes + [0]] {
      #expect(try found(bytes) == .signatureLength)
    }
    let zero = [UInt8](repeating: 0, count: 32)
    let (r, s) = (signature.r.array, signature.s.array)
    for bytes in [zero + zero, zero + s, r + zero, s + r, [r[0] ^ 1] + r.dropFirst() + s] {
      #expect(try found(bytes) == .signature)
    }
  }
}
