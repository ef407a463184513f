/// What an app says of itself, as far as it is kept: the game learns of it by TTYPE, NEW-ENVIRON, NAWS and GMCP.

/// 1 to 40 bytes of printable ASCII.
package struct ClientText: Equatable, Sendable {
  package let bytes: [UInt8]

  package init?(_ bytes: [UInt8]) {
    guard (1...Self.byteLimit).contains(bytes.count), bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else {
      return nil
    }
    self.bytes = bytes
  }

  package static let byteLimit = 40
}

package struct TerminalSize: Equatable, Sendable {
  package var columns: UInt16
  package var rows: UInt16

  package init(columns: UInt16, rows: UInt16) {
    self.columns = columns
    self.rows = rows
  }
}

/// Members are nil, or false, until the app says something else.
package struct ClientDescription: Equatable, Sendable {
  package var name: ClientText?
  package var version: ClientText?
  package var terminal: ClientText?
  package var hasTrueColor = false
  package var isScreenReader = false
  package var size: TerminalSize?
  /// GMCP packages with their versions, as `Char 1`: each UTF-8.
  package var gmcp: [[UInt8]]?

  package init() {}

  /// What is kept of it, in bytes: texts, packages with one byte each for its length, and 8 for the rest.
  package var keptBytes: Int {
    let texts = [name, version, terminal].reduce(0) { $0 + ($1?.bytes.count ?? 0) }
    return 8 + texts + (gmcp ?? []).reduce(0) { $0 + $1.count + 1 }
  }

  /// A description that would keep more is refused whole.
  package static let keptBytesLimit = 512
}

extension ClientDescription {
  var nameOrDefault: [UInt8] { name?.bytes ?? Self.defaultName }

  var terminalOrDefault: [UInt8] {
    terminal?.bytes ?? (hasTrueColor ? Self.trueColorTerminal : Self.defaultTerminal)
  }

  /// The sum of what the terminal can (Mud Terminal Type Standard).
  func capabilities(isUTF8: Bool) -> [UInt8] {
    // ANSI, 256 colours, a proxy, MNES, TLS.
    var sum = 1 + 8 + 128 + 512 + 2048
    if isUTF8 { sum += 4 }
    if isScreenReader { sum += 64 }
    if hasTrueColor { sum += 256 }
    return Array(String(sum).utf8)
  }

  private static let defaultName = Array("PORTCULLIS".utf8)
  private static let defaultTerminal = Array("XTERM-256COLOR".utf8)
  private static let trueColorTerminal = Array("XTERM-TRUECOLOR".utf8)
}
