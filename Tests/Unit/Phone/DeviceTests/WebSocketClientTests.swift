import Device
import Dialing
import Foundation
import Kit
import Obligation
import System
import Testing
import Time

/// The WebSocket client against Python's `websockets`, a server that others have written.
@Suite(
  .enabled(
    if: Obligation.runs(PythonServer.isAvailable, "websockets"), "python3 with websockets is not installed"),
  .timeLimit(.minutes(2)))
struct WebSocketClientTests {
  private let folder: TestFolder
  private let server: ServerProcess
  private let client: GateClient

  init() throws {
    folder = try TestFolder("device-")
    try DevelopmentCertificates.make(names: [], password: "x", now: SystemClock().wall())
      .write(to: folder.path, overwriting: false)
    server = try PythonServer.start(in: folder)
    client = try GateClient(
      GateURL(host: "localhost", port: server.port), trust: .authorities(path: folder.file("ca.pem")),
      timeout: .seconds(60))
  }

  private func connect(_ path: String = "/echo", subprotocols: [String] = []) throws -> WebSocketClient {
    try client.connectWebSocket(path: path, subprotocols: subprotocols)
  }

  /// Around each form of the length: 7 bits, 16, 64; and more than one TLS record.
  @Test(arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 200_000])
  func messagesComeBackAsTheyWere(count: Int) throws {
    let socket = try connect()
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try socket.send(binary: bytes)
    #expect(try socket.receive(timeout: .seconds(60)) == .binary(bytes))
    let text = String(repeating: "\u{E9}\u{1F511}", count: count / 6)
    try socket.send(text: text)
    #expect(try socket.receive(timeout: .seconds(60)) == .text(text))
    #expect(try socket.closeAndWait() == .closed(code: 1000, reason: ""))
  }

  /// RFC 7692, with the server's zlib on the other side.
  @Test(arguments: [0, 1, 126, 65_536, 200_000]) func compressedMessagesComeBackAsTheyWere(count: Int) throws
  {
    #expect(try connect().deflate == nil)
    let socket = try client.connectWebSocket(path: "/echo", offersDeflate: true)
    #expect(socket.deflate != nil)
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 50) }
    let text = String(repeating: "\u{E9}\u{1F511}", count: count / 6)
    for _ in 0..<2 {
      try socket.send(binary: bytes)
      #expect(try socket.receive(timeout: .seconds(60)) == .binary(bytes))
      try socket.send(text: text)
      #expect(try socket.receive(timeout: .seconds(60)) == .text(text))
    }
    let fragmented = try client.connectWebSocket(path: "/fragments", offersDeflate: true)
    #expect(try fragmented.receive(timeout: .seconds(60)) == .text("one two three"))
    #expect(try socket.closeAndWait() == .closed(code: 1000, reason: ""))
  }

  @Test func fragmentsBecomeOneMessage() throws {
    let socket = try connect("/fragments")
    #expect(try socket.receive(timeout: .seconds(60)) == .text("one two three"))
    #expect(try socket.receive(timeout: .seconds(60)) == .closed(code: 1000, reason: ""))
  }

  @Test func pingsAreAnswered() throws {
    let socket = try connect("/ping")
    #expect(try socket.receive(timeout: .seconds(60)) == .text("pong came"))
    try socket.ping(Array("are you there".utf8))
    #expect(try socket.receive(timeout: .seconds(60)) == .pong(Array("are you there".utf8)))
    try socket.closeAndWait()
  }

  @Test func theServersCloseIsTheEnd() throws {
    let socket = try connect("/bye")
    for _ in 0..<2 {
      #expect(try socket.receive(timeout: .seconds(60)) == .closed(code: 4001, reason: "tsch\u{FC}s"))
    }
  }

  @Test func subprotocolsAreNegotiated() throws {
    #expect(try connect().subprotocol == nil)
    #expect(try connect(subprotocols: ["other", "binary"]).subprotocol == "binary")
    #expect(try connect(subprotocols: ["other"]).subprotocol == nil)
  }

  @Test func aRefusalComesWithItsHeaders() throws {
    let error = #expect(throws: GateClientError.self) { _ = try connect("/refuse") }
    guard case .refused(let response) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(response.status == 401)
    #expect(response.errorCode == "assertion_required")
    #expect(response.text == "no\n")
  }

  @Test func aConnectionThatTheServerClosedIsReplaced() throws {
    // This server closes after each response, although it says that it does not.
    let ports = try (0..<3).map { _ in try client.get("/port").text }
    #expect(Set(ports).count == 3)
  }

  /// Far more than kernel and server buffer: whoever only writes would wait for ever.
  @Test func whatComesWhileWritingIsKept() throws {
    let socket = try connect()
    let bytes = [UInt8](repeating: 7, count: 100_000)
    for _ in 0..<120 { try socket.send(binary: bytes) }
    for _ in 0..<120 { #expect(try socket.receive(timeout: .seconds(60)) == .binary(bytes)) }
    #expect(try socket.closeAndWait() == .closed(code: 1000, reason: ""))
  }

  @Test func linesBecomeMessages() throws {
    let long = String(repeating: "x", count: 40_000)
    let input = try folder.write("input", "one\n\n\(long)\ntail")
    let output = try folder.write("output", "")
    let bridge = try TerminalBridge(
      input: OwnedDescriptor.open(reading: input), output: OwnedDescriptor.open(writing: output))
    #expect(try bridge.run(connect("/lengths"), waitsForServer: true) == .closed(code: 1000, reason: ""))
    #expect(try String(contentsOfFile: output, encoding: .utf8) == "4 1 16384 16384 7233 4 ")
  }

  @Test func aTerminalIsJoinedToTheServer() throws {
    let input = try folder.write("input", "look\nnorth\n")
    for (path, waits) in [("/three", true), ("/echo", false)] {
      // One for each: what an echo sends before it has the close comes out as well.
      let output = try folder.write("output\(waits)", "")
      let bridge = try TerminalBridge(
        input: OwnedDescriptor.open(reading: input), output: OwnedDescriptor.open(writing: output))
      let end = try bridge.run(connect(path), waitsForServer: waits)
      #expect(end == .closed(code: 1000, reason: ""))
      let shown = try String(contentsOfFile: output, encoding: .utf8)
      #expect(waits ? shown == "<look\nnorth\n>" : "look\nnorth\n".hasPrefix(shown))
    }
  }
}

