/// Appending a span to an array: what comes of it, and how often memory is asked for.
import Bytes
import Testing

@Suite struct ArrayAppendTests {
  @Test func appendsAllOfASpanAndNothingElse() {
    var bytes: [UInt8] = [1, 2]
    let source: [UInt8] = [3, 4, 5, 6]
    bytes.append(copying: source.span.extracting(1..<3))
    bytes.append(copying: source.span.extracting(0..<0))
    #expect(bytes == [1, 2, 4, 5])
    #expect(source == [3, 4, 5, 6])
  }

  @Test func aCopyTakenBeforeStaysAsItWas() {
    var bytes: [UInt8] = [1]
    let before = bytes
    bytes.append(copying: before.span)
    #expect(before == [1])
    #expect(bytes == [1, 1])
  }

  @Test func growsByAPartOfItself() {
    var bytes: [UInt8] = []
    var growths = 0
    for value in 0..<10_000 {
      let capacity = bytes.capacity
      bytes.append(copying: [UInt8(truncatingIfNeeded: value)].span)
      if bytes.capacity != capacity { growths += 1 }
    }
    #expect(growths < 20)
    #expect(bytes == (0..<10_000).map { UInt8(truncatingIfNeeded: $0) })
  }
}
