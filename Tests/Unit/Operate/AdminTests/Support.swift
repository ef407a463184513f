import Glibc
import HTTPWire
import Kit
import Sockets
import Synchronization
import System
import Testing
import Time

@testable import Admin

/// A gate of the test's own behind the listener.
final class ImaginaryGate: AdminHandler {
  struct State {
    var isAlive = true
    var readiness = Admin.Readiness(checks: [.init("listening", .ok), .init("game", .ok)])
    var worked: [String] = []
  }

  let state = Mutex(State())
  /// What `work` waits for; nil for nothing.
  let latch: Latch?
  let download: @Sendable () -> any AdminBody
  /// Where the listener's thread waits when it is asked for `/stop/` and a number.
  let stops: [Stop]

  init(
    latch: Latch? = nil, stops: [Stop] = [],
    download: @escaping @Sendable () -> any AdminBody = { Pieces([]) }
  ) {
    self.latch = latch
    self.stops = stops
    self.download = download
  }

  var isAlive: Bool { state.withLock { $0.isAlive } }
  var readiness: Admin.Readiness { state.withLock { $0.readiness } }
  func metrics() -> [UInt8] { Array("numbers 1\n".utf8) }

  func asset(_ path: String) -> AdminAnswer? {
    switch path {
    case "/style.css": .asset(contentType: "text/css", Array("p{}".utf8))
    case "/big.svg": .asset(contentType: "image/svg+xml", Array(repeating: 0x78, count: 1 << 20))
    default: nil
    }
  }

  func answerAtOnce(_ request: AdminRequest) -> AdminAnswer? {
    switch request.path {
    case "/": .page(.ok, Array("<p>\(request.actor.name)".utf8))
    case "/api/overview": .json(.ok, Array(#"{"live":{}}"#.utf8))
    case "/away": .seeOther("//evil.example/")
    case "/search", "/export", "/change", "/api/search": nil
    case "/stop/0", "/stop/1": stop(request.path == "/stop/0" ? stops[0] : stops[1])
    default: .page(.notFound, Array("no".utf8))
    }
  }

  private func stop(_ stop: Stop) -> AdminAnswer {
    stop.reached.open()
    stop.isOver.wait()
    return .page(.ok, Array("<p>on".utf8))
  }

  func work(_ request: AdminRequest) -> AdminAnswer {
    state.withLock { $0.worked.append(request.path + (request.query["q"] ?? "")) }
    latch?.wait()
    switch request.path {
    case "/export":
      return .stream(contentType: "application/json", fileName: "a\"b/\r\nc.json", download())
    case "/api/search": return .json(.ok, Array("{}".utf8))
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

/// Where a thread waits for the test, and the test for it.
struct Stop {
  let reached = Latch()
  let isOver = Latch()
}

/// A listener on a UNIX socket in a folder of its own, as long as `body` runs.
func served(
  _ gate: ImaginaryGate, clock: ManualClock = ManualClock(),
  holds: @escaping @Sendable (AdminActor) -> Bool = { _ in true }, _ body: (String) throws -> Void
) throws {
  let folder = try TemporaryFolder(prefix: "admin-")
  let path = folder.path + "/admin.sock"
  let routing = AdminRouting(
    handler: gate, judge: { _, _, _ in .actor(.alice, formToken: "") }, holds: holds)
  let server = try AdminServer.start(on: AdminListener(try UnixListener.bind(path)), routing, tls: nil, clock)
  do {
    try body(path)
    server.stop()
    folder.remove()
  } catch {
    server.stop()
    folder.remove()
    throw error
  }
}

/// One peer of the listener, who waits for what it expects and no longer than a minute.
final class Peer {
  private let socket: Socket
  private var received: [UInt8] = []
  private(set) var hasEnded = false

  init(_ path: String) throws {
    socket = try Self.connected(to: path, until: Self.deadline)
  }

  /// As others do, whose connect waits while the queue of the door is full.
  private static func connected(to path: String, until deadline: MonotonicTime) throws(SystemError) -> Socket
  {
    while true {
      do throws(SystemError) {
        return try Socket.connecting(to: .unix(path: path))
      } catch {
        guard error.number == EAGAIN, SystemClock().monotonic() < deadline else { throw error }
      }
    }
  }

  private static var deadline: MonotonicTime { SystemClock().monotonic() + .seconds(60) }

  func send(_ text: String) {
    var rest = Array(text.utf8)
    while !rest.isEmpty {
      switch socket.send(rest.span) {
      case .bytes(let count): rest.removeFirst(count)
      case .wouldBlock: guard socket.wait(for: .writing, until: Self.deadline) == .ready else { return }
      case .failed: return
      }
    }
  }

  func ask(_ path: String) {
    send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
  }

  /// False when there is nothing to read just now, or never will be.
  private func readSome(until deadline: MonotonicTime) -> Bool {
    var room = [UInt8](repeating: 0, count: 65_536)
    while true {
      switch Self.receive(socket, into: &room) {
      case .bytes(let count):
        received += room[..<count]
        return true
      case .wouldBlock: guard socket.wait(for: .reading, until: deadline) == .ready else { return false }
      case .ended, .failed:
        hasEnded = true
        return false
      }
    }
  }

  private static func receive(_ socket: borrowing Socket, into room: inout [UInt8]) -> ReceiveResult {
    var span = room.mutableSpan
    return socket.receive(into: &span)
  }

  /// Whether `text` comes; what came up to it is gone then.
  func hears(_ text: String) -> Bool {
    let deadline = Self.deadline
    while true {
      if let found = String(decoding: received, as: UTF8.self).firstRange(of: text) {
        let rest = String(decoding: received, as: UTF8.self)[found.upperBound...]
        received = Array(rest.utf8)
        return true
      }
      guard readSome(until: deadline) else { return false }
    }
  }

  /// All that comes until the connection ends.
  func rest() -> String {
    let deadline = Self.deadline
    while readSome(until: deadline) {}
    return String(decoding: received, as: UTF8.self)
  }

  /// Whether the listener has closed the connection, as seen without waiting.
  func isCutOff() -> Bool {
    while !hasEnded, readSome(until: SystemClock().monotonic()) {}
    return hasEnded
  }
}

/// Somebody who works only when told to.
final class Latch: Sendable {
  private let isOpen = Monitor(false)

  func open() {
    isOpen.withLock { isOpen, wake in
      isOpen = true
      wake.all()
    }
  }

  func wait() {
    isOpen.wait { $0 ? .done(()) : .wait }
  }
}

extension AdminActor {
  static let alice = AdminActor(name: "alice", scopes: [.read, .write])
}
