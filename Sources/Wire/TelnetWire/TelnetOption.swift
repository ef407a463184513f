/// The options that the gate knows; all others are refused (docs/telnet.md, "Options").
package enum TelnetOption: UInt8, CaseIterable, Sendable {
  /// RFC 857.
  case echo = 1
  /// RFC 858.
  case suppressGoAhead = 3
  /// RFC 1091, answered as MTTS has it.
  case terminalType = 24
  /// RFC 885.
  case endOfRecord = 25
  /// RFC 1073.
  case windowSize = 31
  /// RFC 1572, with the variables of MNES.
  case newEnvironment = 39
  /// RFC 2066.
  case charset = 42
  case msdp = 69
  case mssp = 70
  /// MCCP, version 2.
  case compression = 86
  case gmcp = 201

  /// Its place among those of a session.
  var index: Int {
    switch self {
    case .echo: 0
    case .suppressGoAhead: 1
    case .terminalType: 2
    case .endOfRecord: 3
    case .windowSize: 4
    case .newEnvironment: 5
    case .charset: 6
    case .msdp: 7
    case .mssp: 8
    case .compression: 9
    case .gmcp: 10
    }
  }

  static let count = 11

  /// Whether the game may do it: `WILL` is answered by `DO`.
  func isWantedOfGame(_ settings: TelnetSettings) -> Bool {
    switch self {
    case .echo, .endOfRecord, .charset: true
    case .suppressGoAhead: settings.agreesToSuppressGoAhead
    case .compression: settings.acceptsCompression
    case .gmcp, .msdp, .mssp: !settings.refusesStructured
    case .terminalType, .windowSize, .newEnvironment: false
    }
  }

  /// Whether the gate does it when asked: `DO` is answered by `WILL`.
  func isWantedOfGate(_ settings: TelnetSettings) -> Bool {
    switch self {
    case .terminalType, .windowSize, .newEnvironment, .charset: true
    case .suppressGoAhead: settings.agreesToSuppressGoAhead
    // Games that ask the other way round mean the same.
    case .gmcp, .msdp: !settings.refusesStructured
    case .echo, .endOfRecord, .mssp, .compression: false
    }
  }
}

/// Some of the options.
package struct TelnetOptionSet: Equatable, Sendable {
  package var bits: UInt16 = 0

  package init() {}

  package func contains(_ option: TelnetOption) -> Bool { bits & 1 << UInt16(option.index) != 0 }

  package mutating func insert(_ option: TelnetOption) { bits |= 1 << UInt16(option.index) }

  package mutating func remove(_ option: TelnetOption) { bits &= ~(1 << UInt16(option.index)) }
}
