/// What a connection keeps after its `101` to speak WebSocket: the frame decoder, the closing handshake, times. No buffers.
internal import Admission
internal import Bytes
internal import Configuration
internal import Time
internal import WebSocketWire

/// A session on the connection that carries it.
final class Attachment {
  let session: GameSession
  var stream: PlayerStream

  init(_ session: GameSession, stream: consuming PlayerStream) {
    self.session = session
    self.stream = stream
  }
}

struct PlayerStream: ~Copyable {
  var decoder: FrameDecoder
  var closing = ClosingHandshake()
  /// Why it ends, once that is decided; the first reason stays.
  private(set) var end: ConnectionEnd?
  /// When the player was last heard, by bytes of whatever kind.
  var lastHeard: MonotonicTime
  var lastPing: MonotonicTime
  /// Until when the player's reply to our Close is awaited.
  var closeDeadline: MonotonicTime?
  /// How many pings may still be answered one by one in this turn.
  var pongsLeft = pongsPerTurn
  /// The newest ping of the player's that could not be answered at once (RFC 6455 §5.5.3 lets the others go).
  var pendingPong: [UInt8]?
  /// What the last turn has worked on, in bytes: those read from either side (of the player's, ciphertext and what small
  /// records cost beside it), those that they became, those of messages that were read, and a share for each message.
  var taken = 0
  /// The part of it that was messages, as a turn takes so much of them (`PlayerStream+Messages`).
  var handled = 0
  static let pongsPerTurn: UInt8 = 16
  /// How much may wait for either side (`QUEUE_MAX_BYTES`).
  let queueBytes: Int
  /// When permessage-deflate was agreed on.
  let deflate: DeflateSession?
  /// Where messages are read whole, by a conversation or with `BACKEND=echo:`: the one being assembled.
  var assembly: [UInt8] = []
  /// Those that came faster than the app may speak.
  var pending = PendingMessages()

  init(deflate: DeflateSession?, settings: LoopSettings, now: MonotonicTime) {
    self.deflate = deflate
    queueBytes = settings.limits.queueBytes
    lastHeard = now
    lastPing = now
    decoder = FrameDecoder(role: .server, limits: settings.frameLimits, acceptsCompressed: deflate != nil)
  }

  /// Notes why it ends, and what the closing handshake makes of it.
  mutating func end(_ end: ConnectionEnd) -> ClosingHandshake.Action {
    if self.end == nil { self.end = end }
    return closing.end(end)
  }

  /// Ends without a word to the player.
  mutating func endSilently(_ end: ConnectionEnd) {
    if self.end == nil { self.end = end }
  }

  /// Takes one of the answers that are left.
  mutating func takesPong() -> Bool {
    guard pongsLeft > 0 else { return false }
    pongsLeft -= 1
    return true
  }
}
