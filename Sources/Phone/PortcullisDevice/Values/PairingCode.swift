/// What a camera has read of a pairing's QR code.
public import PortcullisProtocol

/// A code, good for one pairing within five minutes.
public struct PairingCode: Sendable {
  let uri: PairingURI

  /// Throws why the text is none; nothing is sent then.
  public init(_ text: String) throws(PairingURIError) {
    uri = try PairingURI(parsing: text)
  }

  /// - Parameter uri: as it was read.
  public init(_ uri: PairingURI) {
    self.uri = uri
  }

  /// Where the gate is, for people: `HOST:PORT` in lower case.
  public var gate: String { "\(uri.host.lowercased()):\(uri.port)" }
}
