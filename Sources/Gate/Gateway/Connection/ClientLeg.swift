/// The player's side of a connection: its socket, its TLS session, and the ciphertext that waits for the socket.
internal import ProxyProtocol
internal import Sockets
internal import System
internal import Telemetry
internal import TLS
internal import Upstream

struct ClientLeg: ~Copyable {
  let socket: Socket
  var tls: TLSSession
  private(set) var unsent = SendQueue()
  /// There may be plaintext to read: set by the poller's report, cleared when TLS wants more input.
  private(set) var mayHaveInput = false
  /// Sending has failed: nobody takes anything any more.
  private var isGone = false

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

  /// Takes the PROXY header off the socket, and not a byte of what follows, since TLS reads the socket itself: a peek
  /// needs no buffer that a connection would have to keep.
  mutating func takeProxyHeader(_ bytes: inout MutableSpan<UInt8>) -> ProxyHeaderReading {
    var room = bytes._mutatingExtracting(0..<ProxyHeader.byteLimit)
    switch socket.peek(into: &room) {
    case .bytes(let count):
      switch ProxyHeaderParser.parse(room.span.extracting(0..<count)) {
      case .needMore: return tls.hasHangup ? .failed(.cut) : .needMore
      case .refused(let violation): return .failed(.refused(violation))
      case .header(let header, let consumed):
        var taken = bytes._mutatingExtracting(0..<consumed)
        // What was seen is there to be received, all of it.
        guard case .bytes(consumed) = socket.receive(into: &taken) else { return .failed(.vanished) }
        return .header(header)
      }
    case .wouldBlock: return .needMore
    case .ended: return .failed(.peerClosed)
    case .failed(let error): return .failed(.receive(error))
    }
  }

  mutating func handshake() -> HandshakeResult {
    let result = tls.handshake()
    if result == .wantsInput { mayHaveInput = false }
    return result
  }

  mutating func read(into bytes: inout MutableSpan<UInt8>) -> TLSReadResult {
    let result = tls.read(into: &bytes)
    switch result {
    case .bytes, .wantsTurn: break
    case .wantsInput, .closed, .truncated, .excessive, .failed: mayHaveInput = false
    }
    return result
  }

  /// Sends what this turn has encrypted, and empties the outbox for the next connection's turn.
  mutating func flush(_ outbox: Outbox) -> FlushResult {
    if outbox.isEmpty { return unsent.resume(on: socket) }
    defer { outbox.reset() }
    return isGone ? .drained : unsent.send(outbox.bytes, on: socket)
  }

  /// What waits, and what may still be said, goes nowhere.
  mutating func giveUpSending() {
    isGone = true
    unsent = SendQueue()
  }

  /// So much waits for the player that nothing more is read from it, since reading may add to it: OpenSSL replies to
  /// some TLS messages. More than what of the game's bytes waits here at the default of `QUEUE_MAX_BYTES`, so that a
  /// player who only reads slowly is still heard.
  var isFull: Bool { unsent.count > Self.fullBytes }
  private static let fullBytes = 144 * 1024

  mutating func takeProgress() -> Bool { unsent.takeProgress() }
}
