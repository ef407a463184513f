import Bytes
import Kit
import Testing
import Time

@testable import Admission

/// docs/protocol.md, "Challenges", of those for the registration of one key.
@Suite struct RegisterChallengesTests {
  private static let day: Duration = .seconds(86_400)
  private static let keys = [UInt8](0..<64)
  private let clock = ManualClock()

  private func challenges(_ keys: [UInt8] = keys, seed: UInt64 = 1, clock: ManualClock? = nil)
    -> RegisterChallenges
  {
    RegisterChallenges(keys: keys, clock: clock ?? self.clock, entropy: SeededEntropy(seed))
  }

  private static func key(_ number: UInt8) -> KeyIdentifier {
    KeyIdentifier(Bytes32(InlineArray<32, UInt8>(repeating: number)))
  }

  /// What becomes of a nonce: "good", "none" where it is none of these, or why it does not count.
  private func verdict(
    _ challenges: RegisterChallenges, _ nonce: Bytes32, _ number: UInt8 = 1, _ lifetime: Duration = day
  ) -> String {
    do throws(NonceRefusal) {
      return try challenges.isGood(nonce, for: Self.key(number), lifetime: lifetime) ? "good" : "none"
    } catch {
      return error.rawValue
    }
  }

  // MARK: Attacks

