/// A message as the search has it: what of it is said once, and a unit that is said as often as there is room for.

struct Message {
  let frame: Frame
  /// `#` in it is the number of the unit, in letters.
  let unit: String

  /// As `MAX_MESSAGE_BYTES` comes.
  static let largest = 65_536

  /// The payload, as long as it may be at most.
  func payload(upTo limit: Int = largest) -> [UInt8] {
    var bytes = Array(frame.start.utf8)
    let end = Array(frame.end.utf8)
    var number = 0
    while true {
      let parts = unit.split(separator: "#", omittingEmptySubsequences: false)
      let next = Array(parts.joined(separator: letters(number)).utf8)
      if next.isEmpty || bytes.count + next.count + end.count > limit { return bytes + end }
      bytes += next
      number += 1
    }
  }

  /// A different word for each number, and a short one.
  private func letters(_ number: Int) -> String {
    var (word, rest) = ("", number)
    repeat {
      word.unicodeScalars.append(Unicode.Scalar(UInt8(ascii: "a") + UInt8(rest % 26)))
      rest /= 26
    } while rest > 0
    return word
  }
}

/// How the message is spoken.
enum Speech {
  case portcullis, gmcp, json, terminal
}

/// What stands before and behind the units.
struct Frame {
  let name: String
  let dialect: Speech
  let start: String
  let end: String
  /// What units of it are made of.
  let content: Content

  enum Content { case members, elements, characters, escapedElements, escapedMembers, text }

  static let all: [Frame] = [
    Frame("ack.members", .portcullis, #"{"type":"ack","received":0,"#, #""-":0}"#, .members),
    Frame("ack.object", .portcullis, #"{"type":"ack","received":0,"x":{"#, #""-":0}}"#, .members),
    Frame("ack.array", .portcullis, #"{"type":"ack","received":0,"x":["#, "0]}", .elements),
    Frame("ack.string", .portcullis, #"{"type":"ack","received":0,"x":""#, #""}"#, .characters),
    Frame("ack.name", .portcullis, #"{"type":"ack","received":0,""#, #"":0}"#, .characters),
    Frame("gmcp.object", .portcullis, #"{"type":"gmcp","package":"A","data":{"#, #""-":0}}"#, .members),
    Frame("gmcp.array", .portcullis, #"{"type":"gmcp","package":"A","data":["#, "0]}", .elements),
    Frame("gmcp.string", .portcullis, #"{"type":"gmcp","package":"A","data":""#, #""}"#, .characters),
    Frame("msdp.object", .portcullis, #"{"type":"msdp","data":{"#, #""-":0}}"#, .members),
    Frame("msdp.array", .portcullis, #"{"type":"msdp","data":{"x":["#, "0]}}", .elements),
    Frame("msdp.string", .portcullis, #"{"type":"msdp","data":{"x":""#, #""}}"#, .characters),
    Frame("client.words", .portcullis, #"{"type":"client","gmcp":["#, #"""]}"#, .elements),
    Frame("gmcp. object", .gmcp, "A {", #""-":0}"#, .members),
    Frame("gmcp. array", .gmcp, "A [", "0]", .elements),
    Frame("gmcp. text", .gmcp, "A ", "", .text),
    Frame("json. array", .json, #"{"proto":"gmcp","id":"A","data":["#, "0]}", .elements),
    Frame("json. escaped array", .json, #"{"proto":"gmcp","id":"A","data":"["#, #"0]"}"#, .escapedElements),
    Frame(
      "json. escaped object", .json, #"{"proto":"gmcp","id":"A","data":"{"#, #"\"-\":0}"}"#, .escapedMembers),
    Frame("json. text", .json, #"{"proto":"text","data":""#, #""}"#, .characters),
    Frame("json. no json", .json, #"{"proto":"gmcp","id":"A","data":""#, #""}"#, .characters),
    Frame("json. size", .json, #"{"proto":"telnet_31","data":""#, #""}"#, .characters),
    Frame("typed", .terminal, "", "", .text),
  ]

  private init(_ name: String, _ dialect: Speech, _ start: String, _ end: String, _ content: Content) {
    (self.name, self.dialect, self.start, self.end, self.content) = (name, dialect, start, end, content)
  }
}

/// Units by chance.
struct Units {
  var random: SystemRandomNumberGenerator = SystemRandomNumberGenerator()

  mutating func unit(of content: Frame.Content) -> String {
    switch content {
    case .members: "\(name()):\(value(3)),"
    case .elements: "\(value(4)),"
    case .characters: characters(upTo: 6)
    case .escapedElements: escaped("\(value(3)),")
    case .escapedMembers: escaped("\(name()):\(value(2)),")
    case .text:
      pick(["\n", "\r", "\u{1}", "\0", "é", "€", "😀", "#", "x\n", "\"", "\\", " ", "\u{FF}\r\n", "[", "1,"])
    }
  }

  private func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      if character == "\"" || character == "\\" { escaped.append("\\") }
      escaped.append(character)
    }
    return escaped
  }

  private mutating func name() -> String { "\"\(chance(0.6) ? "#" : "")\(characters(upTo: 2))\"" }

  private mutating func characters(upTo most: Int) -> String {
    let escapes = [#"\n"#, #"\u0041"#, #"\ud83d\ude00"#, #"\""#, #"\u0001"#, #"\u00e9"#]
    let pieces = escapes + ["a", "é", "€", "😀", " ", "#", "A"]
    return (0..<Int.random(in: 0...most, using: &random)).map { _ in pick(pieces) }.joined()
  }

  private mutating func value(_ depth: Int) -> String {
    if depth == 0 || chance(0.5) {
      return pick(["0", "1", "-0.5e+1", "null", "true", "false", #""""#, #""\n""#, #""é""#, "123456", " 1 "])
    }
    let count = pick([0, 1, 1, 2, 3, 17])
    if chance(0.5) { return "[" + (0..<count).map { _ in value(depth - 1) }.joined(separator: ",") + "]" }
    let members = (0..<count).map { number in
      "\"\(chance(0.3) ? #"\n"# : "")\(String(number, radix: 36))\":\(value(depth - 1))"
    }
    return "{" + members.joined(separator: ",") + "}"
  }

  mutating func pick<Element>(_ some: [Element]) -> Element {
    some[Int.random(in: 0..<some.count, using: &random)]
  }

  mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
}
