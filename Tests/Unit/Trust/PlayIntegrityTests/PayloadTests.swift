/// What Google has signed, read strictly where it counts, and not at all where it does not.
import Bytes
import Crypto
import DeviceWire
import PlayIntegrity
import Time
import Testing

@Suite struct PayloadTests {
  private let maker: TokenMaker

  init() throws {
    maker = try TokenMaker()
  }

  private func found(
    _ text: String, instead: String, required: PlayLevel = .device
  ) throws -> PlayRejection? {
    let token = TestToken(text, instead: instead)
    #expect(token.payload != TestToken.goodPayload || text == instead, "\(text) is not there")
    return try judge(token.make(by: maker), [maker.keys], required: required).rejection
  }

  @Test(arguments: [
    "", "null", "[]", "{}x", "\u{FEFF}{}", #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":1}"#, #"{"a":{"b":1,"b":2}}"#,
    "{\"a\":" + String(repeating: "[", count: 16) + String(repeating: "]", count: 16) + "}",
  ])
  func objects(payload: String) throws {
    var token = TestToken()
    token.payload = payload
    #expect(try judge(token.make(by: maker), [maker.keys]).rejection == .payload)
  }

  @Test(arguments: ["requestDetails", "appIntegrity", "deviceIntegrity"]) func parts(name: String) throws {
    let expected: [String: PlayRejection] = [
      "requestDetails": .requestPackage, "appIntegrity": .appVerdict, "deviceIntegrity": .deviceVerdict,
    ]
    #expect(try found(#""\#(name)":"#, instead: #""other":"#) == expected[name])
    #expect(try found(#""\#(name)":"#, instead: #""\#(name)":null,"other":"#) == expected[name])
    #expect(try found(#""\#(name)":"#, instead: #""\#(name)":[],"other":"#) == expected[name])
    #expect(try found(#""\#(name)":"#, instead: #""later":{"x":[null,1.5e300,true]},"\#(name)":"#) == nil)
  }

