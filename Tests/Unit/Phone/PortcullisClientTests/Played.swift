/// A machine for tests of single rules, and what it has asked for in words.
import PortcullisTesting

@testable import PortcullisClient

/// A machine with what it has asked for, as its owner would see it.
struct Played {
  var machine: SessionMachine

  init(
    triesFirstAgain: Bool = true, beginsAnew: Bool = true, givesUpWithSession: Bool = false,
    inputPatience: Double? = 10,
    client: ClientDescription = ClientDescription(name: "Test")
  ) {
    machine = SessionMachine(
      policy: GameOptions(
        triesFirstAgain: triesFirstAgain, beginsAnew: beginsAnew, givesUpWithSession: givesUpWithSession,
        inputPatience: inputPatience), client: client, seed: 7)
  }

  static let lost = GameFailure(.unreachable, detail: "lost")

  static let id = "AAAAAAAAAAAAAAAAAAAAAA"

  static func greeting(
    _ id: String = id, resumed: Bool = false, received: Int = 0, more: String = ""
  ) -> String {
    #"{"type":"session","id":"\#(id)","resumed":\#(resumed),"received":\#(received),"resumeFor":600,"#
      + #""maxMessage":65536,"kept":true,"echo":false,"gmcp":false,"msdp":false\#(more)}"#
  }

  /// Texts as strings, so that they can be read here; without what is only to be remembered.
  mutating func actions() -> [String] {
    allActions().filter { !$0.hasPrefix("remember ") }
  }

  mutating func allActions() -> [String] {
    machine.takeActions().map { action in
      switch action {
      case .connect(let request): "connect " + request.fields.map(\.name).joined(separator: " ")
      case .recall: "recall"
      case .renewKey: "renew key"
      case .tellWaiting(let until, let why): "waiting(until: \(until)) \(why.kind)"
      case .remember(let session):
        session.map { "remember \($0.id) \($0.received) \($0.handled)" } ?? "forget"
      case .sendText(let bytes): String(decoding: bytes, as: UTF8.self)
      case .sendBinary(let bytes): "binary " + String(decoding: bytes, as: UTF8.self)
      case .ping: "ping"
      case .close(let code): "close \(code)"
      case .abandon: "abandon"
      case .tell(.state(let state)): "\(state)"
      case .tell(let event): "\(event)"
      }
    }
  }

  mutating func receive(_ text: String, now: Double = 0) {
    machine.receive(text: Array(text.utf8), now: now)
    machine.handled(machine.mark, now: now)
  }

  mutating func receive(binary: [UInt8], now: Double = 0) {
    machine.receive(binary: binary, now: now)
    machine.handled(machine.mark, now: now)
  }

  /// Attached to a session that has just begun.
  static func attached(
    beginsAnew: Bool = true, givesUpWithSession: Bool = false, inputPatience: Double? = 10
  ) -> Played {
    var played = Played(
      beginsAnew: beginsAnew, givesUpWithSession: givesUpWithSession, inputPatience: inputPatience)
    played.machine.begin(now: 0)
    played.machine.opened(subprotocol: "portcullis.v1", now: 0)
    played.receive(greeting())
    _ = played.actions()
    return played
  }

  /// Lost, and connected again up to the greeting.
  mutating func reconnect(now: Double = 0) {
    machine.closed(code: 1006, now: now)
    machine.networkChanged(now: now)
    machine.opened(subprotocol: "portcullis.v1", now: now)
    _ = actions()
  }
}
