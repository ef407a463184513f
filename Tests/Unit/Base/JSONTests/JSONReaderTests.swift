import Testing

@testable import JSON

private func parse(_ text: String, depth: Int = 8) throws(JSONError) -> JSONValue {
  try parse(Array(text.utf8), depth: depth)
}

private func parse(_ bytes: [UInt8], depth: Int = 8) throws(JSONError) -> JSONValue {
  try JSONValue(parsing: bytes.span, depthLimit: depth)
}

/// RFC 8259: the grammar of §2 to §7, and the choices that §4, §8.1 and §9 leave to a parser.
@Suite struct JSONReaderTests {
  @Test func keepsOrderAndText() throws {
    let value = try parse(
      #" { "b" : [ 1 , -0.50e+2 , true , false , null ] , "a" : "x\u00e9\ud83d\ude00\n\/" } "#)
    let object = try #require(value.object)
    #expect(object.members.map(\.name) == ["b", "a"])
    #expect(object["a"]?.string == "x\u{E9}\u{1F600}\n/")
    let elements = try #require(object["b"]?.array)
    #expect(elements.count == 5)
    #expect(elements[0].integer == 1)
    #expect(elements[1].integer == nil)
    #expect(elements[2].boolean == true)
    #expect(elements[4] == .null)
    #expect(object["c"] == nil)
  }

  /// Strings are passed over eight bytes a step: whatever does not stand for itself is seen at every place in one.
  @Test func specialBytesAreSeenAtEveryPlace() throws {
    for count in 0..<20 {
      for place in 0...count {
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: count)
        func quoted(_ special: [UInt8]) -> [UInt8] {
          [UInt8(ascii: "\"")] + text[..<place] + special + text[place...] + [UInt8(ascii: "\"")]
        }
        for byte in UInt8(0x20)...0x7F where byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
          let value = try parse(quoted([byte]))
          #expect(value.string?.utf8.count == count + 1)
        }
        for byte in UInt8(0)..<0x20 {
          #expect(throws: JSONError(.controlCharacter, at: 1 + place)) { try parse(quoted([byte])) }
        }
        #expect(try parse(quoted(Array(#"\n"#.utf8))).string?.utf8.dropFirst(place).first == 0x0A)
        #expect(throws: JSONError(.invalidUTF8, at: 1 + place)) { try parse(quoted([0x80])) }
        #expect(throws: JSONError(.trailingBytes, at: 2 + place)) {
          try parse(quoted([UInt8(ascii: "\""), UInt8(ascii: "x")]))
        }
      }
    }
  }

  @Test(arguments: [
    ("0", Int64(0)), ("-0", 0), ("9223372036854775807", .max), ("-9223372036854775808", .min), ("42", 42),
  ])
  func integers(text: String, value: Int64) throws {
    #expect(try parse(text).integer == value)
  }

  @Test(
    arguments: [
      ("42", 42), ("-0", 0), ("9223372036854775807", .max), ("9223372036854775808", .max),
      ("-9223372036854775808", .min),
      ("-9223372036854775809", .min), ("123456789012345678901234567890", .max), ("1.0", nil), ("1e30", nil),
      ("-1E-2", nil),
    ] as [(String, Int64?)])
  func clampedIntegers(text: String, value: Int64?) throws {
    guard case .number(let number) = try parse(text) else {
      Issue.record("not a number")
      return
    }
    #expect(number.clampedInteger == value)
  }

  @Test(arguments: ["9223372036854775808", "1.0", "1e0", "0.5", "1E+2", "123456789012345678901234567890"])
  func notIntegers(text: String) throws {
    let value = try parse(text)
    #expect(value.integer == nil)
    guard case .number(let number) = value else {
      Issue.record("not a number")
      return
    }
    #expect(number.text == text)
  }

  /// Each breaks one rule; the offset is that of the byte that proves it.
  static let refused: [(String, JSONError.Rule, Int)] = [
    ("", .unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("{", .unexpectedEnd, 1), ("[1", .unexpectedEnd, 2),
    ("\"abc", .unexpectedEnd, 4), ("tru", .unexpectedEnd, 3), ("-", .unexpectedEnd, 1),
    ("1.", .unexpectedEnd, 2),
    ("\"\\", .unexpectedEnd, 2), ("\"\\u12", .unexpectedEnd, 5),
    ("{} {}", .trailingBytes, 3), ("1 2", .trailingBytes, 2), ("null\0", .trailingBytes, 4),
    ("{a:1}", .unexpectedByte, 1), ("{'a':1}", .unexpectedByte, 1), ("[1,]", .unexpectedByte, 3),
    ("{\"a\":1,}", .unexpectedByte, 7), ("[,1]", .unexpectedByte, 1), ("[1 2]", .unexpectedByte, 3),
    ("{\"a\" 1}", .unexpectedByte, 5), ("[1}", .unexpectedByte, 2), ("nul1", .unexpectedByte, 3),
    ("NaN", .unexpectedByte, 0), ("+1", .unexpectedByte, 0), (".5", .unexpectedByte, 0),
    ("// x\n1", .unexpectedByte, 0), ("\u{FEFF}1", .unexpectedByte, 0), ("\u{A0}1", .unexpectedByte, 0),
    ("01", .invalidNumber, 1), ("-x", .invalidNumber, 1), ("1.x", .invalidNumber, 2),
    ("1e", .unexpectedEnd, 2),
    ("1ex", .invalidNumber, 2), ("00", .invalidNumber, 1),
    ("\"\n\"", .controlCharacter, 1), ("\"a\u{1F}\"", .controlCharacter, 2), ("\"\0\"", .controlCharacter, 1),
    ("\"\\x\"", .invalidEscape, 1), ("\"\\u12g4\"", .invalidEscape, 5), ("\"\\U0041\"", .invalidEscape, 1),
    ("\"\\ud800\"", .loneSurrogate, 1), ("\"\\udc00\"", .loneSurrogate, 1),
    ("\"\\ud800x\"", .loneSurrogate, 1),
    ("\"\\ud800\\n\"", .loneSurrogate, 1), ("\"\\ud800\\ud800\"", .loneSurrogate, 1),
    ("{\"a\":1,\"a\":2}", .duplicateName, 8), ("{\"a\":1,\"\\u0061\":2}", .duplicateName, 8),
    ("[{\"\":1,\"\":1}]", .duplicateName, 8),
  ]

  @Test(arguments: refused) func refuses(text: String, rule: JSONError.Rule, offset: Int) {
    #expect(throws: JSONError(rule, at: offset)) { try parse(text) }
  }

  /// The streaming form must be no laxer than the tree.
  @Test(arguments: refused) func skippingRefusesTheSame(text: String, rule: JSONError.Rule, offset: Int) {
    #expect(throws: JSONError(rule, at: offset)) {
      let bytes = Array(text.utf8)
      var reader = JSONReader(bytes.span, depthLimit: 8)
      try reader.skipValue()
      try reader.finish()
    }
  }

  /// Unicode 15, table 3-7: the first and last of each row, and what lies just outside.
  @Test(
    arguments: [
      [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80],
      [0xF0, 0x90, 0x80, 0x80],
      [0xF4, 0x8F, 0xBF, 0xBF],
    ] as [[UInt8]])
  func wellFormed(sequence: [UInt8]) throws {
    #expect(try parse([0x22] + sequence + [0x22]).string == String(decoding: sequence, as: UTF8.self))
  }

  @Test(
    arguments: [
      [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC2, 0x22], [0xE0, 0x9F, 0x80], [0xED, 0xA0, 0x80],
      [0xF0, 0x8F, 0x80, 0x80],
      [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xE2, 0x82, 0x22],
    ] as [[UInt8]])
  func illFormed(sequence: [UInt8]) {
    #expect(throws: JSONError(.invalidUTF8, at: 1)) { try parse([0x22] + sequence + [0x22]) }
  }

  @Test(arguments: [0, 1, 2, 8, 63]) func depth(limit: Int) throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
    }
    _ = try parse(nested(limit), depth: limit)
    #expect(throws: JSONError(.depthExceeded, at: limit)) { try parse(nested(limit + 1), depth: limit) }
    let object =
      String(repeating: "{\"a\":", count: limit + 1) + "1" + String(repeating: "}", count: limit + 1)
    #expect(throws: JSONError(.depthExceeded, at: limit * 5)) { try parse(object, depth: limit) }
  }

  @Test func siblingsDoNotAddUpInDepth() throws {
    _ = try parse("[[1],[2],{\"a\":[3]},[4,[5]],6]", depth: 3)
  }

  /// Names differ by bytes: composed and decomposed é are two members, and each is found by its own.
  @Test func namesAreBytes() throws {
    let object = try #require(try parse("{\"\u{E9}\":1,\"e\u{301}\":2}").object)
    #expect(object["\u{E9}"]?.integer == 1)
    #expect(object["e\u{301}"]?.integer == 2)
  }

  @Test func manyNamesStayLinear() throws {
    let names = (0..<20_000).map { "\"n\($0)\":\($0)" }
    let object = try #require(try parse("{" + names.joined(separator: ",") + "}").object)
    #expect(object.members.count == 20_000)
    #expect(throws: JSONError.self) {
      try parse("{" + (names + ["\"n19999\":1"]).joined(separator: ",") + "}")
    }
  }

  /// Around the number of names from which on they are in a table, at each depth, with the same names in objects within
  /// each other: only a name that comes twice in its own object is one too many, however it is spelt.
  @Test(arguments: [1, 15, 16, 17, 18, 100], [0, 1, 3])
  func namesAreOfTheirOwnObject(count: Int, depth: Int) throws {
    func object(_ depth: Int, extra: String = "") -> String {
      let inner = depth == 0 ? "0" : object(depth - 1)
      let members = (0..<count).map { "\"name \($0)\":\($0 % 7 == 0 ? inner : "1")" }
      return "{" + members.joined(separator: ",") + extra + "}"
    }
    for text in [object(depth), "[\(object(depth)),\(object(depth))]"] {
      let bytes = Array(text.utf8)
      var reader = JSONReader(bytes.span, depthLimit: 8)
      try reader.skipValue()
      try reader.finish()
      _ = try parse(text)
    }
    for twice in ["name 0", "name \(count - 1)", "n\\u0061me \(count / 2)"] {
      let start = object(depth)
      let text = object(depth, extra: ",\"\(twice)\":1")
      #expect(throws: JSONError(.duplicateName, at: start.utf8.count + 1)) { try parse(text) }
    }
  }

  /// Long names that differ in one byte, and those that end in zero bytes.
  @Test func namesThatAreAlmostTheSame() throws {
    let long = String(repeating: "x", count: 40)
    let names = (0..<40).map { place in
      String(long.prefix(place)) + "y" + String(long.dropFirst(place + 1))
    }
    let ends = ["", "\\u0000", "\\u0000\\u0000", "abcdefgh", "abcdefgh\\u0000", "\u{E9}", "\u{E9}\\u0000"]
    let all = (names + ends).map { "\"\($0)\":1" }
    #expect(try parse("{" + all.joined(separator: ",") + "}").object?.members.count == 47)
    let twice = all + ["\"\\u00e9\":1"]
    #expect(throws: JSONError.self) { try parse("{" + twice.joined(separator: ",") + "}") }
  }

  /// At the limit and above it, wherever the values are.
  @Test(arguments: ["[1,2,3]", "{\"a\":1,\"b\":{\"c\":2}}", "[[[[]]]]", "[\"x\",true,null]"])
  func howManyValuesThereMayBe(text: String) throws {
    let bytes = Array(text.utf8)
    _ = try JSONValue(parsing: bytes.span, depthLimit: 8, valueLimit: 4)
    let error = #expect(throws: JSONError.self) {
      try JSONValue(parsing: bytes.span, depthLimit: 8, valueLimit: 3)
    }
    #expect(error?.rule == .tooManyValues)
  }

  /// Cut anywhere, a text is unfinished and nothing else: what the key file's reader rests on.
  @Test func everyPrefixIsUnfinished() {
    let text = Array(#"{"a":["x\u00e9\ud83d\ude00é€😀",-1.5e+3,true,false,null,{}],"b":{"c":"\n"}}"#.utf8)
    for length in 0..<text.count {
      let prefix = Array(text[..<length])
      #expect(throws: JSONError(.unexpectedEnd, at: length)) { try parse(prefix) }
    }
  }

  @Test func walksWithoutATree() throws {
    let bytes = Array(#"  {"first": {"x": [1, "a b\" ]"]} , "se\u0063ond":"v"} "#.utf8)
    var reader = JSONReader(bytes.span, depthLimit: 4)
    try reader.enterObject()
    let first = try #require(try reader.nextMember())
    let isFirst = reader.matches(first, Array("first".utf8))
    #expect(isFirst)
    let value = try reader.skipValue()
    let compact = reader.compact(value)
    #expect(String(decoding: compact, as: UTF8.self) == #"{"x":[1,"a b\" ]"]}"#)
    let second = try #require(try reader.nextMember())
    let isSecond = reader.matches(second, Array("second".utf8))
    #expect(isSecond)
    let short = reader.short(second)
    #expect(short == JSONReader.ShortText("second"))
    let text = try reader.readString()
    let string = reader.string(text)
    #expect(string == "v")
    let end = try reader.nextMember()
    #expect(end == nil)
    try reader.finish()
  }
}
