/// Writes compact JSON (RFC 8259) into bytes; commas and escapes are its business, order is the caller's.
package struct JSONWriter: Sendable {
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  package init() {}

  package var string: String { String(decoding: bytes, as: UTF8.self) }

  package mutating func beginObject() { open(UInt8(ascii: "{")) }
  package mutating func endObject() { close(UInt8(ascii: "}")) }
  package mutating func beginArray() { open(UInt8(ascii: "[")) }
  package mutating func endArray() { close(UInt8(ascii: "]")) }

  /// A member's name; its value comes next.
  package mutating func name(_ name: String) {
    separate()
    Self.append(quoted: name, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  package mutating func value(_ string: String) {
    separate()
    Self.append(quoted: string, to: &bytes)
  }

  package mutating func value(_ number: some BinaryInteger) {
    separate()
    bytes.append(contentsOf: String(number).utf8)
  }

  package mutating func value(_ boolean: Bool) {
    separate()
    bytes.append(contentsOf: (boolean ? "true" : "false").utf8)
  }

  package mutating func null() {
    separate()
    bytes.append(contentsOf: "null".utf8)
  }

  package mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .boolean(let boolean): self.value(boolean)
    case .number(let number): raw(Array(number.text.utf8))
    case .string(let string): self.value(string)
    case .array(let elements):
      beginArray()
      for element in elements { self.value(element) }
      endArray()
    case .object(let object):
      beginObject()
      for member in object.members {
        name(member.name)
        self.value(member.value)
      }
      endObject()
    }
  }

  /// A value that is JSON already.
  package mutating func raw(_ json: [UInt8]) {
    separate()
    bytes.append(contentsOf: json)
  }

  /// Between quotes, with the escapes that RFC 8259 §7 demands and no others.
  package static func append(quoted string: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(escape: byte, to: &bytes)
      case 0x00..<0x20: append(escapeOf: byte, to: &bytes)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// - Parameter byte: of a control character, below 0x20.
  package static func append(escapeOf byte: UInt8, to bytes: inout [UInt8]) {
    switch byte {
    case 0x08: append(escape: UInt8(ascii: "b"), to: &bytes)
    case 0x09: append(escape: UInt8(ascii: "t"), to: &bytes)
    case 0x0A: append(escape: UInt8(ascii: "n"), to: &bytes)
    case 0x0C: append(escape: UInt8(ascii: "f"), to: &bytes)
    case 0x0D: append(escape: UInt8(ascii: "r"), to: &bytes)
    default:
      append(escape: UInt8(ascii: "u"), to: &bytes)
      bytes.append(UInt8(ascii: "0"))
      bytes.append(UInt8(ascii: "0"))
      bytes.append(UInt8(ascii: "0") + byte >> 4)
      let digit = byte & 0x0F
      bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }

  @inline(__always)
  private static func append(escape letter: UInt8, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\\"))
    bytes.append(letter)
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }
}
