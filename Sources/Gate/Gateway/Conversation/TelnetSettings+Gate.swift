/// What telnet is told of the gate's settings, and of who plays.
internal import Addresses
internal import Charsets
internal import Configuration
internal import Identity
internal import SessionWire
internal import TelnetWire

extension TelnetSettings {
  init(
    _ settings: GateConfiguration.Telnet, _ dialect: Dialect, charsets: CharsetLibrary, address: IPAddress,
    device: DevicePseudonym?
  ) {
    self.init()
    agreesToSuppressGoAhead = settings.agreesToSuppressGoAhead
    acceptsCompression = settings.compression == .mccp2
    refusesStructured = dialect == .terminal
    charset = TelnetCharset(settings.charset, charsets)
    charsetNamed = { name in
      guard let charset = Charset(named: name), charsets.has(charset) else { return nil }
      return TelnetCharset(charset, charsets)
    }
    self.address = Array(address.description.utf8)
    self.device = device.map { Array($0.description.utf8) }
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
