import Kit
import Testing

@testable import Scheduling

@Suite struct FairQueueTests {
  private static func queue(_ running: Int = 2, _ waiting: Int = 3, _ all: Int = 10) -> FairQueue<String, Int>
  {
    FairQueue(runningPerAddress: running, waitingPerAddress: waiting, waitingLimit: all)
  }

  @Test func addressesTakeTurns() {
    var queue = Self.queue(8, 8, 20)
    for work in 0..<4 { #expect(queue.enqueue(work, from: "a") == true) }
    for work in 10..<12 { #expect(queue.enqueue(work, from: "b") == true) }
    #expect(queue.enqueue(20, from: "c") == true)
    var order: [Int] = []
    while let (_, work) = queue.dequeue() { order.append(work) }
    #expect(order == [0, 10, 20, 1, 11, 2, 3])
  }

  @Test func runningIsLimitedPerAddress() {
    var queue = Self.queue()
    for work in 0..<3 { #expect(queue.enqueue(work, from: "a") == true) }
    #expect(queue.dequeue()?.1 == 0)
    #expect(queue.dequeue()?.1 == 1)
    #expect(queue.dequeue() == nil)
    #expect(queue.enqueue(9, from: "b") == true)
    #expect(queue.dequeue()?.1 == 9)
    queue.finish("a")
    #expect(queue.dequeue()?.1 == 2)
  }

  @Test func waitingIsLimitedPerAddressAndInAll() {
    var queue = Self.queue(2, 3, 5)
    for work in 0..<3 { #expect(queue.enqueue(work, from: "a") == true) }
    #expect(queue.enqueue(3, from: "a") == false)
    #expect(queue.enqueue(4, from: "b") == true)
    #expect(queue.enqueue(5, from: "c") == true)
    #expect(queue.enqueue(6, from: "d") == false)
    #expect(queue.waitingCount == 5)
    _ = queue.dequeue()
    #expect(queue.enqueue(7, from: "a") == true)
  }

  @Test func nothingStaysBehind() {
    var queue = Self.queue()
    #expect(queue.isEmpty)
    #expect(queue.enqueue(1, from: "a") == true)
    _ = queue.dequeue()
    #expect(!queue.isEmpty)
    queue.finish("a")
    #expect(queue.isEmpty)
    queue.finish("a")
    #expect(queue.isEmpty)
  }

  @Test(arguments: 0..<30 as Range<UInt64>) func agreesWithASlowModel(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var queue = FairQueue<Int, Int>(runningPerAddress: 2, waitingPerAddress: 3, waitingLimit: 9)
    var model = SlowQueue()
    for step in 0..<600 {
      let who = random.next(below: 5)
      switch random.next(below: 3) {
      case 0: #expect(queue.enqueue(step, from: who) == model.enqueue(step, from: who), "step \(step)")
      case 1:
        let got = queue.dequeue()
        let expected = model.dequeue()
        #expect(got?.0 == expected?.0, "step \(step)")
        #expect(got?.1 == expected?.1, "step \(step)")
      default:
        if model.running[who, default: 0] > 0 {
          queue.finish(who)
          model.finish(who)
        }
      }
      #expect(queue.waitingCount == model.waiting.count)
      #expect(queue.isEmpty == (model.waiting.isEmpty && model.running.values.allSatisfy { $0 == 0 }))
    }
  }
}

/// The same by searching all that waits: the address that has been able to run for the longest is next.
private struct SlowQueue {
  var waiting: [(who: Int, work: Int)] = []
  var running: [Int: Int] = [:]
  private var ableSince: [Int: Int] = [:]
  private var time = 0

  mutating func enqueue(_ work: Int, from who: Int) -> Bool {
    guard waiting.count(where: { $0.who == who }) < 3, waiting.count < 9 else { return false }
    waiting.append((who, work))
    update()
    return true
  }

  mutating func dequeue() -> (Int, Int)? {
    guard let next = ableSince.min(by: { $0.value < $1.value })?.key,
      let index = waiting.firstIndex(where: { $0.who == next })
    else { return nil }
    let work = waiting.remove(at: index).work
    running[next, default: 0] += 1
    ableSince[next] = nil
    update()
    return (next, work)
  }

  mutating func finish(_ who: Int) {
    running[who, default: 0] -= 1
    update()
  }

  private mutating func update() {
    time += 1
    for who in 0..<5 {
      let isAble = running[who, default: 0] < 2 && waiting.contains { $0.who == who }
      if !isAble { ableSince[who] = nil } else if ableSince[who] == nil { ableSince[who] = time }
    }
  }
}
