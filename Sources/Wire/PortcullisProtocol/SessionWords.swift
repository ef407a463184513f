/// The words of the messages of `portcullis.v1` (docs/sessions.md): types, reasons and features.

/// `type` of a text message.
public enum MessageKind: String, CaseIterable, Sendable {
  // From the gate alone.
  case session, prompt, echo, mssp, gap, closing, ended, approvals, otp
  // Either way.
  case gmcp, msdp, ack
  // From the app alone.
  case client, leave
}

/// `reason` of `ended`: why the stay in the game is over.
public enum EndedReason: String, CaseIterable, Sendable {
  /// The game has closed the connection.
  case gameClosed = "game_closed"
  /// The connection to the game has failed, or the game took nothing any more.
  case gameFailed = "game_failed"
  /// The app's key was revoked.
  case revoked
  /// A newer session of the same key took the place.
  case replaced
  case closedByOperator = "closed_by_operator"
  /// Nobody came back in time.
  case expired
  /// Detached, and given up for others when there were too many.
  case letGo = "let_go"
  /// The gate was stopped.
  case shutdown
}

/// `reason` of `closing`, and of the Close frame after it: why the connection ends.
public enum ClosingReason: String, CaseIterable, Sendable {
  /// An `ended` came before it, and says why.
  case ended
  /// A frame against RFC 6455.
  case protocolError = "protocol_error"
  /// Text that is no UTF-8, or compressed data that is none.
  case invalidPayload = "invalid_payload"
  case messageTooBig = "message_too_big"
  /// The gate starts anew; the session goes on after it.
  case restarting
  /// The app's `leave`.
  case left
  /// Another connection has resumed the session.
  case takenOver = "taken_over"
  /// A text message that is no object with a `type`.
  case malformed

  /// The code of the Close frame. From 4000 on they are the gate's own (RFC 6455 §7.4.2).
  public var closeCode: UInt16 {
    switch self {
    case .ended: 1000
    case .protocolError: 1002
    case .invalidPayload: 1007
    case .messageTooBig: 1009
    case .restarting: 1012
    case .left: 4000
    case .takenOver: 4001
    case .malformed: 4002
    }
  }

  /// Whether the session is still there to be resumed.
  public var keepsSession: Bool { self != .ended }
}

/// `features` of `client`: what the app can do.
public enum ClientFeature: String, CaseIterable, Sendable {
  /// Colours of 24 bits.
  case trueColor = "truecolor"
  case screenReader = "screen_reader"
}

/// `reason` of a `session` that was not resumed though the upgrade asked for it.
public enum ResumeRefusal: String, CaseIterable, Sendable {
  /// There is no such session for this app.
  case unknown
}
