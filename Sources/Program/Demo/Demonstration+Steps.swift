/// How a step of the demonstration is told, and what it hears of the game.
internal import Device
internal import Dialing

extension Demonstration {
  func step(
    _ what: String, _ body: (SimulatedApp, TestAttestationAuthority) throws -> String?
  ) {
    do {
      let outcome = try body(app, authority)
      check(what, outcome != nil, outcome ?? "not as it should be")
    } catch {
      check(what, false, "\(error)")
    }
  }

  /// A step that has to be refused with `code`.
  func refused(
    _ what: String, _ code: String, _ body: (SimulatedApp, TestAttestationAuthority) throws -> Void
  ) {
    do {
      try body(app, authority)
      check(what, false, "let in")
    } catch GateClientError.refused(let response) {
      check(what, response.errorCode == code, "\(response.status) \(response.errorCode ?? "without a code")")
    } catch {
      check(what, false, "\(error)")
    }
  }

  func check(_ what: String, _ isGood: Bool, _ detail: String) {
    if !isGood { failures += 1 }
    tell("  \(isGood ? "✓" : "✗") \(what)\(detail.isEmpty ? "" : ": \(detail)")")
  }

  /// Receives until the game has said `text`, and returns how many bytes it took.
  static func listen(_ session: WebSocketClient, for text: String) throws -> Int {
    var heard: [UInt8] = []
    while true {
      switch try session.receive(timeout: .seconds(10)) {
      case .binary(let bytes): heard += bytes
      case .text(let text): heard += Array(text.utf8)
      case .pong: break
      case .closed(let code, let reason):
        throw DemonstrationFailure(description: "closed early: \(code) \(reason)")
      }
      if String(decoding: heard, as: UTF8.self).contains(text) { return heard.count }
    }
  }

  static func end(of session: WebSocketClient) throws -> WebSocketClient.Message {
    while true {
      let message = try session.receive(timeout: .seconds(10))
      if case .closed = message { return message }
    }
  }
}
