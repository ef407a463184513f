/// Writes DER, and by its raw parts also what DER forbids.
package enum DERWriter {
  package static func element(_ tag: [UInt8], _ content: [UInt8]) -> [UInt8] {
    let length: [UInt8] =
      switch content.count {
      case ..<0x80: [UInt8(content.count)]
      case ..<0x100: [0x81, UInt8(content.count)]
      default: [0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
      }
    return tag + length + content
  }

  package static func sequence(_ elements: [UInt8]...) -> [UInt8] { element([0x30], elements.flatMap { $0 }) }
  package static func set(_ elements: [UInt8]...) -> [UInt8] { element([0x31], elements.flatMap { $0 }) }
  package static func integer(_ content: [UInt8]) -> [UInt8] { element([0x02], content) }
  package static func octetString(_ bytes: [UInt8]) -> [UInt8] { element([0x04], bytes) }
  package static func identifier(_ content: [UInt8]) -> [UInt8] { element([0x06], content) }
  package static func utf8(_ text: String) -> [UInt8] { element([0x0C], Array(text.utf8)) }
  package static func utcTime(_ text: String) -> [UInt8] { element([0x17], Array(text.utf8)) }
  package static let `true`: [UInt8] = [0x01, 0x01, 0xFF]
  package static let `false`: [UInt8] = [0x01, 0x01, 0x00]

  /// A name of one common name.
  package static func name(_ text: String) -> [UInt8] {
    sequence(set(sequence(identifier([0x55, 0x04, 0x03]), utf8(text))))
  }

  package static func `extension`(_ oid: [UInt8], critical: [UInt8] = [], _ value: [UInt8]) -> [UInt8] {
    sequence(identifier(oid), critical, octetString(value))
  }
}
