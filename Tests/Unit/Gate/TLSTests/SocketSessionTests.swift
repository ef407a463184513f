import Addresses
import Glibc
import Sockets
import System
import TLSPeers
import Testing

@testable import TLS

/// Sessions that read their socket themselves.
@Suite struct SocketSessionTests {
  private let server: Server

  init() throws { server = try Server() }

  /// A client in memory whose bytes go through real sockets.
  private struct Line: ~Copyable {
    let client: TestClient
    let pair: SocketPair
    let outbox: Outbox
    var session: TLSSession

    init(_ server: Server, _ options: ClientOptions = ClientOptions()) throws {
      let client = try TestClient(options)
      let pair = try Socket.pair()
      let outbox = Outbox()
      guard let made = TLSSession.accepting(on: pair.second, context: server.context, outbox: outbox) else {
        throw NoSession()
      }
      self.client = client
      self.pair = pair
      self.outbox = outbox
      session = made
    }

    /// From the client into the socket.
    func push() {
      let bytes = client.takeOutput()
      if bytes.isEmpty { return }
      #expect(pair.first.send(bytes.span) == .bytes(bytes.count))
    }

    /// From the outbox, past the socket, to the client.
    func pull() { client.feed(takeOutput(of: outbox)) }

    mutating func handshake() -> HandshakeResult {
      var result = HandshakeResult.wantsInput
      for _ in 0..<5 where result == .wantsInput {
        _ = client.handshake()
        push()
        session.noteReadable(hasHangup: false)
        result = session.handshake()
        pull()
      }
      _ = client.handshake()
      _ = client.read()
      return result
    }

    mutating func read() -> TLSReadResult {
      var buffer = [UInt8](repeating: 0, count: 20_000)
      var span = buffer.mutableSpan
      return session.read(into: &span)
    }
  }

  @Test(arguments: both) func handshakeAndData(version: ClientOptions.Version) throws {
    var line = try Line(server, ClientOptions(version: version))
    #expect(line.handshake() == .finished)
    line.client.write("hello")
    line.push()
    line.session.noteReadable(hasHangup: false)
    #expect(line.read() == .bytes(5))
    #expect(line.read() == .wantsInput)
  }

  /// One `recv` takes all the records that came, and they are handed out one by one.
  @Test(arguments: both) func severalRecordsInOneRead(version: ClientOptions.Version) throws {
    var line = try Line(server, ClientOptions(version: version))
    #expect(line.handshake() == .finished)
    for text in ["a", "bc", "def"] { line.client.write(text) }
    line.push()
    line.session.noteReadable(hasHangup: false)
    #expect(line.read() == .bytes(1))
    // All is taken from the socket already.
    var byte: [UInt8] = [0]
    var span = byte.mutableSpan
    #expect(line.pair.second.receive(into: &span) == .wouldBlock)
    #expect(line.read() == .bytes(2))
    #expect(line.read() == .bytes(3))
    #expect(line.read() == .wantsInput)
  }

  /// A short read has emptied the socket; until the poller says otherwise no call is spent on it.
  @Test func asksTheSocketOnlyAfterAReport() throws {
    var line = try Line(server)
    #expect(line.handshake() == .finished)
    line.session.noteReadable(hasHangup: false)
    #expect(line.read() == .wantsInput)
    line.client.write("later")
    line.push()
    #expect(line.read() == .wantsInput)
    line.session.noteReadable(hasHangup: false)
    #expect(line.read() == .bytes(5))
  }

  @Test(arguments: [false, true]) func aFINWithoutCloseNotifyIsTruncation(withData: Bool) throws {
    var line = try Line(server)
    #expect(line.handshake() == .finished)
    if withData { line.client.write("last") }
    line.push()
    line.pair.first.finishSending()
    line.session.noteReadable(hasHangup: true)
    // The hang-up came together with the data: both are found by one report.
    if withData { #expect(line.read() == .bytes(4)) }
    #expect(line.read() == .truncated)
    #expect(line.read() == .truncated)
  }

  @Test func closeNotifyAndFIN() throws {
    var line = try Line(server)
    #expect(line.handshake() == .finished)
    line.client.write("last")
    line.client.close()
    line.push()
    line.pair.first.finishSending()
    line.session.noteReadable(hasHangup: true)
    #expect(line.read() == .bytes(4))
    #expect(line.read() == .closed)
    #expect(line.read() == .closed)
  }

  @Test func anEndInTheMiddleOfARecord() throws {
    var line = try Line(server)
    #expect(line.handshake() == .finished)
    line.client.write("cut short")
    let bytes = line.client.takeOutput()
    #expect(line.pair.first.send(bytes.span.extracting(0..<10)) == .bytes(10))
    line.pair.first.finishSending()
    line.session.noteReadable(hasHangup: true)
    #expect(line.read() == .truncated)
  }

  @Test(arguments: [0, 10]) func anEndDuringTheHandshake(sent: Int) throws {
    var line = try Line(server)
    _ = line.client.handshake()
    let hello = line.client.takeOutput()
    if sent > 0 { #expect(line.pair.first.send(hello.span.extracting(0..<sent)) == .bytes(sent)) }
    line.pair.first.finishSending()
    line.session.noteReadable(hasHangup: true)
    #expect(line.session.handshake() == .failed(.peerClosed))
  }

  @Test func aResetIsAFailureWithItsReason() throws {
    let listener = try Listener(
      on: Endpoint(address: .loopbackV4, port: 0), sharesPort: false)
    guard let address = listener.socket.localAddress() else { throw NoSession() }
    let peer = try Socket.connecting(to: address)
    let poller = try Poller()
    try poller.addReadable(listener.socket, token: 1)
    _ = poller.wait(milliseconds: 5000)
    guard case .accepted(let socket, _) = listener.accept() else {
      Issue.record("nobody came")
      return
    }
    guard var session = TLSSession.accepting(on: socket, context: server.context, outbox: Outbox()) else {
      throw NoSession()
    }
    poller.remove(listener.socket)
    try poller.add(socket, token: 2)
    _ = poller.wait(milliseconds: 0)
    peer.resetOnClose()
    Self.close(peer)
    #expect(poller.wait(milliseconds: 5000) == 1)
    session.noteReadable(hasHangup: true)
    #expect(session.handshake() == .failed(.receive(SystemError("recv", ECONNRESET))))
  }

  private static func close(_ socket: consuming Socket) {}
}
