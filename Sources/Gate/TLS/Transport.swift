/// What lies between a session and its socket: the state of the BIO, and the bounds on what a peer may cost, both in C.
internal import COpenSSL

/// A view of what the session's `SSL` owns, to be used while that lives. All of it is inlined: it stands in the way of each
/// record.
@safe struct Transport {
  private let state: UnsafeMutablePointer<portcullis_transport>

  @inline(__always)
  init(_ state: UnsafeMutablePointer<portcullis_transport>) {
    unsafe self.state = unsafe state
  }

  /// The socket was reported readable.
  @inline(__always)
  func noteReadable() { unsafe state.pointee.dry = 0 }

  /// The last read took all there was.
  @inline(__always)
  var isDry: Bool { unsafe state.pointee.dry != 0 }

  /// A FIN is on its way: what the socket holds now is all that will come.
  @inline(__always)
  var hasHangup: Bool { unsafe state.pointee.hangup != 0 }

  @inline(__always)
  func noteHangup() { unsafe state.pointee.hangup = 1 }

  /// The peer's FIN was read.
  @inline(__always)
  var hasEnded: Bool { unsafe state.pointee.ended != 0 }

  /// The errno of a read that failed; 0 if none has.
  @inline(__always)
  var errorNumber: Int32 { unsafe state.pointee.error }

  /// The last read was told to come again only because the turn's share was used up.
  @inline(__always)
  var hasWithheld: Bool { unsafe state.pointee.bounds.withheld != 0 }

  /// The first five bytes of the peer's that were to be a record's header; zeros while there are fewer.
  var firstHeader: [UInt8] {
    let header = unsafe state.pointee.bounds.record_header
    return [header.0, header.1, header.2, header.3, header.4]
  }

  /// What is left of the turn's share.
  @inline(__always)
  var allowance: Int64 { unsafe state.pointee.bounds.allowance }

  /// The bound that was reached, if one was.
  var excess: TLSExcess? {
    switch unsafe portcullis_excess(UInt32(state.pointee.bounds.excess)) {
    case PORTCULLIS_TOO_MUCH_CIPHERTEXT: .ciphertext
    case PORTCULLIS_TOO_MANY_MESSAGES: .messages
    case PORTCULLIS_RENEGOTIATION: .renegotiation
    case PORTCULLIS_MESSAGE_TOO_LONG: .messageTooLong
    case PORTCULLIS_HELLO_TOO_DEAR: .helloTooDear
    default: nil
    }
  }

  @inline(__always)
  func beginTurn(_ allowance: Int64) {
    unsafe portcullis_bounds_begin_turn(&state.pointee.bounds, allowance)
  }

  /// Data came, or the handshake's end.
  @inline(__always)
  func progress(_ cost: Int64) {
    unsafe portcullis_bounds_progress(&state.pointee.bounds, cost)
  }

  @inline(__always)
  func endHandshake() {
    unsafe state.pointee.bounds.shaking = 0
    unsafe state.pointee.bounds.judging = 0
    progress(0)
  }

  /// Without a socket: gives it bytes to read while `body` runs.
  func withInput<Result>(_ bytes: Span<UInt8>, _ body: () -> Result) -> Result {
    let count = bytes.count
    let input = unsafe bytes.withUnsafeBufferPointer { $0.baseAddress }
    // `bytes` is borrowed until `body` has returned, and the pointer is taken back then.
    unsafe state.pointee.fed = unsafe input
    unsafe state.pointee.fed_count = count
    let result = body()
    unsafe state.pointee.fed = nil
    unsafe state.pointee.fed_count = 0
    return result
  }
}
