/// MSDP and MSSP as JSON: variables become members, tables objects, arrays arrays, and all else strings.
internal import JSON

enum MSDPByte {
  static let variable: UInt8 = 1
  static let value: UInt8 = 2
  static let tableOpen: UInt8 = 3
  static let tableClose: UInt8 = 4
  static let arrayOpen: UInt8 = 5
  static let arrayClose: UInt8 = 6

  /// Tables and arrays within one another.
  static let depthLimit = 8
}

/// Reads one body from its start to its end; nil comes of whatever breaks the grammar.
///
/// The JSON is written as the body is read, in one piece: a value may be a single byte of the game's.
struct MSDPReader {
  private let bytes: ArraySlice<UInt8>
  private let charset: TelnetCharset
  /// What ends a text.
  private let grammar: ClosedRange<UInt8>
  private var position: Int
  private var depth = 0
  private var json: [UInt8] = []

  private init(_ bytes: ArraySlice<UInt8>, _ charset: TelnetCharset, _ grammar: ClosedRange<UInt8>) {
    self.grammar = grammar
    self.bytes = bytes
    self.charset = charset
    position = bytes.startIndex
    json.reserveCapacity(bytes.count + 2)
  }

  static func json(
    _ body: ArraySlice<UInt8>, _ charset: TelnetCharset,
    grammar: ClosedRange<UInt8> = MSDPByte.variable...MSDPByte.arrayClose
  ) -> [UInt8]? {
    var reader = Self(body, charset, grammar)
    guard reader.readMembers(), reader.position == body.endIndex else { return nil }
    return reader.json
  }

  /// MSSP knows variables and values alone: bytes that open and close in MSDP are text here, such as colours.
  static func jsonOfMSSP(_ body: ArraySlice<UInt8>, _ charset: TelnetCharset) -> [UInt8]? {
    json(body, charset, grammar: MSDPByte.variable...MSDPByte.value)
  }

  // MARK: Grammar

  /// Variables with their values, up to something else. A variable that comes again replaces the one before.
  private mutating func readMembers() -> Bool {
    let start = json.count
    var members = MSDPMembers()
    json.append(UInt8(ascii: "{"))
    while take(MSDPByte.variable) {
      if json.count > start + 1 { json.append(UInt8(ascii: ",")) }
      let name = json.count
      readText()
      let colon = json.count
      json.append(UInt8(ascii: ":"))
      guard readValues() else { return false }
      members.append(name: name..<colon, value: colon..<json.count, in: json)
    }
    if members.haveTwins { members.write(to: &json, from: start + 1) }
    json.append(UInt8(ascii: "}"))
    return true
  }

  /// Of a variable: one value, or an array of several; none is an empty one.
  private mutating func readValues() -> Bool {
    let start = json.count
    var count = 0
    while take(MSDPByte.value) {
      if count == 1 { json.insert(UInt8(ascii: "["), at: start) }
      if count > 0 { json.append(UInt8(ascii: ",")) }
      guard readValue() else { return false }
      count += 1
    }
    switch count {
    case 0: json.append(contentsOf: "\"\"".utf8)
    case 1: break
    default: json.append(UInt8(ascii: "]"))
    }
    return true
  }

  private mutating func readValue() -> Bool {
    if take(MSDPByte.tableOpen) {
      guard enter(), readMembers(), take(MSDPByte.tableClose) else { return false }
      depth -= 1
    } else if take(MSDPByte.arrayOpen) {
      guard enter(), readElements(), take(MSDPByte.arrayClose) else { return false }
      depth -= 1
    } else {
      readText()
    }
    return true
  }

  private mutating func readElements() -> Bool {
    let start = json.count
    json.append(UInt8(ascii: "["))
    while take(MSDPByte.value) {
      if json.count > start + 1 { json.append(UInt8(ascii: ",")) }
      guard readValue() else { return false }
    }
    json.append(UInt8(ascii: "]"))
    return true
  }

  private mutating func enter() -> Bool {
    depth += 1
    return depth <= MSDPByte.depthLimit
  }

  /// Up to the next byte of the grammar's, as a JSON string.
  private mutating func readText() {
    let start = position
    var isPlain = true
    while position < bytes.endIndex, !grammar.contains(bytes[position]) {
      if !Self.isPlain(bytes[position]) { isPlain = false }
      position += 1
    }
    if isPlain {
      json.append(UInt8(ascii: "\""))
      json.append(contentsOf: bytes[start..<position])
      json.append(UInt8(ascii: "\""))
    } else {
      let text = charset.decode(Array(bytes[start..<position]))
      JSONWriter.append(quoted: String(decoding: text, as: UTF8.self), to: &json)
    }
  }

  /// What stands for itself in every charset that a game may have, and in JSON: ASCII but for the quote, the backslash and
  /// the tilde, which Shift_JIS has otherwise.
  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x20...0x7D).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard position < bytes.endIndex, bytes[position] == byte, grammar.contains(byte) else { return false }
    position += 1
    return true
  }
}

/// Where the members of one object stand that is being written, and which of them have the same name.
private struct MSDPMembers {
  private struct Member {
    var name: Range<Int>
    /// With its colon.
    var value: Range<Int>
  }

  /// By their first place, each with its last value.
  private var members: [Member] = []
  /// By a number for the name; made once there are some.
  private var places: [Int: Int] = [:]
  private(set) var haveTwins = false

  mutating func append(name: Range<Int>, value: Range<Int>, in json: [UInt8]) {
    if let place = place(of: name, in: json) {
      haveTwins = true
      members[place].value = value
      return
    }
    members.append(Member(name: name, value: value))
    if members.count == Self.few {
      for (place, member) in members.enumerated() { places[Self.key(member.name, json)] = place }
    } else if members.count > Self.few {
      places[Self.key(name, json)] = members.count - 1
    }
  }

  private func place(of name: Range<Int>, in json: [UInt8]) -> Int? {
    if members.count < Self.few { return members.firstIndex { json[$0.name] == json[name] } }
    guard let place = places[Self.key(name, json)] else { return nil }
    return json[members[place].name] == json[name] ? place : nil
  }

  /// In place of all that stands there.
  func write(to json: inout [UInt8], from start: Int) {
    let written = json
    json.removeLast(json.count - start)
    for (index, member) in members.enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      json += written[member.name]
      json += written[member.value]
    }
  }

  private static func key(_ name: Range<Int>, _ json: [UInt8]) -> Int {
    var hasher = Hasher()
    for byte in json[name] { hasher.combine(byte) }
    return hasher.finalize()
  }

  /// So few are looked through one by one.
  private static let few = 8
}
