/// What the registry's thread is to the scheduler (docs/architecture-threads.md, "Threads").
import Kit
import System
import Testing
import Time

@testable import Registry

@Suite struct RegistryThreadTests {
  /// What the thread that serves it is, as proc(5) shows it.
  private struct Look: RegistryCall {
    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      .reply(.answered((try? WholeFile.read("/proc/thread-self/stat")) ?? []))
    }
  }

  /// Players go first, whatever phones ask for.
  @Test func itIsBehindTheLoops() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-thread-")
    let path = folder.path
    let registry = try Registry(
      RegistryDatabase(path + "/devices.db"), settings: RegistrySettings(publicURL: "https://gate.example"),
      clock: SystemClock(), entropy: KernelEntropy(), listener: Listener())
    try registry.begin()
    let answer = Monitor<Reply?>(nil)
    let handle = registry.submit(Look(), lane: .host, origin: .gate) { reply in
      answer.withLock { state, wake in
        state = reply
        wake.all()
      }
    }
    #expect(handle != nil)
    let reply = answer.wait { state in state.map { .done($0) } ?? .wait }
    registry.stop()
    folder.remove()
    guard case .answered(let bytes) = reply else {
      Issue.record("\(reply)")
      return
    }
    let text = String(decoding: bytes, as: UTF8.self)
    let name = try #require(text.firstIndex(of: "(").map { text.index(after: $0) })
    let end = try #require(text.lastIndex(of: ")"))
    #expect(text[name..<end] == "registry")
    // Field 3 is the first behind the name; niceness is field 19.
    let fields = text[text.index(after: end)...].split(separator: " ")
    #expect(fields[16] == "19" && Thread.behindLoops == 19)
  }
}
