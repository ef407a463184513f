/// What telnet is told of the gate's settings, and of who plays.
package import Addresses
package import Charsets
package import Configuration
package import Identity
package import SessionWire
internal import Synchronization
package import TelnetWire

extension TelnetSettings {
  package init(
    _ settings: GateConfiguration.Telnet, _ dialect: Dialect, charsets: TelnetCharsets, address: IPAddress,
    device: DevicePseudonym?
  ) {
    self.init()
    agreesToSuppressGoAhead = settings.agreesToSuppressGoAhead
    acceptsCompression = settings.compression == .mccp2
    refusesStructured = dialect == .terminal
    charset = charsets[settings.charset]
    charsetNamed = charsets.named
    self.address = Array(address.description.utf8)
    self.device = device.map { Array($0.description.utf8) }
  }
}

/// The charsets that games may speak, as telnet knows them: each is made once, and not once for each of thousands of
/// sessions.
package final class TelnetCharsets: Sendable {
  /// The one of a name that a game offers.
  package let named: @Sendable (_ name: [UInt8]) -> TelnetCharset?
  private let made: Made

  package init(_ library: CharsetLibrary) {
    let made = Made(library)
    self.made = made
    named = { name in
      guard let charset = Charset(named: name), library.has(charset) else { return nil }
      return made.charset(charset)
    }
  }

  package subscript(charset: Charset) -> TelnetCharset { made.charset(charset) }

  private final class Made: Sendable {
    private let library: CharsetLibrary
    private let charsets = Mutex<[Charset: TelnetCharset]>([:])

    init(_ library: CharsetLibrary) { self.library = library }

    func charset(_ charset: Charset) -> TelnetCharset {
      charsets.withLock { charsets in
        if let known = charsets[charset] { return known }
        let new = TelnetCharset(charset, library)
        charsets[charset] = new
        return new
      }
    }
  }
}

extension TelnetCharset {
  fileprivate init(_ charset: Charset, _ library: CharsetLibrary) {
    let (decoder, encoder) = library.coders(for: charset)
    self.init(
      name: Array(charset.name.utf8), isUTF8: charset.isUTF8,
      decode: { bytes in
        var text: [UInt8] = []
        var decoder = decoder
        decoder.decode(bytes.span, into: &text)
        decoder.finish(into: &text)
        return text
      },
      encode: { text in
        var bytes: [UInt8] = []
        encoder.encode(text.span, into: &bytes)
        return bytes
      })
  }
}

extension CharsetLibrary {
  /// For a charset that is open; for another one as if it were UTF-8, in which what is not becomes U+FFFD.
  func coders(for charset: Charset) -> (decoder: CharsetDecoder, encoder: CharsetEncoder) {
    if let decoder = decoder(for: charset), let encoder = encoder(for: charset) { return (decoder, encoder) }
    guard let decoder = decoder(for: .utf8), let encoder = encoder(for: .utf8) else {
      fatalError("CharsetLibrary: UTF-8 is always there")
    }
    return (decoder, encoder)
  }
}
