/// Thirty-two bytes: hashes, nonces, and pins, which are hashes of keys.

/// Exactly 32 bytes.
public struct Octets32: Hashable, Sendable, CustomStringConvertible {
  /// 32 of them.
  public let bytes: [UInt8]

  /// Nil unless there are exactly 32.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  init(checked bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// From 64 lower-case hexadecimal digits, else nil.
  public init?(hex text: String) {
    guard let bytes = ByteText.bytes(hex: text) else { return nil }
    self.init(bytes)
  }

  /// From base64 of either alphabet, else nil.
  public init?(base64 text: String) {
    guard let bytes = ByteText.bytes(base64: text) else { return nil }
    self.init(bytes)
  }

  /// 64 lower-case hexadecimal digits.
  public var hex: String { ByteText.hex(bytes) }
  /// 43 characters, without padding.
  public var base64URL: String { ByteText.base64URL(bytes) }
  /// As `hex`.
  public var description: String { hex }
}
