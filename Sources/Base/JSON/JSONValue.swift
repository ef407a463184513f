/// A JSON value as a tree, for texts small enough to be held whole.
package enum JSONValue: Equatable, Sendable {
  case null
  case boolean(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// Reads one value and nothing after it.
  ///
  /// - Parameter valueLimit: how many values there may be in all, the outermost included. Each one costs memory and a few
  ///   hundred nanoseconds: of a stranger's text, an honest one's number and some more.
  package init(parsing bytes: Span<UInt8>, depthLimit: Int, valueLimit: Int = .max) throws(JSONError) {
    var reader = JSONReader(bytes, depthLimit: depthLimit)
    var names = SeenNames()
    var left = valueLimit
    self = try reader.readValue(&names, &left)
    try reader.finish()
  }

  package var object: JSONObject? {
    if case .object(let object) = self { object } else { nil }
  }

  package var array: [JSONValue]? {
    if case .array(let array) = self { array } else { nil }
  }

  package var string: String? {
    if case .string(let string) = self { string } else { nil }
  }

  package var boolean: Bool? {
    if case .boolean(let boolean) = self { boolean } else { nil }
  }

  /// Of a number written without fraction and exponent that fits.
  package var integer: Int64? {
    if case .number(let number) = self { number.integer } else { nil }
  }
}

/// A number as it was written: JSON sets no limits, so neither does its reader.
package struct JSONNumber: Equatable, Sendable, ExpressibleByIntegerLiteral {
  package let text: String

  fileprivate init(checked text: String) {
    self.text = text
  }

  package init(_ value: Int64) {
    text = String(value)
  }

  package init(integerLiteral value: Int64) {
    self.init(value)
  }

  /// Nil with a fraction or an exponent, or beyond 64 bits.
  package var integer: Int64? { Int64(text) }

  /// Nil with a fraction or an exponent; the last one of its sign beyond 64 bits.
  package var clampedInteger: Int64? {
    if let integer { return integer }
    let isWhole = text.utf8.allSatisfy {
      $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
    }
    guard isWhole else { return nil }
    return text.hasPrefix("-") ? .min : .max
  }
}

/// Members in the order in which they came; no name twice.
package struct JSONObject: Equatable, Sendable {
  package struct Member: Equatable, Sendable {
    package let name: String
    package let value: JSONValue

    package static func == (left: Self, right: Self) -> Bool {
      left.isNamed(right.name) && left.value == right.value
    }

    fileprivate func isNamed(_ name: String) -> Bool {
      let (mine, other) = (self.name.utf8.span, name.utf8.span)
      guard mine.count == other.count else { return false }
      for index in mine.indices where mine[index] != other[index] { return false }
      return true
    }
  }

  package let members: [Member]

  fileprivate init(members: [Member]) {
    self.members = members
  }

  /// Of names that differ, which is the caller's affair.
  package init(_ members: [(name: String, value: JSONValue)]) {
    self.members = members.map(Member.init)
    guard Set(members.map { Array($0.name.utf8) }).count == members.count else {
      fatalError("a JSON object with a name twice")
    }
  }

  /// The member of exactly these bytes.
  package subscript(name: String) -> JSONValue? {
    members.first { $0.isNamed(name) }?.value
  }
}

extension JSONReader {
  /// The next value, whole; `left` values may come.
  fileprivate mutating func readValue(_ names: inout SeenNames, _ left: inout Int) throws(JSONError)
    -> JSONValue
  {
    guard let first = peek() else { throw JSONError(.unexpectedEnd, at: position) }
    if left == 0 { throw JSONError(.tooManyValues, at: position) }
    left -= 1
    switch first {
    case UInt8(ascii: "{"):
      try enterObject()
      var object = names.open()
      var members: [JSONObject.Member] = []
      while let name = try nextMember() {
        guard names.insert(name, of: &object, in: self) else {
          throw JSONError(.duplicateName, at: name.range.lowerBound)
        }
        members.append(JSONObject.Member(name: string(name), value: try readValue(&names, &left)))
      }
      names.close(object)
      return .object(JSONObject(members: members))
    case UInt8(ascii: "["):
      try enterArray()
      var elements: [JSONValue] = []
      while try nextElement() { elements.append(try readValue(&names, &left)) }
      return .array(elements)
    case UInt8(ascii: "\""):
      let text = try readString()
      return .string(string(text))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      let range = try readNumber()
      return .number(JSONNumber(checked: String(decoding: raw(range), as: UTF8.self)))
    default:
      switch try readLiteral() {
      case .true: return .boolean(true)
      case .false: return .boolean(false)
      case .null: return .null
      }
    }
  }
}
