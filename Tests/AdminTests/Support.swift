import HTTPWire
import Synchronization

@testable import Admin

/// A gate of the test's own behind the listener.
final class ImaginaryGate: AdminHandler {
  struct State {
    var isAlive = true
    var readiness = Readiness(checks: [.init("listening", .ok), .init("game", .ok)])
    var worked: [String] = []
  }

  let state = Mutex(State())
  /// Whether `work` waits until told.
  let gate = Mutex<Bool>(false)
  let download: @Sendable () -> any AdminBody

  init(download: @escaping @Sendable () -> any AdminBody = { Pieces([]) }) {
    self.download = download
  }

  var isAlive: Bool { state.withLock { $0.isAlive } }
  var readiness: Readiness { state.withLock { $0.readiness } }
  func metrics() -> [UInt8] { Array("numbers 1\n".utf8) }

  func asset(_ path: String) -> AdminAnswer? {
    path == "/style.css" ? .asset(contentType: "text/css", Array("p{}".utf8)) : nil
  }

  func answerAtOnce(_ request: AdminRequest) -> AdminAnswer? {
    switch request.path {
    case "/": .page(.ok, Array("<p>\(request.actor.name)".utf8))
    case "/api/overview": .json(.ok, Array(#"{"live":{}}"#.utf8))
    case "/away": .seeOther("//evil.example/")
    case "/search", "/export", "/change": nil
    default: .page(.notFound, Array("no".utf8))
    }
  }

  func work(_ request: AdminRequest) -> AdminAnswer {
    state.withLock { $0.worked.append(request.path + (request.query["q"] ?? "")) }
    switch request.path {
    case "/export":
      return .stream(contentType: "application/json", fileName: "a\"b/\r\nc.json", download())
    case "/change": return .seeOther("/?done=\(request.form["word"] ?? "")")
    default: return .page(.ok, Array("found".utf8))
    }
  }
}

final class Pieces: AdminBody {
  private let left: Mutex<[[UInt8]]>

  init(_ pieces: [[UInt8]]) {
    left = Mutex(pieces)
  }

  func next() -> [UInt8]? { left.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}

/// What a conversation says after all of `bytes`, taken in `step` at a time.
func steps(of bytes: [UInt8], every step: Int) -> [String] {
  var conversation = AdminConversation()
  var said: [String] = []
  var rest = bytes[...]
  while true {
    switch conversation.next() {
    case .needMore:
      if rest.isEmpty { return said }
      conversation.take(Array(rest.prefix(step)).span)
      rest = rest.dropFirst(step)
    case .sendContinue: said.append("100")
    case .call(let call):
      said.append("\(call.head.methodName) \(call.head.path) \(String(decoding: call.body, as: UTF8.self))")
    case .refused(let reply, _, let closing):
      said.append("\(reply.status.rawValue)\(closing ? "!" : "")")
      if closing { return said }
    }
  }
}