enum PythonServer {
  static let isAvailable: Bool = {
    guard let python = Tool.path("python3") else { return false }
    return (try? Tool.run(python, ["-c", "import websockets.legacy.server"]).status) == 0
  }()

  static func start(in folder: TestFolder) throws -> ServerProcess {
    let script = try folder.write("server.py", source)
    return try ServerProcess(
      Tool.path("python3") ?? "", ["-u", script, folder.file("server.pem"), folder.file("server-key.pem")],
      marker: "PORT ")
  }

  /// For the `websockets` of Debian 12, 10.4, whose server is asyncio's.
  private static let source = """
    import asyncio, ssl, sys
    from http import HTTPStatus
    from websockets.legacy.server import WebSocketServerProtocol, serve

    class Server(WebSocketServerProtocol):
        async def process_request(self, path, headers):
            if path == "/refuse":
                return HTTPStatus.UNAUTHORIZED, [("Portcullis-Error", "assertion_required")], b"no\\n"
            if path == "/port":
                return HTTPStatus.OK, [("Connection", "keep-alive")], str(self.remote_address[1]).encode()

        def select_subprotocol(self, client, server):
            return "binary" if "binary" in client else None

    async def handle(socket):
        path = socket.path
        if path == "/fragments":
            await socket.send(["one ", "two ", "three"])
        elif path == "/ping":
            await asyncio.wait_for(await socket.ping(), 10)
            await socket.send("pong came")
            async for message in socket: pass
        elif path == "/bye":
            await socket.close(4001, "tsch\\u00fcs")
        elif path == "/lengths":
            async for message in socket:
                await socket.send(b"%d " % len(message))
                if message == b"tail": break
        elif path == "/three":
            await socket.send(b"<" + await socket.recv() + await socket.recv() + b">")
        else:
            async for message in socket:
                await socket.send(message)

    async def main():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        server = await serve(
            handle, "127.0.0.1", 0, ssl=context, create_protocol=Server, subprotocols=["binary"])
        print("PORT %d" % server.sockets[0].getsockname()[1])
        await server.wait_closed()

    asyncio.run(main())
    """
}
