/// Writes JSON objects (RFC 8259): what phones send, and what is signed of a summary.

/// A JSON object in the making; what is nil is left out, as the gate takes no null.
package struct JSONForm: Sendable {
  private var text: [UInt8] = []

  package init() {}

  package mutating func add(_ name: String, _ value: String?) {
    guard let value else { return }
    member(name)
    Self.append(quoted: value, to: &text)
  }

  package mutating func add(_ name: String, _ value: Int64?) {
    guard let value else { return }
    member(name)
    text += Array(String(value).utf8)
  }

  package mutating func add(_ name: String, _ value: Bool?) {
    guard let value else { return }
    member(name)
    text += Array((value ? "true" : "false").utf8)
  }

  package mutating func add(_ name: String, _ values: [String]?) {
    guard let values else { return }
    member(name)
    text.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      Self.append(quoted: value, to: &text)
    }
    text.append(UInt8(ascii: "]"))
  }

  package mutating func add(_ name: String, _ form: JSONForm?) {
    guard let form else { return }
    member(name)
    text += form.bytes
  }

  package var bytes: [UInt8] { [UInt8(ascii: "{")] + text + [UInt8(ascii: "}")] }

  private mutating func member(_ name: String) {
    if !text.isEmpty { text.append(UInt8(ascii: ",")) }
    Self.append(quoted: name, to: &text)
    text.append(UInt8(ascii: ":"))
  }

  /// Between quotes, with the escapes that RFC 8259 §7 demands and no others.
  static func append(quoted string: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0x08: bytes += Array("\\b".utf8)
      case 0x09: bytes += Array("\\t".utf8)
      case 0x0A: bytes += Array("\\n".utf8)
      case 0x0C: bytes += Array("\\f".utf8)
      case 0x0D: bytes += Array("\\r".utf8)
      case 0x00..<0x20: bytes += Array("\\u00\(ByteText.hex([byte]))".utf8)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
