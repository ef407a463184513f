import JSON
import Kit
import Testing

@testable import TelnetWire

/// MSDP and MSSP. VAR is 1, VAL 2, TABLE_OPEN 3, TABLE_CLOSE 4, ARRAY_OPEN 5, ARRAY_CLOSE 6.
@Suite struct MSDPTests {
  private static let on = wire("IAC WILL 69 IAC WILL 70")

  @Test(
    arguments: [
      ("1 'HP' 2 '10'", #"{"HP":"10"}"#),
      ("1 'HP' 2 '10' 1 'MP' 2 ''", #"{"HP":"10","MP":""}"#),
      ("1 'A' 2 'x' 2 'y' 2 'z'", #"{"A":["x","y","z"]}"#),
      ("1 'A' 2 5 2 'x' 2 'y' 6", #"{"A":["x","y"]}"#),
      ("1 'A' 2 5 6", #"{"A":[]}"#),
      ("1 'A' 2 3 4", #"{"A":{}}"#),
      ("1 'A' 2 3 1 'B' 2 'x' 1 'C' 2 5 2 3 1 'D' 2 '1' 4 6 4", #"{"A":{"B":"x","C":[{"D":"1"}]}}"#),
      ("1 'A' 2 5 2 'x' 6 2 'y'", #"{"A":[["x"],"y"]}"#),
      ("1 'A'", #"{"A":""}"#),
      ("1 2 'x'", #"{"":"x"}"#),
      ("1 'A' 2 'x' 1 'B' 2 'y' 1 'A' 2 'z'", #"{"A":"z","B":"y"}"#),
      ("1 'A\"' 2 '\\' 10 0", #"{"A\"":"\\\n\u0000"}"#),
      ("1 'A' 2 195 169", #"{"A":"é"}"#),
      ("1 'A' 2 233", "{\"A\":\"\u{FFFD}\"}"),
      ("1 'A' 2 IAC IAC", "{\"A\":\"\u{FFFD}\"}"),
      ("", "{}"),
      // Against the grammar.
      ("'HP' 2 '10'", nil),
      ("2 '10'", nil),
      ("1 'A' 2 3", nil),
      ("1 'A' 2 5 2 'x'", nil),
      ("1 'A' 2 'x' 4", nil),
      ("1 'A' 2 'x' 6", nil),
      ("1 'A' 2 5 2 'x' 4", nil),
      ("1 'A' 2 3 1 'B' 2 'x' 6", nil),
      ("1 'A' 2 3 2 'x' 4", nil),
      ("1 'A' 2 5 'x' 6", nil),
      ("1 'A' 2 5 6 'x'", nil),
      ("1 'A' 3 4", nil),
      ("1 'A' 2 'x' 3 4", nil),
    ] as [(String, String?)])
  func fromTheGame(body: String, json: String?) {
    let talk = Conversation.everyWay(wire("IAC SB 69 \(body) IAC SE"), after: Self.on)
    #expect(talk.happenings == [json.map { .msdp($0) } ?? .event(.dropped(.malformed))], "\(body)")
  }

  /// Names come twice at each depth, among few members and among many, with values of all kinds.
  @Test func theLaterOfTwinsCounts() {
    var random = SplitMix(seed: 71)
    for _ in 0..<300 {
      let (body, json) = Self.table(depth: 3, using: &random)
      let talk = Conversation([wire("IAC SB 69 \(body) IAC SE")], after: Self.on)
      #expect(talk.happenings == [.msdp(json)])
    }
  }

  /// As bytes in words and as what has to come of it, by an ordered list of names.
  private static func table(depth: Int, using random: inout SplitMix) -> (body: String, json: String) {
    var body: [String] = []
    var members: [(name: String, json: String)] = []
    for _ in 0..<Int.random(in: 0...25, using: &random) {
      let name = String(Int.random(in: 0...30, using: &random))
      var values: [(body: String, json: String)] = []
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        if depth > 0, Int.random(in: 0...9, using: &random) == 0 {
          let inner = table(depth: depth - 1, using: &random)
          values.append(("3 \(inner.body) 4", inner.json))
        } else {
          let text = ["a", "", "x y", "~", "é", "a}b"].randomElement(using: &random) ?? ""
          values.append(("'\(text)'", "\"\(text)\""))
        }
      }
      body.append("1 '\(name)'" + values.map { " 2 \($0.body)" }.joined())
      let list = values.map(\.json).joined(separator: ",")
      let json = values.isEmpty ? "\"\"" : values.count == 1 ? list : "[\(list)]"
      if let place = members.firstIndex(where: { $0.name == name }) {
        members[place].json = json
      } else {
        members.append((name, json))
      }
    }
    let object = members.map { "\"\($0.name)\":\($0.json)" }.joined(separator: ",")
    return (body.joined(separator: " "), "{\(object)}")
  }

  /// The tilde and the backslash are other characters in some charsets, all else in ASCII is the same in each.
  @Test func whatACharsetHasOtherwiseIsAskedOfIt() {
    var odd = settings()
    odd.charset = TelnetCharset(
      name: Array("ODD".utf8), isUTF8: false,
      decode: { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        return Array(text.replacing("~", with: "‾").replacing("\\", with: "¥").utf8)
      },
      encode: { $0 })
    let talk = Conversation(
      [wire("IAC SB 69 1 'A~' 2 92 2 'plain {[,:]}' IAC SE")], odd, after: Self.on)
    #expect(talk.happenings == [.msdp(#"{"A‾":["¥","plain {[,:]}"]}"#)])
  }

  @Test(
    arguments: [
      ("1 'NAME' 2 'Aard' 1 'PORT' 2 '23' 2 '4000'", #"{"NAME":"Aard","PORT":["23","4000"]}"#),
      ("", "{}"),
      // What opens and closes in MSDP, 3 to 6, is text: a name in mIRC's colours.
      ("1 'NAME' 2 3 '04Mud' 15 1 'A' 2 4 5 6", #"{"NAME":"\u000304Mud\u000f","A":"\u0004\u0005\u0006"}"#),
      ("1 'A' 2 3 1 'B' 2 4", #"{"A":"\u0003","B":"\u0004"}"#),
      ("2 'A'", nil), ("3 1 'A' 2 'B'", nil),
    ] as [(String, String?)])
  func statusOfTheGame(body: String, json: String?) {
    let talk = Conversation.everyWay(wire("IAC SB 70 \(body) IAC SE"), after: Self.on)
    #expect(talk.happenings == [json.map { .mssp($0) } ?? .event(.dropped(.malformed))], "\(body)")
  }

  @Test func nesting() {
    for (open, close, json) in [("3 1 'B' 2", "4", ("{\"B\":", "}")), ("5 2", "6", ("[", "]"))] {
      for (depth, isGood) in [(7, true), (8, true), (9, false)] {
        func times(_ text: String) -> String { String(repeating: text, count: depth) }
        let body = "1 'A' 2 \(times(open + " ")) 'x' \(times(close + " "))"
        let talk = Conversation([wire("IAC SB 69 \(body) IAC SE")], after: Self.on)
        let expected = #"{"A":\#(times(json.0))"x"\#(times(json.1))}"#
        #expect(talk.happenings == [isGood ? .msdp(expected) : .event(.dropped(.malformed))], "\(depth)")
        let sent = Talker()
        sent.receive(Self.on)
        _ = sent.takeOutput()
        #expect(sent.msdp(expected) == (isGood ? .sent : .unfit))
        #expect(sent.takeOutput() == (isGood ? wire("IAC SB 69 \(body) IAC SE") : []))
      }
    }
  }

  @Test func stringsAreInTheGamesCharset() {
    var latin = settings()
    latin.charset = latin1
    let talker = Talker(latin)
    talker.receive(Self.on + wire("IAC SB 69 1 'A' 233 2 IAC IAC IAC SE IAC SB 70 1 'N' 2 228 IAC SE"))
    #expect(talker.happenings == [.event(.msdpAgreed), .msdp(#"{"Aé":"ÿ"}"#), .mssp(#"{"N":"ä"}"#)])
    _ = talker.takeOutput()
    #expect(talker.msdp(#"{"é":"ÿ€"}"#) == .sent)
    #expect(talker.takeOutput() == wire("IAC SB 69 1 233 2 IAC IAC '?' IAC SE"))
  }

  // MARK: To the game

  @Test(
    arguments: [
      (#"{"LIST":"COMMANDS"}"#, "1 'LIST' 2 'COMMANDS'"),
      (#"{"REPORT":["HP","MP"]}"#, "1 'REPORT' 2 5 2 'HP' 2 'MP' 6"),
      (
        #"{"A":{"B":1.50,"C":true,"D":false,"E":null},"F":[]}"#,
        "1 'A' 2 3 1 'B' 2 '1.50' 1 'C' 2 '1' 1 'D' 2 '0' 1 'E' 2 4 1 'F' 2 5 6"
      ),
      (#"{"A":"\u0007"}"#, "1 'A' 2 7"),
      (#"{"":""}"#, "1 2"),
      ("{}", nil), ("[]", nil), (#""A""#, nil), ("", nil), ("{", nil), (#"{"A":1}x"#, nil),
      (#"{"A":1,"A":2}"#, nil),
      (#"{"A":"\u0000"}"#, nil), (#"{"A":"\u0001"}"#, nil), (#"{"A":["\u0006"]}"#, nil),
      (#"{"\u0002":1}"#, nil),
      (#"{"A":{"x\u0003":1}}"#, nil),
    ] as [(String, String?)])
  func toTheGame(object: String, body: String?) {
    let talker = Talker()
    #expect(talker.msdp(object) == (body == nil ? .unfit : .notAgreed))
    talker.receive("IAC DO 69")
    _ = talker.takeOutput()
    #expect(talker.msdp(object) == (body == nil ? .unfit : .sent), "\(object)")
    #expect(talker.takeOutput() == (body.map { wire("IAC SB 69 \($0) IAC SE") } ?? []), "\(object)")
  }

  // MARK: Reports

  @Test func reportsAreSaidWhenTheGameAgrees() {
    let talker = Talker()
    #expect(talker.msdp(#"{"REPORT":"HP"}"#) == .notAgreed)
    #expect(talker.msdp(#"{"REPORT":["MP","XP"]}"#) == .notAgreed)
    #expect(talker.msdp(#"{"UNREPORT":"MP"}"#) == .notAgreed)
    #expect(talker.msdp(#"{"REPORT":"HP"}"#) == .notAgreed)
    #expect(talker.msdp(#"{"LIST":"COMMANDS"}"#) == .notAgreed)
    let reports =
      wire("IAC SB 69 1 'REPORT' 2 5 2 'MP' 2 'XP' 6 IAC SE IAC SB 69 1 'UNREPORT' 2 'MP' IAC SE")
      + wire("IAC SB 69 1 'REPORT' 2 'HP' IAC SE")
    for _ in 0..<2 {
      talker.receive("IAC WILL 69")
      #expect(talker.takeOutput() == wire("IAC DO 69") + reports)
    }
    #expect(talker.msdp(#"{"RESET":"REPORTABLE_VARIABLES"}"#) == .sent)
    let reset = wire("IAC SB 69 1 'RESET' 2 'REPORTABLE_VARIABLES' IAC SE")
    #expect(talker.takeOutput() == reset)
    talker.receive("IAC WONT 69 IAC DO 69")
    #expect(talker.takeOutput() == wire("IAC DONT 69 IAC WILL 69") + reports + reset)
  }

  /// What a message says beside it is said once.
  @Test(arguments: [
    #"{"REPORT":["HP"],"SET":{"A":"1"}}"#, #"{"SET":{"A":"1"},"REPORT":["HP"]}"#,
    #"{"SEND":"XP","REPORT":["HP"],"SET":{"A":"1"}}"#,
  ])
  func onlyWhatIsToBeReportedIsSaidAgain(object: String) {
    let talker = Talker()
    talker.receive("IAC WILL 69")
    _ = talker.takeOutput()
    #expect(talker.msdp(object) == .sent)
    let whole = talker.takeOutput()
    for part in ["1 'REPORT' 2 5 2 'HP' 6", "1 'SET' 2 3 1 'A' 2 '1' 4"] {
      #expect(whole.firstRange(of: wire(part)) != nil)
    }
    talker.receive("IAC WILL 69")
    #expect(talker.takeOutput() == wire("IAC DO 69 IAC SB 69 1 'REPORT' 2 5 2 'HP' 6 IAC SE"))
  }

  @Test func severalOfAMessageAreSaidAgainTogether() {
    let talker = Talker()
    #expect(talker.msdp(#"{"RESET":"X","LIST":"COMMANDS","REPORT":"HP"}"#) == .notAgreed)
    talker.receive("IAC WILL 69")
    #expect(talker.takeOutput() == wire("IAC DO 69 IAC SB 69 1 'RESET' 2 'X' 1 'REPORT' 2 'HP' IAC SE"))
  }

  @Test func howManyReportsAreKept() {
    for (count, isKept) in [(512, true), (513, false)] {
      let talker = Talker()
      let name = String(repeating: "x", count: count - 8)
      _ = talker.msdp(#"{"REPORT":"a"}"#)
      _ = talker.msdp(#"{"REPORT":"\#(name)"}"#)
      talker.receive("IAC WILL 69")
      let kept = isKept ? name : "a"
      #expect(talker.takeOutput() == wire("IAC DO 69 IAC SB 69 1 'REPORT' 2 '\(kept)' IAC SE"))
    }
    let talker = Talker()
    for number in 10..<99 { _ = talker.msdp(#"{"REPORT":"\#(number)"}"#) }
    talker.receive("IAC WILL 69")
    let last = (48...98).map { "IAC SB 69 1 'REPORT' 2 '\($0)' IAC SE" }.joined(separator: " ")
    #expect(talker.takeOutput() == wire("IAC DO 69 \(last)"))
  }

  /// What one of us sends, another reads as it was.
  @Test func randomObjectsComeBack() throws {
    var random = SplitMix(seed: 69)
    let one = Talker()
    let other = Talker()
    one.receive(Self.on)
    other.receive(Self.on)
    _ = one.takeOutput()
    for _ in 0..<300 {
      other.happenings = []
      let object = Self.object(depth: 5, using: &random)
      #expect(one.msdp(object) == .sent)
      for piece in random.pieces(of: one.takeOutput(), upTo: 20) { other.receive(piece) }
      #expect(other.happenings == [.msdp(object)])
    }
  }

  private static func object(depth: Int, using random: inout SplitMix) -> String {
    let members = (0..<Int.random(in: 1...4, using: &random)).map { index in
      "\"\(index)\(text(using: &random))\":\(value(depth: depth - 1, using: &random))"
    }
    return "{\(members.joined(separator: ","))}"
  }

  private static func value(depth: Int, using random: inout SplitMix) -> String {
    switch Int.random(in: depth > 0 ? 0...3 : 2...3, using: &random) {
    case 0: return object(depth: depth, using: &random)
    case 1:
      let count = Int.random(in: 0...4, using: &random)
      return "[\((0..<count).map { _ in value(depth: depth - 1, using: &random) }.joined(separator: ","))]"
    default: return "\"\(text(using: &random))\""
    }
  }

  private static func text(using random: inout SplitMix) -> String {
    (0..<Int.random(in: 0...5, using: &random)).map { _ in
      ["a", "Z", " ", "é", "€", "𝄞", #"\""#, #"\\"#, #"\u0007"#, "/"].randomElement(using: &random) ?? ""
    }.joined()
  }
}
