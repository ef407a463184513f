import Testing

@testable import Logs

/// The bounds of what waits, and the count of what had no room.
@Suite struct LogBufferTests {
  func line(_ text: String) -> [UInt8] { Array("\(text)\n".utf8) }

  @Test(arguments: [(3, 4, true), (4, 4, true), (5, 4, false)]) func bytes(
    count: Int, capacity: Int, fits: Bool
  ) {
    var buffer = LogBuffer(limits: LogBuffer.Limits(bytes: capacity, lines: 10))
    let isTaken = buffer.append([UInt8](repeating: 0x61, count: count))
    #expect(isTaken == fits)
    let batch = buffer.take()
    #expect(batch?.leftOut == (fits ? 0 : 1))
  }

  @Test(arguments: [(1, true), (2, true), (3, false)]) func lines(count: Int, fits: Bool) {
    var buffer = LogBuffer(limits: LogBuffer.Limits(bytes: 1000, lines: 2))
    var last = true
    for _ in 0..<count { last = buffer.append(line("a")) }
    #expect(last == fits)
  }

  @Test func whatIsBeingWrittenCounts() throws {
    var buffer = LogBuffer(limits: LogBuffer.Limits(bytes: 1000, lines: 2))
    _ = buffer.append(line("a"))
    let taken = buffer.take()
    let batch = try #require(taken)
    let takesB = buffer.append(line("b"))
    #expect(takesB)
    let takesC = buffer.append(line("c"))
    #expect(!takesC)
    buffer.finish(batch, written: true)
    // The notice of c comes before anything that comes after c.
    let takesD = buffer.append(line("d"))
    #expect(!takesD)
    let second = buffer.take()
    let next = try #require(second)
    #expect(next.bytes == line("b") && next.leftOut == 2)
    let takesE = buffer.append(line("e"))
    #expect(takesE)
    buffer.finish(next, written: true)
    let last = buffer.take()
    #expect(last?.bytes == line("e"))
  }

  @Test func sequencesTellWhatIsFinished() throws {
    var buffer = LogBuffer(limits: LogBuffer.Limits(bytes: 4, lines: 10))
    _ = buffer.append(line("a"))
    _ = buffer.append(line("too long"))
    #expect(buffer.sequence == 2 && buffer.finishedSequence == 0)
    let taken = buffer.take()
    let batch = try #require(taken)
    #expect(batch.leftOut == 1)
    buffer.finish(batch, written: true)
    #expect(buffer.finishedSequence == 2)
    let nothing = buffer.take()
    #expect(nothing == nil)
  }

  @Test func lostLinesAreToldWithTheNext() throws {
    var buffer = LogBuffer(limits: LogBuffer.Limits())
    _ = buffer.append(line("a"))
    _ = buffer.append(line("b"))
    let first = buffer.take()
    buffer.finish(try #require(first), written: false)
    // A dead output is not written to only to say that it is dead.
    let nothing = buffer.take()
    #expect(nothing == nil)
    _ = buffer.append(line("c"))
    let second = buffer.take()
    #expect(second?.bytes == line("c") && second?.leftOut == 2)
  }

  /// Against a list: every line is either written, in order, or counted.
  @Test func randomTrafficIsWrittenOrCounted() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      var buffer = LogBuffer(limits: LogBuffer.Limits(bytes: 30, lines: 4))
      var offered = 0
      var told: [String] = []
      var counted = 0
      var writing: LogBuffer.Batch?
      func finish() {
        guard let batch = writing.take() else { return }
        told += String(decoding: batch.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        counted += batch.leftOut
        buffer.finish(batch, written: true)
      }
      for _ in 0..<100 {
        switch UInt8.random(in: 0..<4, using: &random) {
        case 0: if writing == nil { writing = buffer.take() }
        case 1: finish()
        default:
          _ = buffer.append(line("\(offered)"))
          offered += 1
        }
      }
      finish()
      writing = buffer.take()
      finish()
      #expect(told.count + counted == offered)
      let numbers = told.compactMap { Int($0) }
      #expect(numbers == numbers.sorted() && Set(numbers).count == told.count)
    }
  }
}
