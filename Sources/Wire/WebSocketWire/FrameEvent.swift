/// What a decoder finds in the bytes of a peer, in the order in which it was sent.
package enum FrameEvent: Equatable, Sendable {
  /// All input was taken; call again when more has come.
  case needMore
  case data(DataPiece)
  /// To be answered with a pong of the same payload (RFC 6455 §5.5.2).
  case ping([UInt8])
  case pong([UInt8])
  /// The peer's last frame.
  case close(CloseRequest)
  /// Nothing more is decoded; answer with the violation's close code.
  case violation(WebSocketViolation)
}

/// A run of payload in the decoder's buffer, from `start` to where `output` then stands: a frame, or what
/// came of it.
package struct DataPiece: Equatable, Sendable {
  package let start: Int
  package let type: MessageType
  /// RSV1 was set on the message: its payload is deflated (RFC 7692), and text is not checked here.
  package let isCompressed: Bool
  package let startsMessage: Bool
  package let endsFrame: Bool
  package let endsMessage: Bool
}
