/// The secret that a QR code carries, and the six digits that phone and operator compare.
package import Bytes
internal import Crypto
package import Time

package struct PairingSecret: Sendable {
  /// 16.
  package let bytes: [UInt8]

  /// Nil unless there are exactly 16.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  package init(random entropy: some Entropy) {
    bytes = entropy.bytes(16)
  }

  /// HMAC-SHA-256 over a `pair` message: its sender has seen the code.
  package func mac(of message: DeviceMessage) -> Bytes32 {
    HMACSHA256(key: bytes.span).authenticate(message.bytes.span)
  }

  /// In time that does not depend on where they differ.
  package func isValid(_ mac: Bytes32, for message: DeviceMessage) -> Bool {
    self.mac(of: message).equalsInConstantTime(mac)
  }
}

/// Six digits that follow from all that both sides have said: equal only where nobody stands between them, but for one
/// chance in a million.
package struct PairingDigits: Sendable {
  package let text: String

  /// Of a `pair-sas` message.
  package init(of message: DeviceMessage) {
    let hash = message.hash
    var number: UInt64 = 0
    for index in 0..<8 { number = number << 8 | UInt64(hash[index]) }
    var digits = Array(String(number % 1_000_000).utf8)
    digits = [UInt8](repeating: UInt8(ascii: "0"), count: 6 - digits.count) + digits
    text = String(decoding: digits, as: UTF8.self)
  }

  /// As a person has typed them: six of `0` to `9`, else nil.
  package init?(typed text: String) {
    guard text.utf8.count == 6, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    self.text = text
  }

  /// In time that does not depend on where they differ.
  package func isEqual(to other: Self) -> Bool {
    equalInConstantTime(Array(text.utf8).span, Array(other.text.utf8).span)
  }
}
