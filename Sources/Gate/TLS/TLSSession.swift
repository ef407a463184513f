/// One TLS connection, seen from the server: handshake, records in, records out, close.
///
/// It reads its socket itself, one `recv` for as many records as came; what it wants sent goes to the loop's `Outbox`.
package import Bytes
internal import COpenSSL
internal import Crypto
package import Sockets
package import System

package enum HandshakeResult: Equatable, Sendable {
  case wantsInput
  case finished
  /// The turn's share is used up, and there may be more: to be gone on with in a later turn.
  case wantsTurn
  /// An alert may wait in the outbox.
  case failed(reason: String)
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
  case failed(reason: String)
}

/// Messages that cost more than the data they bring (docs/protocol.md, "TLS"); the words are for the log.
package enum TLSExcess: String, Sendable {
  case ciphertext = "tls_ciphertext_without_data"
  case messages = "tls_messages_without_data"
  case renegotiation = "tls_renegotiation"
  case messageTooLong = "tls_message_too_long"
}

@safe package struct TLSSession: ~Copyable {
  private let ssl: OpaquePointer
  private let transport: UnsafeMutablePointer<portcullis_transport>
  private let context: TLSServerContext
  private let outbox: Outbox
  /// The last `read` gave bytes, so that OpenSSL keeps a buffer only for what is left in it.
  private var hasJustRead = false
  private var share = Share.newcomer

  private init(
    ssl: OpaquePointer, transport: UnsafeMutablePointer<portcullis_transport>, context: TLSServerContext,
    outbox: Outbox
  ) {
    unsafe self.ssl = ssl
    unsafe self.transport = unsafe transport
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
    return unsafe TLSSession(ssl: ssl, transport: transport, context: context, outbox: outbox)
  }

  /// Tells that the socket was reported readable, and whether a hang-up came with it.
  package mutating func noteReadable(hasHangup: Bool) {
    unsafe transport.pointee.dry = 0
    if hasHangup { unsafe transport.pointee.hangup = 1 }
  }

  /// Whether a hang-up was told: what the socket holds now is all that will come.
  package var hasHangup: Bool { unsafe transport.pointee.hangup != 0 }

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
    unsafe portcullis_bounds_begin_turn(&transport.pointee.bounds, share.rawValue)
  }

  /// How much of its share the peer has used in this turn.
  package var used: Int { unsafe Int(share.rawValue - transport.pointee.bounds.allowance) }

  private var hasUsedShare: Bool { unsafe transport.pointee.bounds.allowance <= 0 }

  /// One step, and a turn of its own.
  package mutating func handshake() -> HandshakeResult {
    beginTurn(.newcomer)
    portcullis_clear_errors()
    let result = unsafe SSL_do_handshake(ssl)
    if result == 1 {
      unsafe transport.pointee.bounds.shaking = 0
      unsafe transport.pointee.bounds.judging = 0
      unsafe portcullis_bounds_progress(&transport.pointee.bounds, 0)
      return .finished
    }
    let error = unsafe SSL_get_error(ssl, result)
    if error == SSL_ERROR_WANT_READ {
      return unsafe transport.pointee.bounds.withheld != 0 ? .wantsTurn : .wantsInput
    }
    if let excess {
      portcullis_clear_errors()
      return .failed(reason: excess.rawValue)
    }
    return .failed(reason: failureReason(error))
  }

  /// One record's worth of plaintext at most.
  package mutating func read(into bytes: inout MutableSpan<UInt8>) -> TLSReadResult {
    let hasJustRead = hasJustRead
    self.hasJustRead = false
    // Nothing is left in here and in the socket: OpenSSL would take a buffer, find that, and give it back.
    if unsafe hasJustRead && transport.pointee.dry != 0 && SSL_has_pending(ssl) == 0 { return .wantsInput }
    if hasUsedShare { return .wantsTurn }
    portcullis_clear_errors()
    var count = 0
    // OpenSSL writes at most `count` bytes of the span's own memory before it returns.
    let result = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      unsafe SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
    }
    if result == 1 {
      self.hasJustRead = true
      unsafe portcullis_bounds_progress(&transport.pointee.bounds, Self.recordCost)
      return .bytes(count)
    }
    let error = unsafe SSL_get_error(ssl, result)
    if let excess {
      portcullis_clear_errors()
      return .excessive(excess)
    }
    switch error {
    case SSL_ERROR_WANT_READ:
      return unsafe transport.pointee.bounds.withheld != 0 ? .wantsTurn : .wantsInput
    case SSL_ERROR_ZERO_RETURN: return .closed
    default:
      if unsafe transport.pointee.ended != 0 {
        portcullis_clear_errors()
        return .truncated
      }
      return .failed(reason: failureReason(error))
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
    let count = bytes.count
    let input = unsafe bytes.withUnsafeBufferPointer { $0.baseAddress }
    // `bytes` is borrowed until `body` has returned, and the pointer is taken back then.
    unsafe transport.pointee.fed = unsafe input
    unsafe transport.pointee.fed_count = count
    let result = body(&self)
    unsafe transport.pointee.fed = nil
    unsafe transport.pointee.fed_count = 0
    return result
  }

  /// The version and suite agreed on, as OpenSSL names them.
  package var description: String {
    let suite = unsafe SSL_CIPHER_get_name(SSL_get_current_cipher(ssl))
    return
      unsafe "\(String(cString: SSL_get_version(ssl))) \(suite.map { unsafe String(cString: $0) } ?? "none")"
  }

  package var wasResumed: Bool { unsafe SSL_session_reused(ssl) == 1 }

  private var excess: TLSExcess? {
    switch unsafe portcullis_excess(UInt32(transport.pointee.bounds.excess)) {
    case PORTCULLIS_TOO_MUCH_CIPHERTEXT: .ciphertext
    case PORTCULLIS_TOO_MANY_MESSAGES: .messages
    case PORTCULLIS_RENEGOTIATION: .renegotiation
    case PORTCULLIS_MESSAGE_TOO_LONG: .messageTooLong
    default: nil
    }
  }

  /// What a record of data costs beside its bytes, as if it had come in so many more.
  private static let recordCost: Int64 = 256

  private func failureReason(_ error: Int32) -> String {
    let number = unsafe transport.pointee.error
    if number != 0 {
      portcullis_clear_errors()
      return SystemError("recv", number).description
    }
    if unsafe transport.pointee.ended != 0 {
      portcullis_clear_errors()
      return "the peer closed"
    }
    return error == SSL_ERROR_SSL ? TLSServerContext.takeReason() : "no memory"
  }
}

