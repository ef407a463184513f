/// Queries and forms as browsers write them (WHATWG URL, "application/x-www-form-urlencoded"), read strictly.
extension AdminForm {
  package enum ParseError: String, Error, Equatable, Sendable {
    case tooManyFields
    case repeatedName
    /// A `%` without two hexadecimal digits.
    case escape
    /// Not UTF-8.
    case text
  }

  /// A page has a dozen.
  package static let mostFields = 64

  /// The limit on bytes is the caller's.
  package init(parsing bytes: Span<UInt8>) throws(ParseError) {
    var fields: [(name: String, value: String)] = []
    var names: Set<String> = []
    var position = 0
    while position < bytes.count {
      var end = position
      var sign: Int?
      while end < bytes.count, bytes[end] != UInt8(ascii: "&") {
        if sign == nil, bytes[end] == UInt8(ascii: "=") { sign = end }
        end += 1
      }
      defer { position = end + 1 }
      // Nothing between two ampersands is no field.
      if end == position { continue }
      guard fields.count < Self.mostFields else { throw .tooManyFields }
      let name = try Self.decoded(bytes.extracting(position..<(sign ?? end)))
      let value = try sign.map { (sign) throws(ParseError) in
        try Self.decoded(bytes.extracting(sign + 1..<end))
      }
      guard names.insert(name).inserted else { throw .repeatedName }
      fields.append((name, value ?? ""))
    }
    self.init(fields)
  }

  private static func decoded(_ bytes: Span<UInt8>) throws(ParseError) -> String {
    var plain: [UInt8] = []
    plain.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "+"): plain.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard index + 2 < bytes.count, let high = digit(bytes[index + 1]), let low = digit(bytes[index + 2])
        else {
          throw .escape
        }
        plain.append(high << 4 | low)
        index += 2
      default: plain.append(bytes[index])
      }
      index += 1
    }
    guard let text = String(validating: plain, as: UTF8.self) else { throw .text }
    return text
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
