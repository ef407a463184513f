import Testing
import Time

@testable import System

@Suite struct ProcessNumbersTests {
  @Test func tellsOfThisProcess() throws {
    let before = ProcessNumbers.read()
    #expect(before.cpuSeconds > 0)
    #expect(before.residentBytes > 1 << 20)
    #expect(before.mostDescriptors >= before.openDescriptors)
    #expect(before.openDescriptors > 3)
    let now = Double(SystemClock().wall().milliseconds) / 1000
    #expect(before.startedAt <= now)
    #expect(before.startedAt > now - 86_400)
    #expect(ProcessNumbers.read().cpuSeconds >= before.cpuSeconds)
  }

  /// Both ways of counting find those that are opened; other tests open and close some meanwhile.
  @Test func countsDescriptors() throws {
    var held: [Holder] = []
    for _ in 0..<2000 { held.append(Holder(try OwnedDescriptor.open(reading: "/dev/null"))) }
    #expect(ProcessNumbers.read().openDescriptors >= 2000)
    #expect(ProcessNumbers.countDescriptors(below: 1 << 16) >= 2000)
    #expect(ProcessNumbers.countDescriptors(below: 0) == 0)
    let highest = held.map(\.number).max() ?? 0
    #expect(ProcessNumbers.countDescriptors(below: Int(highest) + 1) >= 2000)
    #expect(held.count == 2000)
  }

  private final class Holder {
    private let descriptor: OwnedDescriptor
    var number: Int32 { descriptor.number }
    init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
  }

  /// A program may be called anything.
  @Test func nameMayHoldAnything() {
    let rest = (0..<30).map(String.init).joined(separator: " ")
    #expect(ProcessNumbers.startTicks(in: "17 (a) b (c) S \(rest)") == 18)
    #expect(ProcessNumbers.startTicks(in: "17 (short) S 1 2") == nil)
    #expect(ProcessNumbers.startTicks(in: "") == nil)
  }
}
