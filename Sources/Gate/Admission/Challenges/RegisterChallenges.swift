/// Challenges for the registration of one key (docs/protocol.md, "Challenges"): recognised by their tag alone, on every
/// gate with the same secret, after any restart.
///
/// A nonce is one AES-256 block of the second of its issue and randomness, and 16 bytes of HMAC-SHA-256 over that block and
/// over the key that it is for. Nothing is kept of it, and nothing consumes it: a key is registered once, and
/// registering it again changes nothing.
package import Bytes
internal import Crypto
package import Time

package final class RegisterChallenges: Sendable {
  /// What its keys are derived by.
  package static let derivation = "portcullis/register-challenge/v1"
  /// Of the block's key and the tag's.
  package static let keyBytes = 64
  /// So far ahead of this gate's clock another gate's may be.
  package static let tolerance: Duration = .seconds(60)

  private let clock: any Clock
  private let entropy: any Entropy
  private let cipher: AES256Block
  private let tagger: HMACSHA256

  /// - Parameter keys: `keyBytes`, the caller's to wipe.
  package init(keys: [UInt8], clock: any Clock, entropy: any Entropy) {
    guard keys.count == Self.keyBytes, let cipher = AES256Block(key: keys.span.extracting(0..<32)) else {
      fatalError("RegisterChallenges: \(keys.count) bytes of keys")
    }
    self.clock = clock
    self.entropy = entropy
    self.cipher = cipher
    tagger = HMACSHA256(key: keys.span.extracting(32..<64))
  }

  package func issue(for key: KeyIdentifier, lifetime: Duration) -> Challenge {
    let second = clock.wall().milliseconds / 1000
    let random = entropy.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let sealed = cipher.encrypt(Block16(high: UInt64(bitPattern: second), low: random)).inlineArray
    let tag = tag(sealed.span, key)
    let nonce = Bytes32(InlineArray<32, UInt8> { index in index < 16 ? sealed[index] : tag[index - 16] })
    return Challenge(nonce: nonce, expires: end(second, lifetime))
  }

  /// - Parameter lifetime: of a challenge from its issue on, as this gate has it now.
  /// - Returns: false where it is none of these, or another key's.
  package func isGood(
    _ nonce: Bytes32, for key: KeyIdentifier, lifetime: Duration
  ) throws(NonceRefusal) -> Bool {
    let bytes = nonce.inlineArray
    let sealed = bytes.span.extracting(0..<16)
    let expected = tag(sealed, key)
    guard equalInConstantTime(bytes.span.extracting(16..<32), expected.span.extracting(0..<16)) else {
      return false
    }
    guard let opaque = Block16(sealed) else { fatalError("a block is 16 bytes") }
    let second = Int64(bitPattern: cipher.decrypt(opaque).high)
    let now = clock.wall().milliseconds
    guard (0...max(0, now + Self.tolerance.wholeMilliseconds) / 1000).contains(second) else { throw .early }
    guard now < end(second, lifetime).milliseconds else { throw .expired }
    return true
  }

  private func tag(_ sealed: Span<UInt8>, _ key: KeyIdentifier) -> [32 of UInt8] {
    var message: [UInt8] = []
    message.reserveCapacity(16 + Self.word.count + 32)
    message.append(copying: sealed)
    message += Self.word
    message += key.digest.array
    return tagger.authenticate(message.span).inlineArray
  }

  private func end(_ second: Int64, _ lifetime: Duration) -> UnixTime {
    UnixTime(milliseconds: second * 1000 + lifetime.wholeMilliseconds)
  }

  private static let word = Array("register".utf8)
}
