import Bytes
import KeyStore
import Kit
import Synchronization
import System
import Testing
import Time

@testable import Admission

/// docs/protocol.md, "Challenges".
@Suite struct ChallengeIssuerTests {
  private let clock = ManualClock()

  private func issuer(loops: Int = 2, seed: UInt64 = 1) -> ChallengeIssuer {
    ChallengeIssuer(loops: loops, clock: clock, entropy: SeededEntropy(seed))
  }

  private func verdict(
    _ issuer: ChallengeIssuer, _ nonce: Bytes32, for scope: ChallengeScope = .door
  ) -> NonceRefusal? {
    do throws(NonceRefusal) {
      _ = try issuer.check(nonce, for: scope)
      return nil
    } catch {
      return error
    }
  }

  /// What was checked has its name and its time, and is good once more where nothing was done by it.
  @Test func whatWasCheckedMayBeGivenBack() throws {
    let issuer = issuer()
    clock.advance(.milliseconds(1234))
    let issuedAt = clock.monotonic()
    let nonce = try #require(issuer.issue(loop: 1)).nonce
    clock.advance(.seconds(5))
    let unspent = try issuer.check(nonce)
    #expect(unspent.nonce == nonce && issuedAt - unspent.issuedAt < .milliseconds(1))
    #expect(unspent.issuedAt <= issuedAt)
    #expect(verdict(issuer, nonce) == .used)
    issuer.restore(unspent)
    #expect(verdict(issuer, nonce) == nil)
    #expect(verdict(issuer, nonce) == .used)
  }

  // MARK: Lifetime

  /// From issue: the last millisecond that counts, the first that does not, and long after.
  @Test(
    arguments: [
      (0, nil), (59_999, nil), (60_000, .expired), (60_001, .expired), (63_000, .expired), (64_000, .expired),
      (128_000, .expired), (3_600_000, .expired),
    ] as [(Int, NonceRefusal?)])
  func isGoodForSixtySeconds(milliseconds: Int, expected: NonceRefusal?) throws {
    let issuer = issuer()
    let challenge = try #require(issuer.issue(loop: 0))
    clock.advance(.milliseconds(milliseconds))
    #expect(verdict(issuer, challenge.nonce) == expected)
  }

  @Test func saysWhenItExpiresInWallTime() throws {
    let challenge = try #require(issuer().issue(loop: 0))
    #expect(challenge.expires.milliseconds == clock.wall().milliseconds + 60_000)
  }

  /// Issued late in a second, so that its bit lives in a slot that is nearly as old as the lifetime.
  @Test(arguments: [0, 1, 500, 999]) func wherebyTheSecondDoesNotMatter(offset: Int) throws {
    clock.advance(.milliseconds(offset))
    let issuer = issuer()
    let challenge = try #require(issuer.issue(loop: 1))
    clock.advance(.milliseconds(59_999))
    _ = issuer.issue(loop: 1)
    #expect(verdict(issuer, challenge.nonce) == nil)
    #expect(verdict(issuer, challenge.nonce) == .used)
  }

  /// What a challenge may be for, with that purpose's lifetime in milliseconds.
  private static let scopes: [(scope: ChallengeScope, lives: Int)] = [
    (.door, 60_000), (.purpose(.enroll), 120_000), (.purpose(.attest), 120_000), (.purpose(.rotate), 120_000),
    (.purpose(.device), 60_000), (.purpose(.otp), 60_000), (.purpose(.presence), 10_000),
    (.purpose(.presence, about: [1, 2]), 10_000), (.purpose(.presence, about: [1, 2, 3]), 10_000),
    (.purpose(.otp, about: [0]), 60_000),
  ]

  @Test(arguments: scopes.indices) func eachPurposeHasItsTime(index: Int) throws {
    let (scope, lives) = Self.scopes[index]
    let issuer = issuer()
    let first = try #require(issuer.issue(loop: 0, for: scope))
    let second = try #require(issuer.issue(loop: 1, for: scope))
    #expect(first.expires.milliseconds == clock.wall().milliseconds + Int64(lives))
    clock.advance(.milliseconds(lives - 1))
    #expect(verdict(issuer, first.nonce, for: scope) == nil)
    #expect(verdict(issuer, first.nonce, for: scope) == .used)
    clock.advance(.milliseconds(1))
    #expect(verdict(issuer, first.nonce, for: scope) == .expired)
    #expect(verdict(issuer, second.nonce, for: scope) == .expired)
  }

  /// Of every pair: what was asked for one is unknown to the other, and is still good for its own.
  @Test func noPurposeServesAnother() throws {
    let issuer = issuer()
    for (one, _) in Self.scopes {
      let nonce = try #require(issuer.issue(loop: 0, for: one)).nonce
      for (other, _) in Self.scopes where other != one {
        #expect(verdict(issuer, nonce, for: other) == .unknown)
      }
      #expect(verdict(issuer, nonce, for: one) == nil)
      for (other, _) in Self.scopes {
        #expect(verdict(issuer, nonce, for: other) == (other == one ? .used : .unknown))
      }
    }
  }

