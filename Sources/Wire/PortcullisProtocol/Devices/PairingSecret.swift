/// The secret that a QR code carries, and the six digits that phone and operator compare.

/// 128 bits, good for one pairing.
public struct PairingSecret: Sendable {
  /// 16.
  package let bytes: [UInt8]

  /// Nil unless there are exactly 16.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// HMAC-SHA-256 over a `pair` message: its sender has seen the code.
  public func authenticate(_ message: DeviceMessage) -> Octets32 {
    SHA2.authenticate(message.bytes, key: bytes)
  }
}

/// Six digits that follow from all that both sides have said: equal only where nobody stands between them, but for one
/// chance in a million.
public struct PairingDigits: Equatable, Sendable {
  /// Six of `0` to `9`.
  public let text: String

  /// Of a `pair-sas` message.
  public init(of message: DeviceMessage) {
    let number = message.digest.bytes.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    let digits = String(number % 1_000_000)
    text = String(repeating: "0", count: 6 - digits.utf8.count) + digits
  }

  /// As a person has typed them: six of `0` to `9`, else nil.
  public init?(typed text: String) {
    guard text.utf8.count == 6, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    self.text = text
  }
}
