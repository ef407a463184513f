/// What a session with permessage-deflate (RFC 7692) keeps beside the rest: the agreement, the window of a client that keeps
/// its context, and what waits undone.
internal import Admission
internal import Configuration
internal import Deflate
internal import Scheduling
internal import WebSocketWire

final class DeflateSession {
  let serverWindowBits: Int
  /// Reserved of `windows` until the connection is gone.
  private let reserved: Int
  private let windows: Sum
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
    /// What the player's connection ends with after them.
    var ending: ConnectionEnd?
  }

  struct Piece {
    var payload: [UInt8]
    let type: MessageType
    let isCompressed: Bool
    let endsMessage: Bool
  }

  private init(_ agreement: PermessageDeflate, messageBytes: Int, windows: Sum) {
    serverWindowBits = agreement.serverWindowBits
    reserved = agreement.keptWindowBytes
    self.windows = windows
    incoming = MessageInflater(
      windowBits: agreement.clientWindowBits, messageBytes: messageBytes,
      keepsContext: agreement.clientKeepsContext)
  }

  deinit { _ = windows.change(by: -reserved) }

  /// What is agreed on of what an upgrade offers; nil for a connection without compression.
  ///
  /// A whole window is reserved where one has to be kept, though it takes no more than what the client sends: a client that
  /// is told yes cannot be told later that there is no room.
  static func agreed(
    on upgrade: PlayerUpgrade, _ settings: LoopSettings, windows: Sum
  ) -> (session: DeflateSession, response: String)? {
    guard settings.compression == .on, !upgrade.declinesCompression else { return nil }
    let limit = settings.limits.compressionWindowsBytes
    let agreement = PermessageDeflate.agreed(on: upgrade.request.extensions) { bytes in
      windows.reserve(bytes, within: limit)
    }
    return agreement.map {
      (DeflateSession($0, messageBytes: settings.frameLimits.messageBytes, windows: windows), $0.response)
    }
  }

  /// Shorter messages go out as they are: there is nothing to gain (zlib's own overhead is 5 bytes and more).
  static let leastMessageBytes = 64
}
