/// What a session with permessage-deflate (RFC 7692) keeps beside the rest: the agreement, and what waits
/// undone.
internal import Deflate
internal import WebSocketWire

final class DeflateSession {
  let serverWindowBits: Int
  /// Holds zlib state only while a message is under way.
  var incoming: MessageInflater
  /// What was read from the player and is not inflated yet, because the game takes nothing or the turn was
  /// over: one read at most. Nothing more is read meanwhile.
  var waiting: Waiting?

  struct Waiting {
    /// The rest of a frame's payload, unmasked.
    var piece: Piece?
    /// Frames as they came.
    var frames: [UInt8]
    /// What the player's connection ends with behind them.
    var ending: ConnectionEnd?
  }

  struct Piece {
    var payload: [UInt8]
    let type: MessageType
    let isCompressed: Bool
    let endsMessage: Bool
  }

  init(_ agreement: PermessageDeflate, messageBytes: Int) {
    serverWindowBits = agreement.serverWindowBits
    incoming = MessageInflater(windowBits: agreement.clientWindowBits, messageBytes: messageBytes)
  }

  /// Shorter messages go out as they are: there is nothing to gain (zlib's own overhead is 5 bytes and more).
  static let leastMessageBytes = 64
}