/// The verdict on the certificate that a client presented.
package enum ClientCertificate: Equatable, Sendable {
  case absent
  /// Good at the handshake for purpose "client" against the client CA; dates are looked at again when it counts.
  /// - Parameter publicKey: SHA-256 of its `SubjectPublicKeyInfo`.
  case verified(subject: String, publicKey: Bytes32)
  case refused(subject: String, reason: String)
}

extension TLSSession {
  /// The client certificate, its dates judged again at `now`.
  /// - Parameter current: what newcomers are judged by now. After a reload it may name another client CA than the one
  ///   that judged this certificate, whose verdict counts no more.
  package func clientCertificate(at now: UnixTime, under current: TLSServerContext) -> ClientCertificate {
    guard context.asksForCertificate, let certificate = unsafe SSL_get0_peer_certificate(ssl) else {
      return .absent
    }
    let subject = unsafe Self.subject(of: certificate)
    guard current.clientAuthority == context.clientAuthority else {
      return .refused(subject: subject, reason: "the client CA has changed since the handshake")
    }
    let result = unsafe SSL_get_verify_result(ssl)
    guard result == X509_V_OK else {
      // Static text of OpenSSL's.
      return .refused(subject: subject, reason: unsafe String(cString: X509_verify_cert_error_string(result)))
    }
    guard let chain = unsafe SSL_get0_verified_chain(ssl) else {
      return .refused(subject: subject, reason: "no verified chain")
    }
    var seconds = time_t(now.seconds)
    for index in unsafe 0..<portcullis_x509_stack_count(chain) {
      guard let each = unsafe portcullis_x509_stack_value(chain, index),
        unsafe X509_cmp_time(X509_get0_notBefore(each), &seconds) < 0,
        unsafe X509_cmp_time(X509_get0_notAfter(each), &seconds) > 0
      else { return .refused(subject: subject, reason: "not valid at this time") }
    }
    guard let publicKey = unsafe Self.publicKeyHash(of: certificate) else {
      return .refused(subject: subject, reason: "no memory")
    }
    return .verified(subject: subject, publicKey: publicKey)
  }

  /// Of the whole `SubjectPublicKeyInfo` in DER, algorithm included (RFC 5280 §4.1); nil only without memory.
  private static func publicKeyHash(of certificate: OpaquePointer) -> Bytes32? {
    var encoded: UnsafeMutablePointer<UInt8>?
    let count = unsafe i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded)
    guard count > 0, let start = unsafe encoded else {
      portcullis_clear_errors()
      return nil
    }
    // OpenSSL allocated `count` bytes for it, which are freed when they have been read.
    defer { unsafe portcullis_openssl_free(start) }
    return unsafe SHA256.hash(Span(_unsafeStart: UnsafePointer(start), count: Int(count)))
  }

  private static func subject(of certificate: OpaquePointer) -> String {
    unsafe String(unsafeUninitializedCapacity: 512) {
      // As long as the buffer is, and borrowed for the call.
      unsafe Int(portcullis_x509_subject(certificate, $0.baseAddress, Int32($0.count)))
    }
  }
}
