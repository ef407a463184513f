/// What an app says of itself, by a `client` message or the header `Portcullis-Client` (docs/sessions.md, "From the
/// app").
package import TelnetWire

/// Members are nil where the app left them out; what it said before stays then.
package struct ClientUpdate: Equatable, Sendable {
  package var name: ClientText?
  package var version: ClientText?
  package var terminal: ClientText?
  package var features: Features?
  package var columns: UInt16?
  package var rows: UInt16?
  /// GMCP packages with their versions, as `Char 1`.
  package var gmcp: [[UInt8]]?

  /// Those that the gate knows.
  package struct Features: Equatable, Sendable {
    package var hasTrueColor = false
    package var isScreenReader = false

    package init(hasTrueColor: Bool = false, isScreenReader: Bool = false) {
      self.hasTrueColor = hasTrueColor
      self.isScreenReader = isScreenReader
    }
  }

  package init() {}

  /// What is known of the app after it; nil, and all is refused, where more would be kept than may be.
  package func applied(to client: ClientDescription?) -> ClientDescription? {
    var client = client ?? ClientDescription()
    if let name { client.name = name }
    if let version { client.version = version }
    if let terminal { client.terminal = terminal }
    if let features {
      client.hasTrueColor = features.hasTrueColor
      client.isScreenReader = features.isScreenReader
    }
    if columns != nil || rows != nil {
      // 0 says that it is not known (RFC 1073).
      client.size = TerminalSize(
        columns: columns ?? client.size?.columns ?? 0, rows: rows ?? client.size?.rows ?? 0)
    }
    if let gmcp { client.gmcp = gmcp }
    return client.keptBytes > ClientDescription.keptBytesLimit ? nil : client
  }
}
