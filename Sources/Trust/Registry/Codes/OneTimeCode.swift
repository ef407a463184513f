/// Six digits that a person types, and what the store keeps of them.
package import Bytes
internal import Crypto
package import DeviceWire
package import Time

package struct OneTimeCode: Equatable, Sendable {
  package let text: String

  private static let count: UInt32 = 1_000_000
  /// Above the greatest multiple of the count that three bytes hold, some codes would be likelier than others.
  private static let limit = UInt32(1 << 24) / count * count

  /// Each as likely as any other.
  package init(random entropy: some Entropy) {
    while true {
      let number = entropy.bytes(3).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      guard let code = Self(drawn: number) else { continue }
      self = code
      return
    }
  }

  /// From one of the 2²⁴ numbers of three bytes; nil for one that has to be drawn again.
  init?(drawn number: UInt32) {
    guard number < Self.limit else { return nil }
    let digits = String(number % Self.count)
    text = String(repeating: "0", count: 6 - digits.utf8.count) + digits
  }

  /// As a person has typed them: six of `0` to `9`, else nil.
  package init?(typed text: String) {
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    guard text.utf8.count == 6, text.utf8.allSatisfy(digits.contains) else { return nil }
    self.text = text
  }
}

/// Makes of digits what the store keeps of them, so that they stand in no row, copy or log as they are typed. It hides them from
/// nobody who has the store's file: the secret lies there too, and a million digits are soon tried. What he has then is a code of
/// two minutes at most, for one login.
package struct CodeAuthenticator: Sendable {
  private let key: HMACSHA256

  /// - Parameter secret: the gate's own; what it keys for this is of use for nothing else.
  package init(secret: Bytes32) {
    let label = Array("portcullis/one-time-code/v1".utf8)
    key = HMACSHA256(key: HMACSHA256(key: secret.array.span).authenticate(label.span).array.span)
  }

  /// Good for one login and one device, as long as that has the key by which it has asked. All parts have one length.
  package func mac(
    of code: OneTimeCode, for challenge: CodeChallengeID, by device: DeviceID, key deviceKey: DevicePublicKey
  ) -> Bytes32 {
    let message = challenge.bytes + device.bytes + deviceKey.hash.array + Array(code.text.utf8)
    return key.authenticate(message.span)
  }
}
