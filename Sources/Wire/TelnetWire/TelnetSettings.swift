/// What an operator has set, and what is known of a session before its first byte: fixed for its life.

package struct TelnetSettings: Sendable {
  /// Agrees to SUPPRESS-GO-AHEAD, as games that work character by character need.
  package var agreesToSuppressGoAhead = false
  package var acceptsCompression = false
  /// GMCP, MSDP and MSSP are refused, since the app could not be told of them.
  package var refusesStructured = false
  /// In use until the game chooses another one.
  package var charset = TelnetCharset.utf8
  /// The charset of a name that a game offers, in whatever case; nil when it is not known.
  package var charsetNamed: @Sendable (_ name: [UInt8]) -> TelnetCharset? = {
    TelnetCharset.utf8.isNamed($0) ? .utf8 : nil
  }
  /// The client's real address, as text; nil when it is not told to the game.
  package var address: [UInt8]?
  /// The pseudonym of the device in base64url; nil without a credential.
  package var device: [UInt8]?

  package init() {}
}

/// A charset as far as telnet has to do with it.
package struct TelnetCharset: Sendable {
  /// As games spell it.
  package let name: [UInt8]
  package let isUTF8: Bool
  /// Both whole strings, for the strings of MSDP and MSSP. What comes back of `decode` is UTF-8 in any case, and what
  /// `encode` gives never has a byte below 7.
  package let decode: @Sendable (_ bytes: [UInt8]) -> [UInt8]
  package let encode: @Sendable (_ utf8: [UInt8]) -> [UInt8]

  package init(
    name: [UInt8], isUTF8: Bool, decode: @escaping @Sendable ([UInt8]) -> [UInt8],
    encode: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) {
    self.name = name
    self.isUTF8 = isUTF8
    self.decode = decode
    self.encode = encode
  }

  package static let utf8 = Self(
    name: Array("UTF-8".utf8), isUTF8: true, decode: { Array(String(decoding: $0, as: UTF8.self).utf8) },
    encode: { $0 })

  func isNamed(_ other: [UInt8]) -> Bool {
    name.count == other.count && zip(name, other).allSatisfy { asciiUppercase($0) == asciiUppercase($1) }
  }
}

func asciiUppercase(_ byte: UInt8) -> UInt8 { (0x61...0x7A).contains(byte) ? byte & 0xDF : byte }
