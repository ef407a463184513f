/// Challenges (docs/protocol.md, "Challenges"): issued without memory, recognised by their tag, consumed by one bit.
///
/// A nonce is 16 bytes that only this process can read (AES-256 over millisecond, loop, index and randomness) and 16
/// bytes of HMAC-SHA-256 over them and over what the challenge is for, so that one that was asked for something else is
/// as good as none. A flood of requests uses up numbers only: no challenge of anybody else is displaced.
package import Bytes
internal import Crypto
package import KeyStore
internal import Synchronization
package import Time

package final class ChallengeIssuer: Challenges {
  /// How long a challenge without a purpose is good.
  package static let lifetime: Duration = .seconds(60)
  /// Challenges a loop can issue in one second; beyond, `issue` returns nil. Bounds the bits kept for a second to 8 KiB.
  package static let issuedPerSecond = 65_536

  private let clock: any Clock
  private let entropy: any Entropy
  private let cipher: AES256Block
  private let tagger: HMACSHA256
  private let loops: [LoopChallenges]

  package init(loops: Int, clock: any Clock, entropy: any Entropy) {
    self.clock = clock
    self.entropy = entropy
    // Cipher and tagger keep copies of their own, which they wipe.
    var (cipherKey, tagKey) = (entropy.bytes(32), entropy.bytes(32))
    defer {
      wipe(&cipherKey)
      wipe(&tagKey)
    }
    guard let cipher = AES256Block(key: cipherKey.span) else { fatalError("an AES-256 key is 32 bytes") }
    self.cipher = cipher
    tagger = HMACSHA256(key: tagKey.span)
    self.loops = (0..<loops).map { _ in LoopChallenges() }
  }

  /// A fresh challenge, or nil when this loop has issued as many as it may in this second.
  package func issue(loop: Int, for scope: ChallengeScope) -> Challenge? {
    let milliseconds = clock.monotonic().nanoseconds / 1_000_000
    guard let index = loops[loop].state.withLock({ $0.nextIndex(second: milliseconds / 1000) }) else {
      return nil
    }
    let random = entropy.bytes(4).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let sealed = cipher.encrypt(
      Block16(high: milliseconds << 16 | UInt64(loop), low: UInt64(index) << 32 | random)
    ).inlineArray
    let tag = tagger.authenticate(scope.tagged(sealed.span).span)
    let nonce = Bytes32(InlineArray<32, UInt8> { index in index < 16 ? sealed[index] : tag[index - 16] })
    let lifetime = scope.lifetime.wholeMilliseconds
    return Challenge(nonce: nonce, expires: UnixTime(milliseconds: clock.wall().milliseconds + lifetime))
  }

  /// Spends it as well, as nobody else could.
  package func check(_ nonce: Bytes32, for scope: ChallengeScope) throws(NonceRefusal) -> Unspent {
    let bytes = nonce.inlineArray
    let sealed = bytes.span.extracting(0..<16)
    let expected = tagger.authenticate(scope.tagged(sealed).span).inlineArray
    guard equalInConstantTime(bytes.span.extracting(16..<32), expected.span.extracting(0..<16)) else {
      throw .unknown
    }
    let number = number(of: nonce)
    let now = clock.monotonic().nanoseconds / 1_000_000
    guard number.loop < loops.count, now >= number.milliseconds else { throw .unknown }
    guard now - number.milliseconds < UInt64(scope.lifetime.wholeMilliseconds) else { throw .expired }
    guard
      loops[number.loop].state.withLock({ $0.consume(second: number.second, index: number.index) })
    else { throw .used }
    return Unspent(
      nonce: nonce, issuedAt: MonotonicTime(nanoseconds: number.milliseconds * 1_000_000))
  }

  package func restore(_ unspent: Unspent) {
    let number = number(of: unspent.nonce)
    guard number.loop < loops.count else { return }
    loops[number.loop].state.withLock { $0.restore(second: number.second, index: number.index) }
  }

  /// Which of all challenges it is.
  private func number(of nonce: Bytes32) -> ChallengeNumber {
    let bytes = nonce.inlineArray
    guard let opaque = Block16(bytes.span.extracting(0..<16)) else { fatalError("a block is 16 bytes") }
    let block = cipher.decrypt(opaque)
    return ChallengeNumber(
      milliseconds: block.high >> 16, loop: Int(block.high & 0xFFFF), index: UInt32(block.low >> 32))
  }
}

private struct ChallengeNumber {
  let milliseconds: UInt64
  let loop: Int
  let index: UInt32

  var second: UInt64 { milliseconds / 1000 }
}

/// What one loop has issued, for the seconds that still count.
private final class LoopChallenges: Sendable {
  let state = Mutex(ConsumedBits())
}

/// For each of the last 128 seconds: how many were issued, and which of them were consumed.
struct ConsumedBits: Sendable {
  private struct Second: Sendable {
    var number: UInt64 = .max
    var issued: UInt32 = 0
    /// Grows with the highest index consumed, to at most 8 KiB.
    var consumed: [UInt64] = []
  }

  /// More slots than the longest purpose's challenges live seconds, so that a slot is taken over only after all of its own
  /// have expired: after 128 s or more. What lies there longer than a challenge lives serves nothing, as the time is
  /// judged first, and is bounded: 8 KiB for each slot.
  static let slots = 128
  private var seconds = [Second](repeating: Second(), count: slots)

  mutating func nextIndex(second: UInt64) -> UInt32? {
    let slot = Int(second % UInt64(Self.slots))
    if seconds[slot].number != second { seconds[slot] = Second(number: second) }
    guard seconds[slot].issued < ChallengeIssuer.issuedPerSecond else { return nil }
    defer { seconds[slot].issued += 1 }
    return seconds[slot].issued
  }

  /// True once for each index that was issued in `second`.
  mutating func consume(second: UInt64, index: UInt32) -> Bool {
    let slot = Int(second % UInt64(Self.slots))
    guard seconds[slot].number == second, index < seconds[slot].issued else { return false }
    let (word, bit) = Self.place(of: index)
    while seconds[slot].consumed.count <= word { seconds[slot].consumed.append(0) }
    guard seconds[slot].consumed[word] & bit == 0 else { return false }
    seconds[slot].consumed[word] |= bit
    return true
  }

  /// It may be consumed once more.
  mutating func restore(second: UInt64, index: UInt32) {
    let slot = Int(second % UInt64(Self.slots))
    let (word, bit) = Self.place(of: index)
    guard seconds[slot].number == second, word < seconds[slot].consumed.count else { return }
    seconds[slot].consumed[word] &= ~bit
  }

  private static func place(of index: UInt32) -> (word: Int, bit: UInt64) {
    (Int(index / 64), 1 << UInt64(index % 64))
  }
}
