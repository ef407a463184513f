import Foundation
import Kit
import Synchronization
import System
import Testing

@testable import Logs

@Suite struct LogWriterTests {
  static let patience = Duration.seconds(30)

  func line(_ text: String) -> [UInt8] { Array("\(text)\n".utf8) }

  @Test func linesComeInOrder() throws {
    let output = GatedOutput(isOpen: true)
    let writer = try LogWriter.start(output: output, clock: ManualClock(), format: .text)
    for number in 0..<1000 { writer.write(line("\(number)")) }
    #expect(writer.flush(within: Self.patience))
    #expect(output.text == (0..<1000).map { "\($0)\n" }.joined())
    writer.write(line("last"))
    #expect(writer.close(within: Self.patience))
    #expect(output.text.hasSuffix("999\nlast\n"))
  }

  private static let patient = {
    var pace = LogWriter.Pace()
    pace.prompt = 0
    pace.gathering = .seconds(3600)
    return pace
  }()

  @Test func whatFollowsALineGathers() throws {
    let output = GatedOutput(isOpen: true)
    let writer = try LogWriter.start(
      output: output, clock: ManualClock(), format: .text, pace: Self.patient)
    writer.write(line("first"))
    output.awaitBatches(1)
    for number in 0..<100 { writer.write(line("\(number)")) }
    #expect(output.text == "first\n")
    #expect(writer.flush(within: Self.patience))
    #expect(output.batches == 2)
    writer.write(line("last"))
    #expect(writer.close(within: Self.patience))
    #expect(output.batches == 3 && output.text.hasSuffix("99\nlast\n"))
  }

  @Test func noMoreGathersThanHalfOfTheRoom() throws {
    let output = GatedOutput(isOpen: true)
    let writer = try LogWriter.start(
      output: output, clock: ManualClock(), format: .text, lines: 100, pace: Self.patient)
    writer.write(line("first"))
    output.awaitBatches(1)
    for number in 0..<51 { writer.write(line("\(number)")) }
    output.awaitBatches(2)
    #expect(output.text.hasSuffix("50\n"))
    #expect(writer.close(within: Self.patience))
  }

  @Test func linesWaitUntilTheWriterBegins() throws {
    let output = GatedOutput(isOpen: true)
    let writer = LogWriter.prepared(output: output, clock: ManualClock(), format: .text)
    writer.write(line("first"))
    #expect(!writer.flush(within: .zero) && output.text.isEmpty)
    writer.writeWaiting()
    #expect(output.text == "first\n")
    writer.write(line("second"))
    try writer.begin()
    #expect(writer.flush(within: Self.patience) && output.text == "first\nsecond\n")
    #expect(writer.close(within: Self.patience))
  }

  @Test func aWriterThatNeverBeginsWritesWhenItIsClosed() {
    let output = GatedOutput(isOpen: true)
    let writer = LogWriter.prepared(output: output, clock: ManualClock(), format: .text)
    writer.write(line("why there is no start"))
    #expect(writer.close(within: Self.patience))
    #expect(output.text == "why there is no start\n")
  }

  @Test func aStuckOutputStopsNobodyAndWhatIsLeftOutIsCounted() throws {
    let output = GatedOutput(isOpen: false)
    let writer = try LogWriter.start(
      output: output, clock: ManualClock(), format: .text, capacity: 1000, lines: 4)
    writer.write(line("first"))
    output.awaitWriter()
    // Nobody reads, and still each call comes back.
    for number in 0..<100 { writer.write(line("\(number)")) }
    #expect(!writer.flush(within: .zero))
    #expect(!writer.close(within: .zero))
    output.open()
    #expect(writer.close(within: Self.patience))
    #expect(
      output.text == "first\n0\n1\n2\n"
        + "time=2026-02-17T00:00:00.000Z level=warning event=lines_left_out count=97 reason=overflow\n")
  }

  @Test func theNoticeStandsWhereTheLinesWouldHaveStood() throws {
    let output = GatedOutput(isOpen: false)
    let writer = try LogWriter.start(
      output: output, clock: ManualClock(), format: .json, capacity: 1000, lines: 2)
    writer.write(line("first"))
    output.awaitWriter()
    for text in ["second", "lost", "lost"] { writer.write(line(text)) }
    output.open()
    #expect(writer.flush(within: Self.patience))
    writer.write(line("later"))
    #expect(writer.close(within: Self.patience))
    let lines = output.text.split(separator: "\n")
    #expect(lines.count == 4 && lines.first == "first" && lines.last == "later")
    #expect(lines.dropFirst(2).first?.hasSuffix("\"count\":2,\"reason\":\"overflow\"}") == true)
  }

  @Test func aBrokenOutputIsTriedAgainWithTheNextLine() throws {
    let output = GatedOutput(isOpen: true)
    output.setWorks(false)
    let writer = try LogWriter.start(output: output, clock: ManualClock(), format: .text)
    writer.write(line("lost"))
    #expect(writer.flush(within: Self.patience))
    let tries = output.batches
    #expect(tries == 1)
    output.setWorks(true)
    writer.write(line("found"))
    #expect(writer.close(within: Self.patience))
    #expect(output.text.hasPrefix("found\n") && output.text.contains("count=1"))
  }

  @Test func linesOfManyThreadsStayWholeAndInOrder() throws {
    let output = GatedOutput(isOpen: true)
    let writer = try LogWriter.start(output: output, clock: ManualClock(), format: .text)
    let threads = 4
    let count = 500
    try withThreads(threads) { thread in
      for number in 0..<count { writer.write(Array("\(thread) \(number)\n".utf8)) }
    }
    #expect(writer.close(within: Self.patience))
    let lines = output.text.split(separator: "\n")
    #expect(lines.count == threads * count)
    for thread in 0..<threads {
      let own = lines.filter { $0.hasPrefix("\(thread) ") }.compactMap { Int($0.split(separator: " ")[1]) }
      #expect(own == Array(0..<count))
    }
  }

  private func withThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) throws {
    guard count > 0 else { return }
    let thread = try Thread(name: "test") { body(count - 1) }
    try withThreads(count - 1, body)
    thread.join()
  }

  @Test func aPipeIsWrittenWhole() throws {
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    // As another process that shares it might have done.
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
    let written = Mutex(false)
    let thread = try Thread(name: "test") {
      let result = StandardErrorOutput(descriptor: descriptor).write(bytes)
      written.withLock { $0 = result }
    }
    var read = Data()
    while read.count < bytes.count { read += pipe.fileHandleForReading.availableData }
    thread.join()
    #expect(written.withLock { $0 })
    #expect(read == Data(bytes))
  }

  @Test func aClosedDescriptorIsAFailureAndNoCrash() {
    let output = StandardErrorOutput(descriptor: -1)
    #expect(!output.write([0x61]))
    #expect(output.write([]))
  }
}
