/// What a connection keeps after its `101`: the frame decoder, the closing handshake, times and counts. No buffers.
internal import Bytes
internal import Configuration
internal import System
internal import WebSocketWire

struct Session: ~Copyable {
  let credential: Credential
  let startedAt: MonotonicTime
  var decoder: FrameDecoder
  var closing = ClosingHandshake()
  /// Why it ends, once that is decided; the first reason stays.
  var end: SessionEnd?
  /// When the player was last heard, by bytes of whatever kind.
  var lastHeard: MonotonicTime
  var lastPing: MonotonicTime
  /// Until when the player's reply to our Close is awaited.
  var closeDeadline: MonotonicTime?
  /// The newest ping of the player's that could not be answered at once (RFC 6455 §5.5.3 lets the others go).
  var pendingPong: [UInt8]?
  /// How many pings may still be answered one by one in this turn.
  var pongsLeft = pongsPerTurn
  /// Bytes read in the last turn, from either side.
  var taken = 0
  static let pongsPerTurn = 16
  /// In text mode: code points that the game has not finished.
  var text: TextRepair?
  /// When permessage-deflate was agreed on.
  let deflate: DeflateSession?
  /// With `BACKEND=echo:`: the message being assembled.
  var echo: [UInt8] = []
  var bytesFromPlayer: UInt64 = 0
  var bytesFromGame: UInt64 = 0

  init(credential: Credential, deflate: DeflateSession?, settings: LoopSettings, now: MonotonicTime) {
    self.credential = credential
    self.deflate = deflate
    startedAt = now
    lastHeard = now
    lastPing = now
    decoder = FrameDecoder(role: .server, limits: settings.frameLimits, acceptsCompressed: deflate != nil)
    text = settings.messageType == .text ? TextRepair() : nil
  }

  /// Takes one of the answers that are left.
  mutating func takesPong() -> Bool {
    guard pongsLeft > 0 else { return false }
    pongsLeft -= 1
    return true
  }
}
