/// The textual encoding of DER (RFC 7468): one labelled block of base64.
internal import Bytes

package enum PEMBlock {
  /// Lines of 64 characters, ended by a line feed.
  package static func encode(_ label: String, _ der: [UInt8]) -> String {
    var rest = Base64.encode(der.span)[...]
    var text = "-----BEGIN \(label)-----\n"
    while !rest.isEmpty {
      text += rest.prefix(64) + "\n"
      rest = rest.dropFirst(64)
    }
    return text + "-----END \(label)-----\n"
  }

  /// The first block with this label; text around blocks is skipped (RFC 7468 §2).
  package static func decode(_ label: String, _ text: [UInt8]) throws(IssuingError) -> [UInt8] {
    var body: [UInt8]?
    for line in text.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
      if line.elementsEqual("-----BEGIN \(label)-----".utf8) {
        body = []
      } else if line.elementsEqual("-----END \(label)-----".utf8) {
        guard let body, let der = Base64.decode(body.span) else { break }
        return der
      } else if body != nil {
        body?.append(contentsOf: line)
      }
    }
    throw .notPEM(label: label)
  }
}
