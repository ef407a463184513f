/// The control socket as it is: a UNIX socket in a temporary directory, with real clients.
import Foundation
import Kit
import Synchronization
import Testing
import Time

@testable import Bytes
@testable import Control
@testable import Sockets
@testable import System

/// Says that all is well; asked for its sessions, it waits until it is let go.
private final class Handler: ControlHandler {
  let entered = Signal()
  let letGo = Signal()
  let asked = Mutex<[ControlRequest]>([])

  func answer(_ request: ControlRequest, from peer: UnixPeer?) -> ControlAnswer {
    asked.withLock { $0.append(request) }
    if request == .sessionsList {
      entered.ring()
      letGo.wait(until: SystemClock().monotonic() + .seconds(60))
      return .sessions([])
    }
    return AnswerTests.answers[0]
  }
}

/// A directory that goes with its test.
private final class Place {
  private let folder: TestFolder

  init() throws { folder = try TestFolder("control-") }

  var socket: String { folder.file("gate.sock") }
  func file(_ name: String) -> String { folder.file(name) }
  var exists: Bool { FileManager.default.fileExists(atPath: socket) }
}

@Suite struct ServerTests {
  private let place: Place
  private let handler = Handler()

  init() throws {
    place = try Place()
  }

  private func limits(requestBytes: Int = 1 << 20, time: Duration = .seconds(60), threads: Int = 4)
    -> ControlServer.Limits
  {
    var limits = ControlServer.Limits()
    limits.requestBytes = requestBytes
    limits.time = time
    limits.threads = threads
    return limits
  }

  private func connect() throws -> LineChannel {
    LineChannel(try Socket.connecting(to: .unix(path: place.socket)))
  }

  private var soon: MonotonicTime { SystemClock().monotonic() + .seconds(60) }

  /// The next answer, or what came instead.
  private func answer(_ channel: inout LineChannel) throws -> ControlAnswer {
    guard case .line(let line) = channel.readLine(limit: 1 << 20, until: soon) else {
      throw ControlAnswerError(description: "no answer")
    }
    return try ControlAnswer(parsing: line.span)
  }

  private func code(_ answer: ControlAnswer) -> ControlRefusal.Code? {
    if case .refused(let refusal) = answer { refusal.code } else { nil }
  }

  // MARK: Asking

  @Test func clientIsAnswered() throws {
    let server = try ControlServer.start(path: place.socket, handler: handler)
    defer { server.stop() }
    #expect(try ControlClient.ask(.health, at: place.socket) == AnswerTests.answers[0])
    #expect(handler.asked.withLock { $0 } == [.health])
  }

