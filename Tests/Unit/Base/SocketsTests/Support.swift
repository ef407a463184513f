import Addresses
import Glibc
import System
import Testing

@testable import Sockets

/// Runs what needs a port twice. The second time another program of this host may have the port, as this one holds it in one
/// family only, or not in between: then the body is run again, with another port. Five failures are no accident.
func tryingOtherPorts(_ body: () throws -> Void) throws {
  for _ in 0..<4 {
    do { return try body() } catch let error as SystemError where error == SystemError("bind", EADDRINUSE) {}
  }
  try body()
}

/// A listener on a port of 127.0.0.1 that the kernel chooses.
func loopbackListener(sharesPort: Bool = false, accepted: AcceptedOptions? = nil) throws -> Listener {
  try Listener(
    on: Endpoint(address: .loopbackV4, port: 0), sharesPort: sharesPort, accepted: accepted)
}

func address(of socket: borrowing Socket) throws -> SocketAddress {
  guard let address = socket.localAddress() else { throw Unexpected(what: "no address") }
  return address
}

func endpoint(of socket: borrowing Socket) throws -> Endpoint {
  guard let endpoint = try address(of: socket).endpoint else { throw Unexpected(what: "no internet address") }
  return endpoint
}

/// Two ends of one TCP connection over loopback.
struct Connected: ~Copyable {
  var client: Socket
  var server: Socket

  init() throws {
    let listener = try loopbackListener()
    let connecting = try Socket.connecting(to: try address(of: listener.socket))
    let accepted = try SocketsTests.accepted(by: listener)
    client = connecting
    server = accepted
  }
}

/// The next peer; waits for it with a poller, as the gate does.
func accepted(by listener: borrowing Listener) throws -> Socket {
  let poller = try Poller()
  try poller.addReadable(listener.socket, token: 1)
  guard poller.wait(milliseconds: 5000) == 1 else { throw Unexpected(what: "nobody came") }
  switch listener.accept() {
  case .accepted(let socket, _): return socket
  case .wouldBlock: throw Unexpected(what: "would block")
  case .aborted: throw Unexpected(what: "aborted")
  case .exhausted(let error): throw error
  case .failed(let error): throw error
  }
}

struct Unexpected: Error { let what: String }

/// Waits until the socket has something to say, an end or an error included.
func waitUntilReadable(_ socket: borrowing Socket) throws {
  let poller = try Poller()
  try poller.add(socket, token: 1)
  for _ in 0..<100 {
    guard poller.wait(milliseconds: 5000) > 0 else { throw Unexpected(what: "nothing came") }
    if poller.event(0).isReadable { return }
  }
}

extension Socket {
  func receive(_ count: Int) -> (result: ReceiveResult, bytes: [UInt8]) {
    var bytes = [UInt8](repeating: 0xEE, count: count)
    var span = bytes.mutableSpan
    let result = receive(into: &span)
    return (result, bytes)
  }

  @discardableResult
  func send(_ text: String) -> SendResult {
    let bytes = Array(text.utf8)
    return send(bytes.span)
  }
}

/// The end of a socket's life.
func close(_ socket: consuming Socket) {}
