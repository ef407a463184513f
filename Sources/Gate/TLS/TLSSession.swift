/// One TLS connection, seen from the server: handshake, records in, records out, close.
///
/// It reads its socket itself, one `recv` for as many records as came; what it wants sent goes to the loop's `Outbox`.
internal import COpenSSL
package import Sockets
internal import System

package enum HandshakeResult: Equatable, Sendable {
  case wantsInput
  case finished
  /// The turn's share is used up, and there may be more: to be gone on with in a later turn.
  case wantsTurn
  /// An alert may wait in the outbox.
  case failed(TLSFailure)
}

package enum TLSReadResult: Equatable, Sendable {
  case bytes(Int)
  /// The socket is drained; OpenSSL has given its buffers back.
  case wantsInput
  /// The turn's share is used up, and there may be more: to be gone on with in a later turn.
  case wantsTurn
  /// The peer's close_notify.
  case closed
  /// The peer's FIN without a close_notify before it: what came may have been cut.
  case truncated
  /// A bound was reached: nothing is read any more, but writing goes on.
  case excessive(TLSExcess)
  case failed(TLSFailure)
}

/// Messages that cost more than the data they bring (docs/protocol-connections.md, "TLS"); the words are for the log.
package enum TLSExcess: String, Sendable {
  case ciphertext = "tls_ciphertext_without_data"
  case messages = "tls_messages_without_data"
  case renegotiation = "tls_renegotiation"
  case messageTooLong = "tls_message_too_long"
  case helloTooDear = "tls_hello_too_dear"
}