  @Test func severalRequestsOnOneConnectionAreAnsweredInTurn() throws {
    let server = try ControlServer.start(path: place.socket, handler: handler)
    defer { server.stop() }
    var channel = try connect()
    let lines =
      Array(#"{"command":"health"}"#.utf8) + Array("\nnonsense\n".utf8) + ControlRequest.statistics.line
    #expect(channel.write(lines, until: soon) == .sent)
    #expect(try answer(&channel) == AnswerTests.answers[0])
    #expect(code(try answer(&channel)) == .badRequest)
    #expect(try answer(&channel) == AnswerTests.answers[0])
    #expect(handler.asked.withLock { $0 } == [.health, .statistics])
  }

  @Test func requestMayComeByteByByte() throws {
    let server = try ControlServer.start(path: place.socket, handler: handler)
    defer { server.stop() }
    let socket = try Socket.connecting(to: .unix(path: place.socket))
    for byte in ControlRequest.health.line + [UInt8(ascii: "\n")] {
      let sent = socket.send([byte].span)
      #expect(sent == .bytes(1))
    }
    var channel = LineChannel(socket)
    #expect(try answer(&channel) == AnswerTests.answers[0])
  }

  @Test func oneSlowAnswerDoesNotHoldUpAnother() throws {
    let server = try ControlServer.start(path: place.socket, handler: handler)
    defer { server.stop() }
    var slow = try connect()
    #expect(slow.write(ControlRequest.sessionsList.line, until: soon) == .sent)
    #expect(handler.entered.wait(until: soon))
    #expect(try ControlClient.ask(.health, at: place.socket) == AnswerTests.answers[0])
    handler.letGo.ring()
    #expect(try answer(&slow) == .sessions([]))
  }

  @Test func moreClientsThanThreadsWaitTheirTurn() throws {
    let server = try ControlServer.start(path: place.socket, handler: handler, limits: limits(threads: 1))
    defer { server.stop() }
    var first = try connect()
    #expect(first.write(ControlRequest.sessionsList.line, until: soon) == .sent)
    #expect(handler.entered.wait(until: soon))
    var second = try connect()
    #expect(second.write(ControlRequest.health.line, until: soon) == .sent)
    handler.letGo.ring()
    #expect(try answer(&first) == .sessions([]))
    // The first stays connected until its time is over or it leaves.
    _ = consume first
    #expect(try answer(&second) == AnswerTests.answers[0])
  }

  // MARK: Limits

  /// Blanks before the object make a request of any length.
  @Test(arguments: [(63, nil), (64, nil), (65, ControlRefusal.Code.tooLarge), (100_000, .tooLarge)])
  func lengthIsLimited(length: Int, expected: ControlRefusal.Code?) throws {
    let server = try ControlServer.start(
      path: place.socket, handler: handler, limits: limits(requestBytes: 64))
    defer { server.stop() }
    let request = ControlRequest.health.line
    var channel = try connect()
    _ = channel.write([UInt8](repeating: 0x20, count: length - request.count) + request, until: soon)
    #expect(code(try answer(&channel)) == expected)
    #expect(handler.asked.withLock { $0.count } == (expected == nil ? 1 : 0))
  }

  @Test func endlessLineIsRefusedBeforeItEnds() throws {
    let server = try ControlServer.start(
      path: place.socket, handler: handler, limits: limits(requestBytes: 64))
    defer { server.stop() }
    let socket = try Socket.connecting(to: .unix(path: place.socket))
    let bytes = [UInt8](repeating: 0x20, count: 65)
    let sent = socket.send(bytes.span)
    #expect(sent == .bytes(65))
    var channel = LineChannel(socket)
    #expect(code(try answer(&channel)) == .tooLarge)
    #expect(channel.readLine(limit: 100, until: soon) == .ended)
  }

  @Test func slowClientIsCutOff() throws {
    let server = try ControlServer.start(
      path: place.socket, handler: handler, limits: limits(time: .seconds(1)))
    defer { server.stop() }
    let socket = try Socket.connecting(to: .unix(path: place.socket))
    let half = Array(#"{"command":"#.utf8)
    let sent = socket.send(half.span)
    #expect(sent == .bytes(half.count))
    var channel = LineChannel(socket)
    #expect(code(try answer(&channel)) == .timeout)
    #expect(channel.readLine(limit: 100, until: soon) == .ended)
  }

  // MARK: Who may ask

  @Test(arguments: [nil, UInt32.max - 1])
  func otherUsersAreRefused(user: UInt32?) throws {
    let server = try ControlServer.start(path: place.socket, handler: handler) { _ in
      ControlServer.isOwnUserOrRoot(user)
    }
    defer { server.stop() }
    let answer = try ControlClient.ask(.health, at: place.socket)
    #expect(code(answer) == .notPermitted)
    #expect(handler.asked.withLock { $0.isEmpty })
  }

  @Test func ownUserAndRootMayAsk() throws {
    #expect(ControlServer.isOwnUserOrRoot(0))
    #expect(ControlServer.isOwnUserOrRoot(UInt32(geteuid())))
    let pair = try Socket.pair()
    let peer = pair.first.peer()
    #expect(peer == UnixPeer(user: UInt32(geteuid()), process: getpid()))
  }

  @Test func socketIsForItsUserAlone() throws {
    let server = try ControlServer.start(path: place.socket, handler: handler)
    defer { server.stop() }
    let mode = try FileManager.default.attributesOfItem(atPath: place.socket)[.posixPermissions] as? Int
    #expect(try #require(mode) & 0o077 == 0)
  }

  // MARK: Coming and going

  @Test func stopRemovesTheSocketAndEndsIdleClients() throws {
    let server = try ControlServer.start(path: place.socket, handler: handler)
    var idle = try connect()
    #expect(idle.write(ControlRequest.health.line, until: soon) == .sent)
    _ = try answer(&idle)
    server.stop()
    #expect(!place.exists)
    #expect(code(try answer(&idle)) == .shuttingDown)
    #expect(throws: ControlClientError.notRunning(path: place.socket, setting: "CONTROL_SOCKET")) {
      try ControlClient.ask(.health, at: place.socket)
    }
  }

  @Test func staleSocketIsReplaced() throws {
    // Goes without being removed, as after kill -9.
    _ = try UnixListener.bind(place.socket)
    #expect(place.exists)
    #expect(throws: ControlClientError.notRunning(path: place.socket, setting: "CONTROL_SOCKET")) {
      try ControlClient.ask(.health, at: place.socket)
    }
    let server = try ControlServer.start(path: place.socket, handler: handler)
    defer { server.stop() }
    #expect(try ControlClient.ask(.health, at: place.socket) == AnswerTests.answers[0])
  }

  @Test func anotherGatesSocketIsLeftAlone() throws {
    let server = try ControlServer.start(path: place.socket, handler: handler)
    defer { server.stop() }
    #expect(throws: ControlServerError.listen(setting: "CONTROL_SOCKET", path: place.socket, .inUse)) {
      try ControlServer.start(path: place.socket, handler: handler)
    }
    #expect(try ControlClient.ask(.health, at: place.socket) == AnswerTests.answers[0])
  }

  @Test func fileThatIsNoSocketIsLeftAlone() throws {
    try Data("notes".utf8).write(to: URL(filePath: place.socket))
    #expect(throws: ControlServerError.listen(setting: "CONTROL_SOCKET", path: place.socket, .notASocket)) {
      try ControlServer.start(path: place.socket, handler: handler)
    }
    #expect(try Data(contentsOf: URL(filePath: place.socket)) == Data("notes".utf8))
  }

  @Test func anothersSocketAtOurPathIsNotRemoved() throws {
    let server = try ControlServer.start(path: place.socket, handler: handler)
    try FileManager.default.removeItem(atPath: place.socket)
    let other = try UnixListener.bind(place.socket)
    server.stop()
    #expect(place.exists)
    other.remove()
    #expect(!place.exists)
  }

  @Test func pathThatIsTooLongIsRefused() throws {
    let path = place.file(String(repeating: "x", count: 108))
    #expect(throws: ControlServerError.self) { try ControlServer.start(path: path, handler: handler) }
  }
}
