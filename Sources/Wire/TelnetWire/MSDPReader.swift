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
struct MSDPReader {
  private let bytes: ArraySlice<UInt8>
  private let charset: TelnetCharset
  private var position: Int
  private var depth = 0

  private init(_ bytes: ArraySlice<UInt8>, _ charset: TelnetCharset) {
    self.bytes = bytes
    self.charset = charset
    position = bytes.startIndex
  }

  static func json(_ body: ArraySlice<UInt8>, _ charset: TelnetCharset) -> [UInt8]? {
    var reader = Self(body, charset)
    guard let json = reader.readMembers(), reader.position == body.endIndex else { return nil }
    return json
  }

  /// MSSP knows variables and values alone.
  static func jsonOfMSSP(_ body: ArraySlice<UInt8>, _ charset: TelnetCharset) -> [UInt8]? {
    guard !body.contains(where: { (MSDPByte.tableOpen...MSDPByte.arrayClose).contains($0) }) else {
      return nil
    }
    return json(body, charset)
  }

  // MARK: Grammar

  /// Variables with their values, up to something else. A variable that comes again replaces the one before.
  private mutating func readMembers() -> [UInt8]? {
    var members: [(name: [UInt8], json: [UInt8])] = []
    var places: [[UInt8]: Int] = [:]
    while take(MSDPByte.variable) {
      let name = readText()
      guard let json = readValues() else { return nil }
      if let place = places[name] {
        members[place].json = json
      } else {
        places[name] = members.count
        members.append((name, json))
      }
    }
    var object: [UInt8] = [UInt8(ascii: "{")]
    for (index, member) in members.enumerated() {
      if index > 0 { object.append(UInt8(ascii: ",")) }
      object += member.name
      object.append(UInt8(ascii: ":"))
      object += member.json
    }
    object.append(UInt8(ascii: "}"))
    return object
  }

  /// Of a variable: one value, or an array of several; none is an empty one.
  private mutating func readValues() -> [UInt8]? {
    var values: [[UInt8]] = []
    while take(MSDPByte.value) {
      guard let value = readValue() else { return nil }
      values.append(value)
    }
    switch values.count {
    case 0: return Array("\"\"".utf8)
    case 1: return values[0]
    default: return Self.array(values)
    }
  }

  private mutating func readValue() -> [UInt8]? {
    if take(MSDPByte.tableOpen) {
      guard enter(), let object = readMembers(), take(MSDPByte.tableClose) else { return nil }
      depth -= 1
      return object
    }
    if take(MSDPByte.arrayOpen) {
      guard enter() else { return nil }
      var values: [[UInt8]] = []
      while take(MSDPByte.value) {
        guard let value = readValue() else { return nil }
        values.append(value)
      }
      guard take(MSDPByte.arrayClose) else { return nil }
      depth -= 1
      return Self.array(values)
    }
    return readText()
  }

  private mutating func enter() -> Bool {
    depth += 1
    return depth <= MSDPByte.depthLimit
  }

  /// Up to the next byte of the grammar's, as a JSON string.
  private mutating func readText() -> [UInt8] {
    let start = position
    while position < bytes.endIndex, !(MSDPByte.variable...MSDPByte.arrayClose).contains(bytes[position]) {
      position += 1
    }
    var json: [UInt8] = []
    let text = charset.decode(Array(bytes[start..<position]))
    JSONWriter.append(quoted: String(decoding: text, as: UTF8.self), to: &json)
    return json
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard position < bytes.endIndex, bytes[position] == byte else { return false }
    position += 1
    return true
  }

  private static func array(_ values: [[UInt8]]) -> [UInt8] {
    var array: [UInt8] = [UInt8(ascii: "[")]
    for (index, value) in values.enumerated() {
      if index > 0 { array.append(UInt8(ascii: ",")) }
      array += value
    }
    array.append(UInt8(ascii: "]"))
    return array
  }
}
