/// One TLS connection of a task, used by its thread alone: the handshake asks whether to trust, and who one is.
internal import COpenSSL
internal import Dialing
internal import Glibc
internal import System
internal import Time

/// What the handshake wants to know. Each is called at most once, and may wait.
struct TLSQuestions {
  /// Whether to go on with a server that has shown these certificates, in DER.
  let trusts: ([[UInt8]]) -> Bool
  /// Asked when the server asks; nil: nobody in particular.
  let identity: () -> ShownIdentity?
}

@safe final class TLSSocket {
  enum Waited { case ready, bell }

  private let descriptor: OwnedDescriptor
  private let bell: Int32
  /// Whether the task has ended: what waits for the server stops.
  private let isOver: () -> Bool
  /// Seconds without a byte.
  private let patience: Double
  private let end: MonotonicTime
  private let questions: TLSQuestions
  /// Owned, freed in `deinit`.
  private let context: OpaquePointer
  private let ssl: OpaquePointer

  /// Connects and shakes hands.
  init(
    host: String, port: UInt16, for task: URLSessionTask, bell: Int32, _ questions: TLSQuestions
  ) throws(URLError) {
    // The thread is the task's own. A server that is gone is an error, no signal.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    self.bell = bell
    self.questions = questions
    isOver = { task.isOver }
    patience = task.request.timeoutInterval
    end = SystemClock().monotonic() + .seconds(task.patience)
    descriptor = try Self.connect(host, port, patience)
    guard let context = unsafe SSL_CTX_new(TLS_client_method()), let ssl = unsafe SSL_new(context) else {
      fatalError("out of memory")
    }
    unsafe self.context = context
    unsafe self.ssl = ssl
    unsafe SSL_set_fd(ssl, descriptor.number)
    let protocols = [UInt8(8)] + Array("http/1.1".utf8)
    unsafe SSL_set_alpn_protos(ssl, protocols, UInt32(protocols.count))
    // No server name for an address (RFC 6066 §3).
    if !host.contains(":"), !host.allSatisfy({ $0.isNumber || $0 == "." }) {
      unsafe portcullis_ssl_set_server_name(ssl, host)
    }
    // The callbacks run inside of this object's own calls, and so while it lives.
    let me = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    unsafe SSL_set_verify(ssl, SSL_VERIFY_PEER, nil)
    unsafe SSL_CTX_set_cert_verify_callback(
      context,
      { store, me in
        guard let store = unsafe store, let me = unsafe me else { return 0 }
        return unsafe Unmanaged<TLSSocket>.fromOpaque(me).takeUnretainedValue().judge(store)
      }, me)
    unsafe SSL_set_cert_cb(
      ssl,
      { _, me in
        guard let me = unsafe me else { return 0 }
        return unsafe Unmanaged<TLSSocket>.fromOpaque(me).takeUnretainedValue().show()
      }, me)
    try handshake()
  }

  deinit {
    unsafe SSL_free(ssl)
    unsafe SSL_CTX_free(context)
  }

  private static func connect(_ host: String, _ port: UInt16, _ patience: Double) throws(URLError)
    -> OwnedDescriptor
  {
    do throws(GateClientError) {
      return try TCPConnector.connect(host: host, port: port, .after(.seconds(min(patience, 30))))
    } catch {
      switch error {
      case .unresolved: throw URLError(.cannotFindHost)
      case .timedOut: throw URLError(.timedOut)
      default: throw URLError(.cannotConnectToHost)
      }
    }
  }

  // MARK: The handshake

  private func handshake() throws(URLError) {
    while true {
      ERR_clear_error()
      let result = unsafe SSL_connect(ssl)
      if result == 1 { return }
      try waitAfter(result, else: .secureConnectionFailed)
    }
  }

  private func judge(_ store: OpaquePointer) -> Int32 {
    // The stack has the server's own certificate too, and belongs to the connection.
    let stack = unsafe X509_STORE_CTX_get0_untrusted(store)
    let chain = (0..<max(0, unsafe portcullis_x509_stack_count(stack))).compactMap { index in
      unsafe portcullis_x509_stack_value(stack, index).map { unsafe PeerTrust.encode($0) }
    }
    return questions.trusts(chain) ? 1 : 0
  }

