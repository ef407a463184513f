/// Reads the canonical subset of JSON; the first rule in the order of `CanonicalJSONError` that a text breaks is told,
/// but for those that are found on the way through it, of which it is the first one met.
internal import Bytes
internal import JSON

extension CanonicalObject {
  /// Any spelling of an object of the subset.
  package init(parsing bytes: Span<UInt8>) throws(CanonicalJSONError) {
    guard bytes.count <= Self.sizeLimit else { throw .size }
    var validator = UTF8Validator()
    guard validator.accept(bytes), validator.isComplete else { throw .utf8 }
    let value = try Self.read(bytes)
    guard let object = value.object else { throw .top }
    try object.checkCharacters()
    self = object
  }

  /// The canonical form alone.
  package init(canonical bytes: Span<UInt8>) throws(CanonicalJSONError) {
    try self.init(parsing: bytes)
    guard bytes.isEqual(to: self.bytes) else { throw .canonical }
  }

  private static func read(_ bytes: Span<UInt8>) throws(CanonicalJSONError) -> CanonicalValue {
    var reader = JSONReader(bytes, depthLimit: depthLimit)
    // Why a value is unsuitable, where it is.
    var unsuitable = CanonicalJSONError.type
    do throws(JSONError) {
      let value = try reader.readCanonicalValue(&unsuitable)
      try reader.finish()
      return value
    } catch {
      switch error.rule {
      case .unsuitable: throw unsuitable
      case .depthExceeded: throw .depth
      case .duplicateName: throw .duplicate
      case .loneSurrogate: throw .surrogate
      case .unexpectedEnd, .unexpectedByte, .trailingBytes, .controlCharacter, .invalidEscape, .invalidUTF8,
        .invalidNumber, .tooManyValues:
        throw .syntax
      }
    }
  }
}

extension JSONReader {
  fileprivate mutating func readCanonicalValue(
    _ unsuitable: inout CanonicalJSONError
  ) throws(JSONError) -> CanonicalValue {
    guard let first = peek() else { throw JSONError(.unexpectedEnd, at: position) }
    let start = position
    switch first {
    case UInt8(ascii: "{"): return .object(try readCanonicalObject(&unsuitable))
    case UInt8(ascii: "["): return .strings(try readStrings(&unsuitable))
    case UInt8(ascii: "\""):
      let text = try readString()
      return .string(string(text))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      let digits = raw(try readNumber())
      guard digits != Array("-0".utf8), let number = Int64(String(decoding: digits, as: UTF8.self)),
        CanonicalObject.integers.contains(number)
      else {
        unsuitable = .number
        throw JSONError(.unsuitable, at: start)
      }
      return .integer(number)
    default:
      switch try readLiteral() {
      case .true: return .boolean(true)
      case .false: return .boolean(false)
      case .null:
        unsuitable = .type
        throw JSONError(.unsuitable, at: start)
      }
    }
  }

  private mutating func readCanonicalObject(
    _ unsuitable: inout CanonicalJSONError
  ) throws(JSONError) -> CanonicalObject {
    try enterObject()
    var names = SeenNames()
    var object = names.open()
    var members: [CanonicalObject.Member] = []
    while let text = try nextMember() {
      guard names.insert(text, of: &object, in: self) else {
        throw JSONError(.duplicateName, at: text.range.lowerBound)
      }
      members.append(CanonicalObject.Member(string(text), try readCanonicalValue(&unsuitable)))
    }
    return CanonicalObject(unchecked: members)
  }

  private mutating func readStrings(_ unsuitable: inout CanonicalJSONError) throws(JSONError) -> [String] {
    try enterArray()
    var strings: [String] = []
    while try nextElement() {
      let value = try readCanonicalValue(&unsuitable)
      guard let string = value.string else {
        unsuitable = .type
        throw JSONError(.unsuitable, at: position)
      }
      strings.append(string)
    }
    return strings
  }
}
