import Addresses
import Sockets
import Synchronization
import System
import Testing
import Time

@testable import Admin

/// What is revoked while something of it goes on.
@Suite struct RevokedDownloadTests {
  /// An export of more than anybody has.
  private final class Endless: AdminBody {
    func next() -> [UInt8]? { [UInt8](repeating: UInt8(ascii: "x"), count: 4096) }
  }

  private let console: Console
  private let gate = ImaginaryGate { Endless() }

  init() throws {
    console = try Console()
  }

  private struct Received {
    var bytes: [UInt8] = []
    var isReset = false
  }

  /// Until the connection ends, or `isEnough` is true of all that has come; nil when neither is in time.
  private func receive(_ socket: borrowing Socket, until isEnough: ([UInt8]) -> Bool = { _ in false })
    -> Received?
  {
    let deadline = SystemClock().monotonic() + .seconds(30)
    var received = Received()
    var scratch = [UInt8](repeating: 0, count: 16_384)
    while !isEnough(received.bytes) {
      var span = scratch.mutableSpan
      switch socket.receive(into: &span) {
      case .bytes(let count): received.bytes += scratch[..<count]
      case .ended: return received
      case .failed:
        received.isReset = true
        return received
      case .wouldBlock: if socket.wait(for: .reading, until: deadline) != .ready { return nil }
      }
    }
    return received
  }

  @Test(arguments: ["1.1", "1.0"])
  func aDownloadIsCutOff(version: String) throws {
    let door = try AdminListener.bind(Endpoint(address: IPAddress(v4: 0x7F00_0001), port: 0))
    let endpoint = try #require(door.endpoint)
    let server = try AdminServer.start(
      on: door, handler: gate, access: console.access, tls: nil, arrivals: nil, clock: SystemClock())
    defer { server.stop() }
    let socket = try Socket.connecting(to: .internet(endpoint))
    let lines = ["GET /export HTTP/\(version)", "Host: \(endpoint)", try console.token("ci"), "", ""]
    let request = Array(lines.joined(separator: "\r\n").utf8)
    _ = socket.wait(for: .writing, until: SystemClock().monotonic() + .seconds(30))
    guard case .bytes(request.count) = socket.send(request.span) else {
      Issue.record("the request is not out")
      return
    }
    let beginning = receive(socket) { $0.count > 100_000 }
    #expect(beginning?.bytes.starts(with: Array("HTTP/1.1 200 ".utf8)) == true)
    #expect(console.access.revoke(.name("ci"), by: "root").0.tokens == 1)
    // Nobody takes what has come for the whole: the last chunk is missing, or where there are none, the end.
    let rest = receive(socket)
    #expect(rest != nil && rest?.bytes.suffix(5).elementsEqual("0\r\n\r\n".utf8) == false)
    #expect(rest?.isReset == (version == "1.0"))
  }

  @Test func whatWaitsIsNotDone() throws {
    guard case .actor(let actor, _) = try console.get("/", console.token("ci", [.write])) else {
      Issue.record("the token is no good")
      return
    }
    let worker = AdminWorker(gate) { [access = console.access] in access.holds($0) }
    let request = AdminRequest(
      path: "/change", isChange: true, query: AdminForm(), form: AdminForm(), actor: actor, formToken: "")
    #expect(worker.take(request, from: 1))
    _ = console.access.revoke(.name("ci"), by: "root")
    #expect(
      worker.take(
        AdminRequest(
          path: "/change", isChange: true, query: AdminForm(), form: AdminForm(),
          actor: AdminActor(name: "x", scopes: []),
          formToken: ""), from: 2))
    var statuses: [AdminStatus?] = []
    worker.run { letter in
      if case .answer(_, .page(let status, _)) = letter {
        statuses.append(status)
      } else {
        statuses.append(nil)
      }
      if statuses.count == 2 { worker.stop() }
    }
    #expect(statuses == [.forbidden, nil])
    #expect(gate.state.withLock { $0.worked } == ["/change"])
  }
}
