import Kit
import Testing

@testable import Bytes

@Suite struct ByteQueueTests {
  private static func contents(_ queue: ByteQueue) -> [UInt8] {
    var rest = queue
    var contents: [UInt8] = []
    while !rest.isEmpty {
      contents.append(copying: rest.bytes)
      rest.removeFirst(rest.bytes.count)
    }
    return contents
  }

  @Test func startsEmpty() {
    let queue = ByteQueue()
    #expect(queue.isEmpty)
    #expect(queue.count == 0)
    #expect(Self.contents(queue) == [])
  }

  @Test(arguments: 0..<20 as Range<UInt64>) func behavesLikeAnArray(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var queue = ByteQueue()
    var model: [UInt8] = []
    for step in 0..<500 {
      if random.next(below: 3) > 0 {
        // Now and then one that is not put together with others.
        let size = random.next(below: 50) == 0 ? 20_000 : random.next(below: 40)
        let piece = [UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: size)
        queue.append(piece.span)
        model += piece
      } else {
        // Now and then everything goes, which resets the queue.
        let count = random.next(below: 4) == 0 ? model.count : random.next(below: model.count + 1)
        queue.removeFirst(count)
        model.removeFirst(count)
      }
      #expect(queue.count == model.count)
      #expect(queue.isEmpty == model.isEmpty)
      #expect(Self.contents(queue) == model, "step \(step)")
    }
  }

  /// Small appends behind much that waits must not copy it each time.
  @Test func growsInLinearTime() {
    var queue = ByteQueue()
    var moves = 0
    var last: UInt = 0
    for _ in 0..<20_000 {
      queue.append([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].span)
      // The address is compared and never followed.
      let address = unsafe queue.bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
      if address != last { moves += 1 }
      last = address
    }
    #expect(queue.count == 200_000)
    #expect(moves < 100)
  }

  @Test func appendingSpansGrowsInLinearTime() {
    var bytes: [UInt8] = []
    var capacities = Set<Int>()
    for value in 0..<20_000 {
      bytes.append(copying: [UInt8(truncatingIfNeeded: value)].span)
      capacities.insert(bytes.capacity)
    }
    #expect(bytes.count == 20_000)
    #expect(bytes[19_999] == UInt8(truncatingIfNeeded: 19_999))
    #expect(capacities.count < 100)
  }
}
