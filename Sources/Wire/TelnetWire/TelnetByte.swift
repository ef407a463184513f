/// The bytes of telnet's own (RFC 854, RFC 855, RFC 885), and how commands are laid on the wire.

enum TelnetByte {
  static let iac: UInt8 = 255
  static let dont: UInt8 = 254
  static let `do`: UInt8 = 253
  static let wont: UInt8 = 252
  static let will: UInt8 = 251
  static let sb: UInt8 = 250
  static let ga: UInt8 = 249
  static let nop: UInt8 = 241
  static let se: UInt8 = 240
  static let eor: UInt8 = 239

  static let null: UInt8 = 0
  static let lf: UInt8 = 10
  static let cr: UInt8 = 13
}

/// What is sent to the game.
enum TelnetWriter {
  static func command(_ verb: UInt8, _ option: UInt8, to output: inout [UInt8]) {
    output.append(TelnetByte.iac)
    output.append(verb)
    output.append(option)
  }

  /// - Parameter body: what stands between the option and `IAC SE`, its 255s not doubled yet.
  static func subnegotiation(_ option: TelnetOption, _ body: [UInt8], to output: inout [UInt8]) {
    command(TelnetByte.sb, option.rawValue, to: &output)
    for byte in body {
      output.append(byte)
      if byte == TelnetByte.iac { output.append(byte) }
    }
    output.append(TelnetByte.iac)
    output.append(TelnetByte.se)
  }
}
