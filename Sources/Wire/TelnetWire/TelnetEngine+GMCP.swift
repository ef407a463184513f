/// GMCP both ways: what games say as checked JSON, and what is said to them.
internal import JSON

extension TelnetEngine {
  // MARK: From the game

  func readGMCP(_ content: ArraySlice<UInt8>) -> TelnetEvent {
    let name = content.prefix { !Self.isSpace($0) }
    guard (1...Self.nameLimit).contains(name.count), name.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      return .dropped(.malformed)
    }
    var data = content.dropFirst(name.count).drop(while: Self.isSpace)
    while let last = data.last, Self.isSpace(last) { data.removeLast() }
    if data.isEmpty { return .gmcp(package: Array(name), data: nil) }
    let json = Self.isJSON(data.span) ? Array(data) : AlmostJSON.repaired(data) ?? Self.quoted(data)
    if json.count > Self.eventLimit { return .dropped(.eventTooLarge) }
    return .gmcp(package: Array(name), data: json)
  }

  private static func quoted(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var json: [UInt8] = []
    json.reserveCapacity(text.count + 2)
    JSONWriter.append(quoted: String(decoding: text, as: UTF8.self), to: &json)
    return json
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  /// In bytes, of names that games send.
  private static let nameLimit = 128

  // MARK: From the app

  /// - Parameters:
  ///   - package: a letter and up to 63 letters, digits, `_`, `.` and `-` more.
  ///   - data: JSON, checked by the caller; nil for none.
  package mutating func sendGMCP(
    package name: [UInt8], data: [UInt8]?, into output: inout [UInt8]
  ) -> Sending {
    guard Self.isName(name) else { return .unfit }
    keepOwnWords(name, data)
    guard isGMCPAgreed else { return .notAgreed }
    say(name, data, &output)
    return .sent
  }

  private mutating func keepOwnWords(_ name: [UInt8], _ data: [UInt8]?) {
    guard let data, data.count <= OwnWords.limit else { return }
    if Self.isSame(name, Self.helloName) {
      ownWords.hello = data
      state.isHelloDue = false
    } else if Self.isSame(name, Self.supportsName) {
      ownWords.supports = data
    }
  }

  /// The client, in its own words if it has said them.
  mutating func sayHello(_ output: inout [UInt8]) {
    if ownWords.hello == nil, client == nil {
      state.isHelloDue = true
      return
    }
    state.isHelloDue = false
    say(Self.helloName, ownWords.hello ?? Self.hello(client), &output)
    saySupports(&output)
    if !state.isAttached { sayLink(&output) }
  }

  func saySupports(_ output: inout [UInt8]) {
    if let own = ownWords.supports {
      say(Self.supportsName, own, &output)
    } else if let packages = client?.gmcp {
      var list = JSONWriter()
      list.beginArray()
      for name in packages { list.value(String(decoding: name, as: UTF8.self)) }
      list.endArray()
      say(Self.supportsName, list.bytes, &output)
    }
  }

  func sayLink(_ output: inout [UInt8]) {
    guard isGMCPAgreed else { return }
    let link = state.isAttached ? #"{"state":"attached"}"# : #"{"state":"detached"}"#
    say(Self.linkName, Array(link.utf8), &output)
  }

  private static func hello(_ client: ClientDescription?) -> [UInt8] {
    let client = client ?? ClientDescription()
    var hello = JSONWriter()
    hello.beginObject()
    hello.name("client")
    hello.value(String(decoding: client.nameOrDefault, as: UTF8.self))
    // Games expect both members.
    hello.name("version")
    hello.value(String(decoding: client.version?.bytes ?? [], as: UTF8.self))
    hello.endObject()
    return hello.bytes
  }

  private func say(_ name: [UInt8], _ data: [UInt8]?, _ output: inout [UInt8]) {
    var body = name
    if let data {
      body.append(0x20)
      body += data
    }
    TelnetWriter.subnegotiation(.gmcp, body, to: &output)
  }

  private static func isName(_ name: [UInt8]) -> Bool {
    guard (1...64).contains(name.count), isLetter(name[0]) else { return false }
    return name.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
        true
      default: isLetter(byte)
      }
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(asciiUppercase(byte)) }

  private static func isSame(_ name: [UInt8], _ other: [UInt8]) -> Bool {
    name.map(asciiUppercase) == other.map(asciiUppercase)
  }

  private static let helloName = Array("Core.Hello".utf8)
  private static let supportsName = Array("Core.Supports.Set".utf8)
  private static let linkName = Array("Portcullis.Link".utf8)
}

// MARK: JSON without a tree

extension TelnetEngine {
  /// Whether it is one JSON value. Names may come twice: games write such, and whoever reads it knows what to do.
  static func isJSON(_ bytes: Span<UInt8>) -> Bool {
    var reader = JSONReader(bytes, depthLimit: 62)
    do throws(JSONError) {
      try pass(&reader)
      try reader.finish()
      return true
    } catch {
      return false
    }
  }

  private static func pass(_ reader: inout JSONReader) throws(JSONError) {
    guard let first = reader.peek() else { throw JSONError(.unexpectedEnd, at: reader.position) }
    switch first {
    case UInt8(ascii: "{"):
      try reader.enterObject()
      while try reader.nextMember() != nil { try pass(&reader) }
    case UInt8(ascii: "["):
      try reader.enterArray()
      while try reader.nextElement() { try pass(&reader) }
    case UInt8(ascii: "\""): _ = try reader.readString()
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = try reader.readNumber()
    default: _ = try reader.readLiteral()
    }
  }
}