  @Test func packages() throws {
    let name = #""requestPackageName":"com.example.mud""#
    for other in ["com.example.mu", "com.example.mud2", "COM.EXAMPLE.MUD", "com.example.mud ", ""] {
      #expect(try found(name, instead: #""requestPackageName":"\#(other)""#) == .requestPackage)
      #expect(
        try found(#""packageName":"com.example.mud""#, instead: #""packageName":"\#(other)""#) == .appPackage)
    }
    // Another app of the operator's: known, but not the one that was recognised.
    #expect(try found(name, instead: #""requestPackageName":"com.example.other""#) == .appPackage)
    // In both places, but signed by the first one's certificate.
    #expect(try found("com.example.mud", instead: "com.example.other") == .certificateDigest)
    #expect(try found(name, instead: #""requestPackageName":7"#) == .requestPackage)
    #expect(try found(#""packageName":"#, instead: #""packagename":"#) == .appPackage)
  }

  /// In either alphabet, padded or not: what was sent comes back in other forms.
  @Test func nonces() throws {
    let text = TestToken.text(TestToken.request)
    let standard = TestToken.request.base64
    #expect(standard.contains("/") || standard.contains("+"))
    for form in [text, text + "=", standard, standard.replacing("=", with: "")] {
      #expect(try found(#""nonce":"\#(text)""#, instead: #""nonce":"\#(form)""#) == nil, "\(form)")
    }
    let bytes = TestToken.request.array
    let (shorter, longer) = (Array(bytes.dropLast()), bytes + [0])
    let hex = TestToken.request.hex
    let mixed = standard.replacing("/", with: "_", maxReplacements: 1) + "+"
    for form in [
      "", hex, text + "==", String(text.dropLast()), text + "A", mixed, TestToken.text(text), "null",
      Base64.encodeURL(shorter.span), Base64.encodeURL(longer.span),
      TestToken.text(TestToken.certificate), text.lowercased(), String(text.dropLast()) + "t",
    ] {
      #expect(try found(#""nonce":"\#(text)""#, instead: #""nonce":"\#(form)""#) == .nonce, "\(form)")
    }
    for value in ["7", "null", "[\"\(text)\"]"] {
      #expect(try found(#""nonce":"\#(text)""#, instead: #""nonce":\#(value)"#) == .nonce)
    }
    // A standard request has a hash of the app's own instead.
    #expect(try found(#""nonce":"#, instead: #""requestHash":"#) == .nonce)
  }

  @Test(arguments: [
    (#""1772452800000""#, PlayRejection?.none), ("1772452800000", nil), (#""001772452800000""#, nil),
    // 120 s ago, and a millisecond more; 60 s ahead, and a millisecond more.
    (#""1772452710000""#, nil), (#""1772452709999""#, .stale), (#""1772452890000""#, nil),
    (#""1772452890001""#, .future), ("0", .stale), ("-1", .stale), (#""0""#, .stale),
    (#""999999999999999""#, .future), ("9223372036854775807", .future), ("-9223372036854775808", .stale),
    ("9223372036854775808", .future), ("-9223372036854775809", .stale),
    ("1" + String(repeating: "0", count: 400), .future), ("-1" + String(repeating: "0", count: 400), .stale),
    ("1e400", .timestamp), (#""9999999999999999""#, .timestamp), (#""""#, .timestamp),
    (#""-1""#, .timestamp), (#""+1772452800000""#, .timestamp), (#"" 1772452800000""#, .timestamp),
    ("1.7724528e12", .timestamp), ("1772452800000.0", .timestamp), ("true", .timestamp), ("null", .timestamp),
    (#""1772452800000\u0000""#, .timestamp), (#""\#u{661}772452800000""#, .timestamp),
  ])
  func timestamps(value: String, expected: PlayRejection?) throws {
    #expect(
      try found(#""timestampMillis":"1772452800000""#, instead: #""timestampMillis":\#(value)"#) == expected)
  }

  /// A clock far off, and an age of nothing, refuse.
  @Test func clocks() throws {
    let token = try TestToken().make(by: maker)
    for (milliseconds, expected) in [(Int64(0), PlayRejection.future), (1 << 53, .stale)] {
      let now = UnixTime(milliseconds: milliseconds)
      #expect(try judge(token, [maker.keys], now: now).rejection == expected)
    }
    #expect(try judge(token, [maker.keys], maximumAge: .zero).rejection == .stale)
    #expect(try judge(token, [maker.keys], maximumAge: .seconds(-1)).rejection == .stale)
    #expect(try judge(token, [maker.keys], maximumAge: .seconds(Int64.max)).rejection == nil)
  }

  @Test func appVerdicts() throws {
    for value in [
      #""UNRECOGNIZED_VERSION""#, #""UNEVALUATED""#, #""play_recognized""#, #""PLAY_RECOGNIZED ""#, "null",
      #"["PLAY_RECOGNIZED"]"#, "true", #""""#,
    ] {
      #expect(try found(#""PLAY_RECOGNIZED""#, instead: value) == .appVerdict)
    }
  }

  @Test func digests() throws {
    let good = TestToken.text(TestToken.certificate)
    let second = TestToken.text(Bytes32(.init(repeating: 7)))
    let strange = TestToken.text(Bytes32(.init(repeating: 8)))
    let others = TestToken.text(Bytes32())
    for value in [
      #"["\#(good)"]"#, #"["\#(good)="]"#, #"["\#(TestToken.certificate.base64)"]"#, #"["\#(second)"]"#,
      #"["\#(good)","\#(second)"]"#,
    ] {
      #expect(try found(#"["\#(good)"]"#, instead: value) == nil, "\(value)")
    }
    for value in [
      "[]", "null", #""\#(good)""#, #"["\#(strange)"]"#, #"["\#(good)","\#(strange)"]"#, #"["\#(others)"]"#,
      #"["\#(good)",null]"#, #"["\#(TestToken.certificate.hex)"]"#, #"[""]"#, #"["\#(good.dropLast())"]"#,
      #"{"0":"\#(good)"}"#,
    ] {
      #expect(try found(#"["\#(good)"]"#, instead: value) == .certificateDigest, "\(value)")
    }
  }

  @Test(arguments: [
    ([], PlayLevel?.none), (["MEETS_BASIC_INTEGRITY"], .basic),
    (["MEETS_DEVICE_INTEGRITY"], .device), (["MEETS_STRONG_INTEGRITY"], .strong),
    (["MEETS_STRONG_INTEGRITY", "MEETS_BASIC_INTEGRITY"], .strong), (["MEETS_VIRTUAL_INTEGRITY"], nil),
    (["LATER", "MEETS_DEVICE_INTEGRITY"], .device), (["meets_device_integrity"], nil),
    (["MEETS_BASIC_INTEGRITY MEETS_DEVICE_INTEGRITY"], nil),
  ])
  func levels(labels: [String], level: PlayLevel?) throws {
    let list = labels.map { #""\#($0)""# }.joined(separator: ",")
    let good = #"["MEETS_BASIC_INTEGRITY","MEETS_DEVICE_INTEGRITY"]"#
    for required in PlayLevel.allCases {
      let isEnough = level.map { $0 >= required } ?? false
      #expect(try found(good, instead: "[\(list)]", required: required) == (isEnough ? nil : .level))
    }
  }

  @Test func deviceVerdicts() throws {
    let good = #"["MEETS_BASIC_INTEGRITY","MEETS_DEVICE_INTEGRITY"]"#
    for value in ["null", #""MEETS_DEVICE_INTEGRITY""#, #"["MEETS_DEVICE_INTEGRITY",1]"#, "{}"] {
      #expect(try found(good, instead: value) == .deviceVerdict, "\(value)")
    }
    #expect(try found("deviceRecognitionVerdict", instead: "other") == .deviceVerdict)
  }

  /// The steps in their order: of two that are broken, the first one is told.
  @Test func order() throws {
    var token = TestToken("PLAY_RECOGNIZED", instead: "UNEVALUATED")
    token.payload = token.payload.replacing("MEETS", with: "MISSES").replacing(#""1772"#, with: #""1771"#)
    #expect(try judge(token.make(by: maker), [maker.keys]).rejection == .stale)
    token.payload = token.payload.replacing(#""1771"#, with: #""1772"#)
    #expect(try judge(token.make(by: maker), [maker.keys]).rejection == .appVerdict)
    token.payload = token.payload.replacing("UNEVALUATED", with: "PLAY_RECOGNIZED")
    #expect(try judge(token.make(by: maker), [maker.keys]).rejection == .level)
  }
}
