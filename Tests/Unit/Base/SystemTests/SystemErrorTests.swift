import System
import Testing

@Suite struct SystemErrorTests {
  @Test func saysCallAndReason() {
    #expect(SystemError("bind", 98).description == "bind: Address already in use")
    #expect(SystemError("bind", 98) == SystemError("bind", 98))
    #expect(SystemError("bind", 98) != SystemError("listen", 98))
  }
}