  private func show() -> Int32 {
    guard let identity = questions.identity() else { return 1 }
    // OpenSSL takes references of its own.
    for (index, der) in identity.chain.enumerated() {
      guard let certificate = unsafe PeerTrust.parse(der) else { return 0 }
      defer { unsafe X509_free(certificate) }
      if index == 0 {
        unsafe SSL_use_certificate(ssl, certificate)
      } else {
        unsafe SSL_ctrl(ssl, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(certificate))
      }
    }
    let key = unsafe identity.key.withUnsafeBufferPointer { bytes in
      var next = bytes.baseAddress
      return unsafe d2i_AutoPrivateKey(nil, &next, bytes.count)
    }
    guard let key = unsafe key else { return 0 }
    defer { unsafe EVP_PKEY_free(key) }
    return unsafe SSL_use_PrivateKey(ssl, key)
  }

  // MARK: Data

  /// What came; empty when the server has closed its side, nil when there is nothing yet.
  func readAvailable() throws(URLError) -> [UInt8]? {
    ERR_clear_error()
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let count = unsafe SSL_read(ssl, &bytes, Int32(bytes.count))
    if count > 0 { return Array(bytes.prefix(Int(count))) }
    switch unsafe SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_READ: return nil
    case SSL_ERROR_ZERO_RETURN: return []
    case SSL_ERROR_SSL where ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING:
      return []
    default: throw failure(else: .networkConnectionLost)
    }
  }

  func read() throws(URLError) -> [UInt8] {
    while true {
      if let bytes = try readAvailable() { return bytes }
      try waitForServer(POLLIN)
    }
  }

  func write(_ bytes: [UInt8]) throws(URLError) {
    var written = 0
    while written < bytes.count {
      ERR_clear_error()
      let piece = Array(bytes[written..<min(bytes.count, written + 16_384)])
      let result = unsafe SSL_write(ssl, piece, Int32(piece.count))
      if result > 0 { written += Int(result) } else { try waitAfter(result, else: .networkConnectionLost) }
    }
  }

  /// Waits for the server or the bell; for as long as the task may take.
  func wait(forServer wantsServer: Bool) throws(URLError) -> Waited {
    if wantsServer, unsafe SSL_pending(ssl) > 0 { return .ready }
    return try poll(wantsServer ? POLLIN : 0, until: end)
  }

  private func waitAfter(_ result: Int32, else code: URLError.Code) throws(URLError) {
    switch unsafe SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ: try waitForServer(POLLIN)
    case SSL_ERROR_WANT_WRITE: try waitForServer(POLLOUT)
    default: throw failure(else: code)
    }
  }

  private func waitForServer(_ events: Int32) throws(URLError) {
    while true {
      let now = SystemClock().monotonic()
      if try poll(events, until: min(end, now + .seconds(patience))) == .ready { return }
      if isOver() { throw URLError(.cancelled) }
      // Rung for something else, to be seen to afterwards.
      var entries = [pollfd(fd: descriptor.number, events: Int16(events), revents: 0)]
      if unsafe Glibc.poll(&entries, 1, 10) > 0 { return }
    }
  }

  private func poll(_ events: Int32, until deadline: MonotonicTime) throws(URLError) -> Waited {
    while true {
      let left = (deadline - SystemClock().monotonic()).wholeNanoseconds
      var entries = [
        pollfd(fd: events == 0 ? -1 : descriptor.number, events: Int16(events), revents: 0),
        pollfd(fd: bell, events: Int16(POLLIN), revents: 0),
      ]
      let ready = unsafe Glibc.poll(&entries, 2, Int32(clamping: (max(0, left) + 999_999) / 1_000_000))
      if ready == 0 { throw URLError(.timedOut) }
      if ready > 0 { return entries[1].revents != 0 ? .bell : .ready }
    }
  }

  /// What OpenSSL's last error means in Apple's codes.
  private func failure(else code: URLError.Code) -> URLError {
    let reason = ERR_GET_REASON(ERR_peek_last_error())
    ERR_clear_error()
    switch reason {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED: return URLError(.clientCertificateRequired)
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, SSL_R_TLSV1_ALERT_UNKNOWN_CA,
      SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
      return URLError(.clientCertificateRejected)
    default: return URLError(code)
    }
  }
}
