/// Which certificates of the gate's are taken: the system's choice, or the keys that are pinned.

/// Whom a transport takes for the gate.
public enum GateTrust: Sendable {
  /// Whom the system trusts, for this name.
  case system
  /// Who has one of these keys, whatever the certificate's name, dates and issuer. Asked at each connection.
  case pins(any PinSource)
}

/// Says which keys are pinned now.
public protocol PinSource: Sendable {
  /// At the time of a connection.
  var pins: Pins { get }
}

/// SHA-256 hashes of public keys (SubjectPublicKeyInfo in DER, as in RFC 7469), one to eight: never none, which would let
/// nobody in.
public struct Pins: Equatable, Sendable, PinSource {
  /// 32 bytes each.
  public let hashes: [[UInt8]]

  /// Nil for none, more than eight, and a hash that has not 32 bytes.
  public init?(_ hashes: [[UInt8]]) {
    guard (1...8).contains(hashes.count), hashes.allSatisfy({ $0.count == 32 }) else { return nil }
    self.hashes = hashes
  }

  /// Nil also for what is no base64 of 32 bytes, which is how a gate logs its pin.
  public init?(base64 hashes: [String]) {
    self.init(hashes.map { TextEncoding.bytes(ofBase64: $0) ?? [] })
  }

  /// Themselves.
  public var pins: Pins { self }
}
