/// A task's WebSocket on its thread: the upgrade, then what the app says and what the server says.
internal import Dialing
internal import Deflate
internal import Time
internal import WebSocketWire

final class SocketWebSocket {
  private let loader: SocketLoader
  private let task: URLSessionWebSocketTask
  private let request: URLRequest
  private let socket: TLSSocket
  private var exchange: SocketExchange
  private var messages = ServerMessages(deflate: nil, zlib: ZlibPool())
  /// Come, and not passed on.
  private var events: [ServerMessages.Event] = []
  private var hasSentClose = false

  init(
    _ loader: SocketLoader, _ task: URLSessionWebSocketTask, _ request: URLRequest
  ) throws(URLError) {
    self.request = request
    self.loader = loader
    self.task = task
    exchange = try SocketExchange(loader, task, request)
    socket = exchange.socket
  }

  func run() throws(URLError) {
    guard try upgrade() else { return }
    do throws(URLError) {
      while !task.isOver {
        loader.clearBell()
        for (job, done) in loader.takeJobs() {
          try say(job)
          done(nil)
        }
        while task.hasRoom, !events.isEmpty, !task.isOver { try pass(events.removeFirst()) }
        if task.isOver { return }
        guard task.hasRoom else {
          _ = try socket.wait(forServer: false)
          continue
        }
        if let bytes = try socket.readAvailable() {
          if bytes.isEmpty { throw URLError(.networkConnectionLost) }
          events += messages.take(bytes)
        } else {
          _ = try socket.wait(forServer: true)
        }
      }
    } catch {
      // URLSession leaves the code as it was, or says that of a connection without a Close.
      task.end(error, closeCode: loader.codeOfLost, telling: error)
    }
  }

  /// - Returns: false when it has gone on at another place.
  private func upgrade() throws(URLError) -> Bool {
    let offered = request.fields.first { $0.name.lowercased() == "sec-websocket-protocol" }?.value
    let subprotocols = offered?.split(separator: ",").map { $0.filter { $0 != " " } } ?? []
    // URLSession always offers it.
    let handshake = WebSocketHandshake(subprotocols: subprotocols, offersDeflate: true)
    try exchange.send(handshake.fields.map { ($0.name, $0.value) })
    let head = try exchange.readHead()
    let response = HTTPURLResponse(head.response)
    guard response.statusCode == 101 else {
      if let next = try loader.redirection(task, response, from: request) {
        try SocketWebSocket(loader, task, next).run()
        return false
      }
      task.take(response)
      throw URLError(.badServerResponse)
    }
    let subprotocol: String?
    do throws(GateClientError) {
      subprotocol = try handshake.chosenSubprotocol(in: head.response)
      messages = ServerMessages(deflate: try handshake.chosenDeflate(in: head.response), zlib: ZlibPool())
    } catch {
      throw URLError(.badServerResponse)
    }
    task.take(response)
    events = messages.take(exchange.takeReceived())
    task.open(subprotocol)
    return true
  }

  private func say(_ job: SocketLoader.Job) throws(URLError) {
    switch job {
    case .message(.string(let text)): try send(.text, Array(text.utf8))
    case .message(.data(let data)): try send(.binary, [UInt8](data))
    case .ping: try send(.ping, [])
    case .close(let code, let reason):
      if hasSentClose { return }
      hasSentClose = true
      try send(
        .close,
        ControlFrame.closePayload(
          CloseCode(UInt16(clamping: code)), reason: String(decoding: reason, as: UTF8.self)))
    }
  }

  private func send(_ opcode: Opcode, _ payload: [UInt8]) throws(URLError) {
    let key = KernelEntropy().bytes(4)
    let mask = MaskingKey(key[0], key[1], key[2], key[3])
    try socket.write(ClientFrame.encode(opcode, payload, mask: mask))
  }

  private func pass(_ event: ServerMessages.Event) throws(URLError) {
    switch event {
    case .text(let text): task.take(.string(text))
    case .binary(let bytes): task.take(.data(Data(bytes)))
    case .ping(let payload): try send(.pong, payload)
    case .pong: loader.pong()
    case .close(let request):
      if !hasSentClose {
        try? send(.close, ControlFrame.closePayload(request.code ?? CloseCode(1000), reason: ""))
      }
      task.end(
        PosixFailure.notConnected, closeCode: request.code.map { Int($0.rawValue) } ?? 1005, telling: nil)
    case .violation: throw URLError(.badServerResponse)
    }
  }
}
