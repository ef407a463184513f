/// `Sec-WebSocket-Extensions` as a typed list (RFC 6455 §9.1): names with parameters, nothing judged yet.
internal import HTTPWire

/// One extension that a client offers.
package struct ExtensionOffer: Equatable, Sendable {
  package struct Parameter: Equatable, Sendable {
    package let name: String
    /// Without its quotes; nil when there is no `=`.
    package let value: String?
  }

  package let name: String
  package let parameters: [Parameter]

  /// All offers in the order of preference; nil when the list is malformed. Empty elements are left out
  /// (RFC 9110 §5.6.1).
  static func list(_ bytes: [UInt8]) -> [ExtensionOffer]? {
    var reader = OfferReader(bytes: bytes)
    return reader.readList()
  }
}

/// The grammar: `1#( token *( ";" token [ "=" ( token | quoted-string ) ] ) )`.
private struct OfferReader {
  let bytes: [UInt8]
  private var position = 0

  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  mutating func readList() -> [ExtensionOffer]? {
    var offers: [ExtensionOffer] = []
    repeat {
      skipSpace()
      if position == bytes.count || bytes[position] == UInt8(ascii: ",") { continue }
      guard let name = readToken() else { return nil }
      var parameters: [ExtensionOffer.Parameter] = []
      while skip(UInt8(ascii: ";")) {
        guard let parameter = readParameter() else { return nil }
        parameters.append(parameter)
      }
      offers.append(ExtensionOffer(name: name, parameters: parameters))
    } while skip(UInt8(ascii: ","))
    return position == bytes.count ? offers : nil
  }

  private mutating func readParameter() -> ExtensionOffer.Parameter? {
    skipSpace()
    guard let name = readToken() else { return nil }
    guard skip(UInt8(ascii: "=")) else { return ExtensionOffer.Parameter(name: name, value: nil) }
    skipSpace()
    let isQuoted = position < bytes.count && bytes[position] == UInt8(ascii: "\"")
    guard let value = isQuoted ? readQuoted() : readToken() else { return nil }
    return ExtensionOffer.Parameter(name: name, value: value)
  }

  private mutating func readToken() -> String? {
    let start = position
    while position < bytes.count, TokenSyntax.isTokenByte(bytes[position]) { position += 1 }
    return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
  }

  /// What stands between the quotes must be a token once its backslashes are gone (RFC 6455 §9.1).
  private mutating func readQuoted() -> String? {
    var content: [UInt8] = []
    position += 1
    while position < bytes.count {
      var byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "\"") {
        return content.isEmpty ? nil : String(decoding: content, as: UTF8.self)
      }
      if byte == UInt8(ascii: "\\") {
        guard position < bytes.count else { return nil }
        byte = bytes[position]
        position += 1
      }
      guard TokenSyntax.isTokenByte(byte) else { return nil }
      content.append(byte)
    }
    return nil
  }

  /// Whether `separator` comes next, behind white space; it is then taken.
  private mutating func skip(_ separator: UInt8) -> Bool {
    skipSpace()
    guard position < bytes.count, bytes[position] == separator else { return false }
    position += 1
    return true
  }

  private mutating func skipSpace() {
    while position < bytes.count,
      bytes[position] == UInt8(ascii: " ") || bytes[position] == UInt8(ascii: "\t")
    {
      position += 1
    }
  }
}
