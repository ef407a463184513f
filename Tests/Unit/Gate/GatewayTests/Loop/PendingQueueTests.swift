import Testing

@testable import Gateway

/// docs/architecture-threads.md, "Fair turns": per loop turn at most 2 handshake steps and a bounded number of requests,
/// neither at the other's cost.
@Suite struct PendingQueueTests {
  private typealias Queue = PendingQueue<String>

  private static func queue(first: Int = 0, next: Int = 0, requests: Int = 0, heavy: Int = 0) -> Queue {
    let queue = Queue()
    for number in 0..<first { queue.append("first \(number)", for: .firstOfHandshake) }
    for number in 0..<next { queue.append("next \(number)", for: .nextOfHandshake) }
    for number in 0..<requests { queue.append("request \(number)", for: .request) }
    for number in 0..<heavy { queue.append("heavy \(number)", for: .heavyRequest) }
    return queue
  }

  @Test func nobodyWaits() {
    let queue = Self.queue()
    #expect(queue.isEmpty && !queue.isFull)
    #expect(queue.takeTurn().isEmpty)
  }

  @Test(arguments: [
    // Requests take no handshake's place.
    (3, 0, 6, ["request 0", "request 1", "request 2", "request 3", "first 0", "first 1"]),
    (3, 0, 1, ["request 0", "first 0", "first 1"]),
    (3, 0, 0, ["first 0", "first 1"]),
    (3, 3, 1, ["request 0", "next 0", "first 0"]),
    (1, 3, 0, ["next 0", "first 0"]),
    (0, 3, 0, ["next 0", "next 1"]),
    (0, 1, 5, ["request 0", "request 1", "request 2", "request 3", "next 0"]),
  ])
  func aTurnIsShared(first: Int, next: Int, requests: Int, turn: [String]) {
    let queue = Self.queue(first: first, next: next, requests: requests)
    #expect(queue.takeTurn() == turn)
    #expect(queue.waitingCount == first + next + requests - turn.count)
  }

  @Test func eachComesOnceAndInOrder() {
    let queue = Self.queue(first: 9, next: 4, requests: 11)
    var served: [String] = []
    while !queue.isEmpty {
      let turn = queue.takeTurn()
      #expect((1...Queue.handshakesPerTurn + Queue.requestsPerTurn).contains(turn.count))
      served += turn
    }
    #expect(queue.takeTurn().isEmpty)
    for (kind, count) in [("first", 9), ("next", 4), ("request", 11)] {
      #expect(served.filter { $0.hasPrefix(kind) } == (0..<count).map { "\(kind) \($0)" })
    }
  }

  /// Those who used up their last turn's share wait for each other, and nobody else for them.
  @Test func ofTheHeavyThereIsOneATurn() {
    let queue = Self.queue(first: 1, next: 1, requests: 6, heavy: 3)
    #expect(
      queue.takeTurn() == [
        "request 0", "request 1", "request 2", "request 3", "heavy 0", "next 0", "first 0",
      ])
    #expect(queue.takeTurn() == ["request 4", "request 5", "heavy 1"])
    queue.append("late", for: .request)
    #expect(queue.takeTurn() == ["late", "heavy 2"])
    #expect(queue.isEmpty)
  }

  /// One that goes on is served in each turn, however many begin; and the other way round.
  @Test func neitherHalfOfTheHandshakesStarves() {
    let queue = Self.queue(first: 100, next: 100, requests: 100)
    for number in 0..<20 {
      let turn = queue.takeTurn()
      #expect(turn.contains("next \(number)") && turn.contains("first \(number)"))
    }
  }

  @Test func isFullOfFirstStepsAlone() {
    let queue = Self.queue(first: Queue.handshakesAhead - 1, next: 100, requests: 100)
    #expect(!queue.isFull)
    queue.append("one more", for: .firstOfHandshake)
    #expect(queue.isFull)
    _ = queue.takeTurn()
    #expect(!queue.isFull)
  }
}
