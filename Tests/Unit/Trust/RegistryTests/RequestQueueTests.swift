/// Who is served first, and how many may wait.
import Addresses
import Testing

@testable import Registry

@Suite struct RequestQueueTests {
  private let a = IPAddress(v4: 0x7F00_0001)
  private let b = IPAddress(v4: 0x7F00_0002)

  private func drained(_ queue: inout RequestQueue<String>) -> [String] {
    var found: [String] = []
    while let next = queue.next() { found.append(next) }
    return found
  }

  @Test func lanesTakeTurns() {
    var queue = RequestQueue<String>()
    for number in 1...3 { holds(queue.append("a\(number)", lane: .address(a), urgency: .ordinary)) }
    for number in 1...2 { holds(queue.append("b\(number)", lane: .address(b), urgency: .ordinary)) }
    holds(queue.append("h1", lane: .host, urgency: .ordinary))
    holds(drained(&queue) == ["a1", "b1", "h1", "a2", "b2", "a3"])
    #expect(queue.isEmpty)
  }

  @Test func votesAndRevocationsGoFirst() {
    var queue = RequestQueue<String>()
    holds(queue.append("list", lane: .address(a), urgency: .ordinary))
    holds(queue.append("vote", lane: .address(a), urgency: .vote))
    holds(queue.append("revoke", lane: .host, urgency: .revocation))
    holds(drained(&queue) == ["revoke", "vote", "list"])
  }

  @Test func aLaneHasItsBound() {
    var queue = RequestQueue<Int>()
    for number in 0..<RequestQueue<Int>.capacityOfLane {
      holds(queue.append(number, lane: .address(a), urgency: number % 2 == 0 ? .vote : .ordinary))
    }
    holds(!queue.append(64, lane: .address(a), urgency: .vote))
    holds(queue.append(0, lane: .address(b), urgency: .ordinary))
    _ = queue.next()
    holds(queue.append(64, lane: .address(a), urgency: .ordinary))
    holds(!queue.append(65, lane: .address(a), urgency: .ordinary))
  }

  @Test func allHaveABoundAndRevocationsOneOfTheirOwn() {
    var queue = RequestQueue<Int>()
    for number in 0..<RequestQueue<Int>.capacity {
      holds(queue.append(number, lane: .address(IPAddress(v4: UInt32(number / 64))), urgency: .ordinary))
    }
    holds(!queue.append(0, lane: .address(a), urgency: .ordinary))
    holds(!queue.append(0, lane: .address(a), urgency: .vote))
    for number in 0..<RequestQueue<Int>.capacity {
      holds(queue.append(number, lane: .host, urgency: .revocation))
    }
    holds(!queue.append(0, lane: .host, urgency: .revocation))
    var count = 0
    while queue.next() != nil { count += 1 }
    #expect(count == 2 * RequestQueue<Int>.capacity)
    holds(queue.append(0, lane: .address(a), urgency: .ordinary))
  }

  @Test func manyTurnsLeaveNothingBehind() {
    var queue = RequestQueue<Int>()
    for round in 0..<1000 {
      for lane in 0..<3 {
        holds(queue.append(round, lane: .address(IPAddress(v4: UInt32(lane))), urgency: .ordinary))
      }
      for _ in 0..<3 { holds(queue.next() == round) }
      holds(queue.next() == nil)
    }
  }
}