  // MARK: Single use

  @Test func countsOnce() throws {
    let issuer = issuer()
    let challenge = try #require(issuer.issue(loop: 0))
    #expect(verdict(issuer, challenge.nonce) == nil)
    for _ in 0..<3 { #expect(verdict(issuer, challenge.nonce) == .used) }
    clock.advance(.seconds(60))
    #expect(verdict(issuer, challenge.nonce) == .expired)
  }

  @Test func othersOfTheSameSecondAreUntouched() throws {
    let issuer = issuer()
    var nonces: [Bytes32] = []
    for index in 0..<200 { nonces.append(try #require(issuer.issue(loop: index % 2)).nonce) }
    for index in stride(from: 0, to: 200, by: 3) { #expect(verdict(issuer, nonces[index]) == nil) }
    for index in 0..<200 {
      #expect(verdict(issuer, nonces[index]) == (index % 3 == 0 ? .used : nil), "\(index)")
    }
  }

  @Test func manyThreadsOneWinner() throws {
    let issuer = issuer()
    var nonces: [Bytes32] = []
    for _ in 0..<200 { nonces.append(try #require(issuer.issue(loop: 0)).nonce) }
    let all = nonces
    let wins = Monitor([Int](repeating: 0, count: all.count))
    var threads: [JoinHandle] = []
    for _ in 0..<6 {
      threads.append(
        JoinHandle(
          try System.Thread(name: "consume") {
            for (index, nonce) in all.enumerated() where (try? issuer.check(nonce)) != nil {
              wins.withLock { wins, _ in wins[index] += 1 }
            }
          }))
    }
    for thread in threads { thread.join() }
    #expect(wins.withLock { wins, _ in wins } == [Int](repeating: 1, count: all.count))
  }

  // MARK: Forgery

  @Test func aFlippedBitIsUnknown() throws {
    let issuer = issuer()
    let nonce = try #require(issuer.issue(loop: 0)).nonce
    for bit in 0..<256 {
      var bytes = nonce.array
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(verdict(issuer, try #require(Bytes32(bytes))) == .unknown, "bit \(bit)")
    }
    #expect(verdict(issuer, nonce) == nil)
  }

  @Test func madeUpNoncesAreUnknown() {
    let issuer = issuer()
    let entropy = SeededEntropy(9)
    #expect(verdict(issuer, Bytes32()) == .unknown)
    for _ in 0..<200 { #expect(verdict(issuer, Bytes32(entropy.bytes(32)) ?? Bytes32()) == .unknown) }
  }

  @Test func anotherProcessesAreUnknown() throws {
    let first = issuer(seed: 1)
    let second = issuer(seed: 2)
    #expect(verdict(second, try #require(first.issue(loop: 0)).nonce) == .unknown)
    #expect(verdict(first, try #require(second.issue(loop: 0)).nonce) == .unknown)
  }

  @Test func anotherLoopsCountIsSeparate() throws {
    // The same second and index on two loops are two challenges.
    let issuer = issuer(loops: 3)
    let nonces = try (0..<3).map { try #require(issuer.issue(loop: $0)).nonce }
    for nonce in nonces { #expect(verdict(issuer, nonce) == nil) }
    for nonce in nonces { #expect(verdict(issuer, nonce) == .used) }
  }

  // MARK: SplitMix

  @Test func noTwoAreEqualEvenWithoutRandomness() throws {
    let issuer = ChallengeIssuer(loops: 4, clock: clock, entropy: NoEntropy())
    var seen = Set<Bytes32>()
    for _ in 0..<5 {
      for _ in 0..<200 {
        for loop in 0..<4 { seen.insert(try #require(issuer.issue(loop: loop)).nonce) }
      }
      clock.advance(.milliseconds(400))
    }
    #expect(seen.count == 5 * 200 * 4)
  }

  @Test func aFloodEndsAtTheSecondsLimitAndSpoilsNothing() throws {
    let issuer = issuer()
    let early = try #require(issuer.issue(loop: 0))
    for _ in 1..<ChallengeIssuer.issuedPerSecond - 1 { _ = issuer.issue(loop: 0) }
    let last = try #require(issuer.issue(loop: 0))
    #expect(issuer.issue(loop: 0) == nil)
    #expect(issuer.issue(loop: 1) != nil)
    #expect(verdict(issuer, early.nonce) == nil)
    #expect(verdict(issuer, last.nonce) == nil)
    #expect(verdict(issuer, last.nonce) == .used)
    clock.advance(.seconds(1))
    #expect(issuer.issue(loop: 0) != nil)
  }
}