@safe package struct TLSSession: ~Copyable {
  let ssl: OpaquePointer
  private let transport: Transport
  let context: TLSServerContext
  private let outbox: Outbox
  /// The last `read` gave bytes, so that OpenSSL keeps a buffer only for what is left in it.
  private var hasJustRead = false
  private var share = Share.newcomer

  private init(
    ssl: OpaquePointer, transport: Transport, context: TLSServerContext, outbox: Outbox
  ) {
    unsafe self.ssl = ssl
    self.transport = transport
    self.context = context
    self.outbox = outbox
  }

  deinit {
    unsafe SSL_free(ssl)
  }

  /// A session over `socket`, which must outlive it.
  ///
  /// - Returns: nil when there is no memory for it.
  package static func accepting(
    on socket: borrowing Socket, context: TLSServerContext, outbox: Outbox
  ) -> TLSSession? {
    make(descriptor: socket.descriptor, context: context, outbox: outbox)
  }

  /// A session without a socket, for tests: its input comes by `withInput`.
  package static func inMemory(context: TLSServerContext, outbox: Outbox) -> TLSSession? {
    make(descriptor: -1, context: context, outbox: outbox)
  }

  private static func make(descriptor: Int32, context: TLSServerContext, outbox: Outbox) -> TLSSession? {
    portcullis_clear_errors()
    guard let ssl = unsafe SSL_new(context.context) else { return nil }
    // The transport belongs to the BIO, which `ssl` owns from here on; the outbox is kept alive by this struct.
    guard let transport = unsafe portcullis_transport_attach(ssl, descriptor, outbox.pointer, 1) else {
      unsafe SSL_free(ssl)
      return nil
    }
    unsafe SSL_set_accept_state(ssl)
    return unsafe TLSSession(ssl: ssl, transport: Transport(transport), context: context, outbox: outbox)
  }

  /// Tells that the socket was reported readable, and whether a hang-up came with it.
  package mutating func noteReadable(hasHangup: Bool) {
    transport.noteReadable()
    if hasHangup { transport.noteHangup() }
  }

  /// Whether a hang-up was told: what the socket holds now is all that will come.
  package var hasHangup: Bool { transport.hasHangup }

  /// A peer's share of one turn. Small records and messages count for more than their bytes.
  package enum Share: Int64 {
    /// A whole record, before a peer has shown who it is.
    case newcomer = 16_384
    /// The four whole records that one round of a session may read, and somewhat more.
    case session = 81_920
  }

  /// Begins a turn: until the next one no more is read than `share`, and what the last record exceeds it by.
  package mutating func beginTurn(_ share: Share) {
    self.share = share
    transport.beginTurn(share.rawValue)
  }

  /// Whether a handshake that has failed began as a PROXY header does (HAProxy, PROXY protocol, §2), in either version: no
  /// record of TLS looks like either.
  package var beganWithProxyHeader: Bool {
    let header = transport.firstHeader
    return header == Array("PROXY".utf8) || header == [0x0D, 0x0A, 0x0D, 0x0A, 0x00]
  }

  /// How much of its share the peer has used in this turn.
  package var used: Int { Int(share.rawValue - transport.allowance) }

  private var hasUsedShare: Bool { transport.allowance <= 0 }

  /// One step, and a turn of its own.
  package mutating func handshake() -> HandshakeResult {
    beginTurn(.newcomer)
    portcullis_clear_errors()
    let result = unsafe SSL_do_handshake(ssl)
    if result == 1 {
      transport.endHandshake()
      return .finished
    }
    let error = unsafe SSL_get_error(ssl, result)
    if error == SSL_ERROR_WANT_READ { return transport.hasWithheld ? .wantsTurn : .wantsInput }
    if let excess = transport.excess {
      portcullis_clear_errors()
      return .failed(.excess(excess))
    }
    return .failed(failure(error))
  }

  /// One record's worth of plaintext at most.
  package mutating func read(into bytes: inout MutableSpan<UInt8>) -> TLSReadResult {
    let hasJustRead = hasJustRead
    self.hasJustRead = false
    // Nothing is left in here and in the socket: OpenSSL would take a buffer, find that, and give it back.
    if unsafe hasJustRead && transport.isDry && SSL_has_pending(ssl) == 0 { return .wantsInput }
    if hasUsedShare { return .wantsTurn }
    portcullis_clear_errors()
    var count = 0
    // OpenSSL writes at most `count` bytes of the span's own memory before it returns.
    let result = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      unsafe SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
    }
    if result == 1 {
      self.hasJustRead = true
      transport.progress(Self.recordCost)
      return .bytes(count)
    }
    let error = unsafe SSL_get_error(ssl, result)
    if let excess = transport.excess {
      portcullis_clear_errors()
      return .excessive(excess)
    }
    switch error {
    case SSL_ERROR_WANT_READ: return transport.hasWithheld ? .wantsTurn : .wantsInput
    case SSL_ERROR_ZERO_RETURN: return .closed
    default:
      if transport.hasEnded {
        portcullis_clear_errors()
        return .truncated
      }
      return .failed(failure(error))
    }
  }

  /// Encrypts all of `bytes` into the outbox; false only when there is no memory or the session is broken.
  package mutating func write(_ bytes: Span<UInt8>) -> Bool {
    if bytes.isEmpty { return true }
    portcullis_clear_errors()
    var count = 0
    let result = unsafe bytes.withUnsafeBufferPointer { buffer in
      unsafe SSL_write_ex(ssl, buffer.baseAddress, buffer.count, &count)
    }
    if result != 1 { portcullis_clear_errors() }
    return result == 1 && count == bytes.count
  }

  /// Puts close_notify into the outbox.
  package mutating func finishSending() {
    portcullis_clear_errors()
    _ = unsafe SSL_shutdown(ssl)
    portcullis_clear_errors()
  }

  /// Gives the session `bytes` to read while `body` runs (sessions in memory only).
  package mutating func withInput<Result>(_ bytes: Span<UInt8>, _ body: (inout TLSSession) -> Result)
    -> Result
  {
    transport.withInput(bytes) { body(&self) }
  }

  /// The version and suite agreed on, as OpenSSL names them.
  package var description: String {
    let suite = unsafe SSL_CIPHER_get_name(SSL_get_current_cipher(ssl))
    return
      unsafe "\(String(cString: SSL_get_version(ssl))) \(suite.map { unsafe String(cString: $0) } ?? "none")"
  }

  /// Of a session whose handshake is done; else it is 1.2.
  package var isVersion13: Bool { unsafe SSL_version(ssl) == TLS1_3_VERSION }

  package var wasResumed: Bool { unsafe SSL_session_reused(ssl) == 1 }

  /// What a record of data costs beside its bytes, as if it had come in so many more.
  private static let recordCost: Int64 = 256

  private func failure(_ error: Int32) -> TLSFailure {
    let number = transport.errorNumber
    if number != 0 {
      portcullis_clear_errors()
      return .receive(SystemError("recv", number))
    }
    if transport.hasEnded {
      portcullis_clear_errors()
      return .peerClosed
    }
    return error == SSL_ERROR_SSL ? .takeError() : .memory
  }
}
