/// What the machine is called, as the kernel's own file has it where that is to be read.
import Testing

@testable import System

@Suite struct HostNameTests {
  @Test func isWhatTheKernelSays() throws {
    let name = try #require(HostName.read())
    #expect(!name.isEmpty && name.utf8.count <= 64 && !name.utf8.contains(0))
    guard let bytes = try? WholeFile.read("/proc/sys/kernel/hostname") else { return }
    #expect(name == String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self))
  }
}
