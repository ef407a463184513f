import HTTPWire
import PortcullisProtocol
import Testing

@testable import Admission

@Suite struct RefusalTests {
  /// RFC 9110 §10.2.3: whole seconds, never too early.
  @Test(
    arguments: [
      (nil, 1), (.zero, 1), (.milliseconds(1), 1), (.milliseconds(999), 1), (.seconds(1), 1),
      (.milliseconds(1001), 2),
      (.seconds(5), 5), (.milliseconds(59_001), 60),
    ] as [(Duration?, Int)])
  func retryAfterIsRoundedUp(wait: Duration?, seconds: Int) {
    let response = Refusal.limited(.challengeRate, retryAfter: wait).response(
      tellsStep: false, provesByDevice: false)
    let text = String(decoding: response.encoded(closing: false, toHead: false, date: ""), as: UTF8.self)
    #expect(text.contains("\r\nRetry-After: \(seconds)\r\n"))
  }
}
