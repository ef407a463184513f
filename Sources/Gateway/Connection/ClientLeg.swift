/// The player's side of a connection: its socket, its TLS session, and the ciphertext that waits for the socket.
internal import Sockets
internal import TLS

struct ClientLeg: ~Copyable {
  let socket: Socket
  var tls: TLSSession
  private(set) var unsent = SendQueue()
  /// There may be plaintext to read: set by the poller's report, cleared when TLS wants more input.
  private(set) var mayHaveInput = false

  init(socket: consuming Socket, tls: consuming TLSSession) {
    self.socket = socket
    self.tls = tls
  }

  mutating func note(_ event: ReadyEvent) {
    if event.isReadable {
      mayHaveInput = true
      tls.noteReadable(hasHangup: event.hasHangup)
    }
    if event.isWritable { unsent.noteWritable() }
  }

  mutating func handshake() -> HandshakeResult {
    let result = tls.handshake()
    if result == .wantsInput { mayHaveInput = false }
    return result
  }

  mutating func read(into bytes: inout MutableSpan<UInt8>) -> TLSReadResult {
    let result = tls.read(into: &bytes)
    if case .bytes = result { return result }
    mayHaveInput = false
    return result
  }

  /// Sends what this turn has encrypted, and empties the outbox for the next connection's turn.
  mutating func flush(_ outbox: Outbox) -> FlushResult {
    if outbox.isEmpty { return unsent.resume(on: socket) }
    defer { outbox.reset() }
    return unsent.send(outbox.bytes, on: socket)
  }

  mutating func takeProgress() -> Bool { unsent.takeProgress() }
}