  /// It is not consumed: a replay registers the same key again.
  @Test func isGoodAgainAndAgain() {
    let challenges = challenges()
    let nonce = challenges.issue(for: Self.key(1), lifetime: Self.day).nonce
    for _ in 0..<100 { #expect(verdict(challenges, nonce) == "good") }
  }

  @Test func anotherKeyHasNothingOfIt() {
    let challenges = challenges()
    let nonce = challenges.issue(for: Self.key(1), lifetime: Self.day).nonce
    for number in 0...255 as ClosedRange<UInt8> where number != 1 {
      #expect(verdict(challenges, nonce, number) == "none")
    }
  }

  @Test func aFlippedBitIsUnknown() throws {
    let challenges = challenges()
    let nonce = challenges.issue(for: Self.key(1), lifetime: Self.day).nonce
    for bit in 0..<256 {
      var bytes = nonce.array
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(verdict(challenges, try #require(Bytes32(bytes))) == "none", "bit \(bit)")
    }
  }

  /// The block of one and the tag of another, zeros for either half, and the halves the other way round.
  @Test func piecesOfGoodOnesAreUnknown() throws {
    let challenges = challenges()
    let one = challenges.issue(for: Self.key(1), lifetime: Self.day).nonce.array
    let other = challenges.issue(for: Self.key(1), lifetime: Self.day).nonce.array
    let zeros = [UInt8](repeating: 0, count: 16)
    let mixed: [[UInt8]] = [
      Array(one[..<16] + other[16...]), zeros + one[16...], Array(one[..<16]) + zeros,
      Array(one[16...] + one[..<16]), zeros + zeros,
    ]
    for pieces in mixed { #expect(verdict(challenges, try #require(Bytes32(pieces))) == "none") }
  }

  @Test func madeUpNoncesAreUnknown() {
    let challenges = challenges()
    let entropy = SeededEntropy(9)
    for _ in 0..<200 { #expect(verdict(challenges, Bytes32(entropy.bytes(32)) ?? Bytes32()) == "none") }
  }

  /// Neither half of the keys is another gate's.
  @Test func anotherSecretsAreUnknown() {
    let nonce = challenges().issue(for: Self.key(1), lifetime: Self.day).nonce
    var keys = Self.keys
    keys[63] ^= 1
    #expect(verdict(challenges(keys), nonce) == "none")
    (keys[63], keys[0]) = (Self.keys[63], 1)
    // Its tag is good and its block is not: no time can be read of it that counts.
    #expect(["nonce_early", "nonce_expired"].contains(verdict(challenges(keys), nonce)))
  }

  /// What the door issues is none of these, and of these the door knows none: neither is good in the other's place.
  @Test func theDoorsAreOthers() throws {
    let challenges = challenges()
    let door = ChallengeIssuer(loops: 1, clock: clock, entropy: SeededEntropy(1))
    #expect(verdict(challenges, try #require(door.issue(loop: 0)).nonce) == "none")
    let nonce = challenges.issue(for: Self.key(1), lifetime: Self.day).nonce
    for scope in [ChallengeScope.door] + ChallengePurpose.allCases.map({ ChallengeScope.purpose($0) }) {
      #expect(throws: NonceRefusal.unknown) { try door.check(nonce, for: scope) }
    }
    #expect(verdict(challenges, nonce) == "good")
  }

  // MARK: Time

  /// From its second on: the last millisecond that counts, the first that does not, and long after.
  @Test(arguments: [
    (0, "good"), (86_399_000, "good"), (86_399_999, "good"), (86_400_000, "nonce_expired"),
    (86_401_000, "nonce_expired"), (400_000_000, "nonce_expired"),
  ])
  func isGoodForItsTime(milliseconds: Int, expected: String) {
    let challenges = challenges()
    let nonce = challenges.issue(for: Self.key(1), lifetime: Self.day).nonce
    clock.advance(.milliseconds(milliseconds))
    #expect(verdict(challenges, nonce) == expected)
  }

  /// It ends when it was said to end, whatever part of a second had passed.
  @Test(arguments: [0, 1, 500, 999]) func endsWhenItSays(offset: Int) {
    clock.advance(.milliseconds(offset))
    let challenges = challenges()
    let challenge = challenges.issue(for: Self.key(1), lifetime: Self.day)
    let left = challenge.expires.milliseconds - clock.wall().milliseconds
    #expect(left == 86_400_000 - Int64(offset))
    clock.advance(.milliseconds(Int(left) - 1))
    #expect(verdict(challenges, challenge.nonce) == "good")
    clock.advance(.milliseconds(1))
    #expect(verdict(challenges, challenge.nonce) == "nonce_expired")
  }

  /// A shorter `REGISTER_CHALLENGE_TTL` holds for those that were issued before, too.
  @Test func theLifetimeIsThatOfNow() {
    let challenges = challenges()
    let nonce = challenges.issue(for: Self.key(1), lifetime: Self.day).nonce
    clock.advance(.seconds(60))
    #expect(verdict(challenges, nonce, 1, .seconds(61)) == "good")
    #expect(verdict(challenges, nonce, 1, .seconds(60)) == "nonce_expired")
  }

  /// Another gate's clock may be 60 s ahead of this one's.
  @Test(arguments: [
    (0, "good"), (59, "good"), (60, "good"), (61, "nonce_early"), (31_536_000, "nonce_early"),
  ])
  func fromTheFuture(seconds: Int, expected: String) {
    let ahead = ManualClock()
    ahead.setWall(by: .seconds(seconds))
    let nonce = challenges(clock: ahead).issue(for: Self.key(1), lifetime: Self.day).nonce
    #expect(verdict(challenges(seed: 2), nonce) == expected)
  }

  /// The monotonic clock, which begins anew with each boot, has no part in it.
  @Test func outlivesARestartOfTheHost() {
    let nonce = challenges().issue(for: Self.key(1), lifetime: Self.day).nonce
    let booted = ManualClock(nanoseconds: 1, wall: clock.wall().milliseconds + 3_600_000)
    #expect(verdict(challenges(seed: 5, clock: booted), nonce) == "good")
  }

  // MARK: Making

  @Test func noTwoAreEqual() {
    let challenges = challenges()
    var seen = Set<Bytes32>()
    for _ in 0..<10_000 { seen.insert(challenges.issue(for: Self.key(1), lifetime: Self.day).nonce) }
    #expect(seen.count == 10_000)
  }
}
