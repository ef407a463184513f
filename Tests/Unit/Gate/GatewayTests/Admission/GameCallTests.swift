import Addresses
import Kit
import Sockets
import Time
import Testing

@testable import Gateway

@Suite struct GameCallTests {
  private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

  private static func addresses(_ count: Int) -> [SocketAddress] {
    (0..<count).map { .internet(Endpoint(address: address($0), port: 4000)) }
  }

  private static func next(
    _ call: inout GameCall, _ now: MonotonicTime
  ) -> (address: SocketAddress, until: MonotonicTime)? {
    call.tryNext(now: now)
  }

  @Test func oneAddressHasAllTheTime() throws {
    var call = GameCall()
    call.begin(Self.addresses(1), until: Self.start + .seconds(3))
    let first = try #require(Self.next(&call, Self.start))
    #expect(first.until == Self.start + .seconds(3))
    #expect(call.isUnderWay)
    #expect(Self.next(&call, Self.start + .seconds(3)) == nil)
    #expect(!call.isUnderWay)
  }

  /// The first swallows everything: the second still has its share.
  @Test func aDeadAddressLeavesTimeToTheNext() {
    var call = GameCall()
    call.begin(Self.addresses(3), until: Self.start + .seconds(3))
    var now = Self.start
    var tries: [Duration] = []
    while let next = call.tryNext(now: now) {
      tries.append(next.until - now)
      now = next.until
    }
    #expect(tries == [.seconds(1), .seconds(1), .seconds(1)])
    #expect(now == Self.start + .seconds(3))
  }

  /// A refusal comes at once, and what it did not need is the others'.
  @Test func aRefusalLeavesItsShare() throws {
    var call = GameCall()
    call.begin(Self.addresses(2), until: Self.start + .seconds(3))
    _ = call.tryNext(now: Self.start)
    let second = try #require(Self.next(&call, Self.start + .milliseconds(1)))
    #expect(second.until == Self.start + .seconds(3))
  }

  /// With many addresses the last ones get no turn rather than all of them no chance.
  @Test func noTryIsShorterThanItsLeast() {
    var call = GameCall()
    call.begin(Self.addresses(100), until: Self.start + .seconds(3))
    var now = Self.start
    var tries = 0
    while let next = call.tryNext(now: now) {
      #expect(next.until - now == GameCall.shortestTry || next.until == Self.start + .seconds(3))
      now = next.until
      tries += 1
    }
    #expect(tries == 12)
  }

  @Test func withoutAddresses() {
    var call = GameCall()
    call.begin([], until: Self.start + .seconds(3))
    #expect(Self.next(&call, Self.start) == nil)
    #expect(call.address == "?")
  }
}
