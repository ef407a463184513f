/// A TLS client for tests, over memory: it is driven by hand, one call at a time.
internal import COpenSSL

/// What a client asks for.
package struct ClientOptions {
  package init(
    version: Version? = nil, suites: String? = nil, protocols: [String] = [], identity: Identity? = nil,
    session: ClientSession? = nil, padding: Int? = nil, groups: String? = nil
  ) {
    self.version = version
    self.suites = suites
    self.protocols = protocols
    self.identity = identity
    self.session = session
    self.padding = padding
    self.groups = groups
  }

  package var version: Version?
  package var suites: String?
  package var protocols: [String]
  package var identity: Identity?
  package var session: ClientSession?
  /// Every record is padded to a multiple of it.
  package var padding: Int?
  /// The first is what its key share is for.
  package var groups: String?

  package enum Version: Int32, CaseIterable, Sendable {
    case tls11 = 0x0302
    case tls12 = 0x0303
    case tls13 = 0x0304
  }
}

/// A session that may be resumed.
@safe package final class ClientSession {
  fileprivate let session: OpaquePointer

  fileprivate init(_ session: OpaquePointer) { unsafe self.session = session }
  deinit { unsafe SSL_SESSION_free(session) }

  package var hasTicket: Bool { unsafe SSL_SESSION_has_ticket(session) == 1 }
  package var isResumable: Bool { unsafe SSL_SESSION_is_resumable(session) == 1 }
  package var mayTakeEarlyData: Bool { unsafe SSL_SESSION_get_max_early_data(session) > 0 }
}

/// A TLS client over memory: bytes in, bytes out. It trusts everybody.
@safe package final class TestClient {
  private let context: OpaquePointer
  private let ssl: OpaquePointer
  // Both belong to `ssl`.
  private let input: OpaquePointer
  private let output: OpaquePointer

  package init(_ options: ClientOptions = ClientOptions()) throws {
    unsafe context = try Self.made(unsafe SSL_CTX_new(TLS_client_method()))
    if let version = options.version {
      try Self.check(unsafe portcullis_context_set_minimum(context, version.rawValue) == 1)
      try Self.check(unsafe portcullis_context_set_maximum(context, version.rawValue) == 1)
    }
    if let suites = options.suites { try Self.check(unsafe SSL_CTX_set_cipher_list(context, suites) == 1) }
    if let padding = options.padding {
      try Self.check(unsafe SSL_CTX_set_block_padding(context, padding) == 1)
    }
    if let groups = options.groups {
      try Self.check(unsafe portcullis_context_set_groups(context, groups) == 1)
    }
    if let identity = options.identity { try unsafe Self.use(identity, context) }
    unsafe ssl = try Self.made(unsafe SSL_new(context))
    unsafe input = try Self.made(unsafe BIO_new(BIO_s_mem()))
    unsafe output = try Self.made(unsafe BIO_new(BIO_s_mem()))
    // An empty input is "not yet" and no end: BIO_set_mem_eof_return.
    _ = unsafe BIO_ctrl(input, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
    unsafe SSL_set_bio(ssl, input, output)
    unsafe SSL_set_connect_state(ssl)
    if !options.protocols.isEmpty {
      let list = options.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
      try Self.check(unsafe SSL_set_alpn_protos(ssl, list, UInt32(list.count)) == 0)
    }
    if let session = options.session { try Self.check(unsafe SSL_set_session(ssl, session.session) == 1) }
  }

  deinit {
    unsafe SSL_free(ssl)
    unsafe SSL_CTX_free(context)
  }

  private static func use(_ identity: Identity, _ context: OpaquePointer) throws {
    let chain = unsafe try Self.made(unsafe BIO_new(BIO_s_mem()))
    defer { unsafe BIO_free(chain) }
    _ = unsafe BIO_write(chain, identity.chain, Int32(identity.chain.count))
    let certificate = unsafe try Self.made(unsafe PEM_read_bio_X509(chain, nil, nil, nil))
    defer { unsafe X509_free(certificate) }
    try Self.check(unsafe SSL_CTX_use_certificate(context, certificate) == 1)
    let memory = unsafe try Self.made(unsafe BIO_new(BIO_s_mem()))
    defer { unsafe BIO_free(memory) }
    _ = unsafe BIO_write(memory, identity.key, Int32(identity.key.count))
    let key = unsafe try Self.made(unsafe PEM_read_bio_PrivateKey(memory, nil, nil, nil))
    defer { unsafe EVP_PKEY_free(key) }
    try Self.check(unsafe SSL_CTX_use_PrivateKey(context, key) == 1)
  }

  private struct Refused: Error {}

  private static func made(_ pointer: OpaquePointer?) throws -> OpaquePointer {
    guard let pointer = unsafe pointer else { throw Refused() }
    return unsafe pointer
  }

  private static func check(_ isGood: Bool) throws {
    if !isGood { throw Refused() }
  }

  // MARK: Bytes

  /// Takes in what the server sent.
  package func feed(_ bytes: [UInt8]) {
    if bytes.isEmpty { return }
    _ = unsafe BIO_write(input, bytes, Int32(bytes.count))
  }

  /// What is to go to the server.
  package func takeOutput() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(output))
    if bytes.isEmpty { return [] }
    let count = unsafe BIO_read(output, &bytes, Int32(bytes.count))
    return Array(bytes.prefix(Int(count)))
  }

  // MARK: Life

  package enum Step: Equatable {
    case wants
    case finished
    case failed
  }

  package func handshake() -> Step {
    ERR_clear_error()
    let result = unsafe SSL_do_handshake(ssl)
    if result == 1 { return .finished }
    let error = unsafe SSL_get_error(ssl, result)
    ERR_clear_error()
    return error == SSL_ERROR_WANT_READ ? .wants : .failed
  }

  package func write(_ text: String) { write(Array(text.utf8)) }

  /// One record, if it is not more than 16 KiB.
  package func write(_ bytes: [UInt8]) {
    ERR_clear_error()
    let count = unsafe SSL_write(ssl, bytes, Int32(bytes.count))
    if Int(count) != bytes.count { fatalError("TestClient: a record was not written") }
  }

  package enum Reading: Equatable {
    case bytes([UInt8])
    case wants
    case closed
    case failed
  }

  /// One record's worth at most.
  package func read() -> Reading {
    ERR_clear_error()
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let count = unsafe SSL_read(ssl, &bytes, Int32(bytes.count))
    if count > 0 { return .bytes(Array(bytes.prefix(Int(count)))) }
    let error = unsafe SSL_get_error(ssl, count)
    ERR_clear_error()
    switch error {
    case SSL_ERROR_WANT_READ: return .wants
    case SSL_ERROR_ZERO_RETURN: return .closed
    default: return .failed
    }
  }

  /// TLS 1.3's KeyUpdate (RFC 8446 §4.6.3).
  package func updateKeys(wantsReply: Bool) {
    ERR_clear_error()
    let kind = wantsReply ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED
    guard unsafe SSL_key_update(ssl, kind) == 1, unsafe SSL_do_handshake(ssl) == 1 else {
      fatalError("TestClient: no KeyUpdate was written")
    }
  }

  /// TLS 1.2's ClientHello over the connection.
  package func renegotiate() {
    ERR_clear_error()
    guard unsafe SSL_renegotiate(ssl) == 1 else { fatalError("TestClient: no ClientHello was written") }
    _ = unsafe SSL_do_handshake(ssl)
  }

  package func close() { _ = unsafe SSL_shutdown(ssl) }

  // MARK: Facts

  package var wasResumed: Bool { unsafe SSL_session_reused(ssl) == 1 }

  /// A copy: OpenSSL spoils the session itself when its connection goes without a close_notify.
  package var session: ClientSession? {
    guard let own = unsafe SSL_get_session(ssl), let copy = unsafe SSL_SESSION_dup(own) else { return nil }
    return unsafe ClientSession(copy)
  }

  package var chosenProtocol: String {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    unsafe SSL_get0_alpn_selected(ssl, &name, &count)
    // The name belongs to `ssl` and is copied at once.
    let buffer = unsafe UnsafeBufferPointer(start: name, count: Int(count))
    return unsafe String(decoding: buffer, as: UTF8.self)
  }

  /// How many authorities the server named when it asked for a certificate.
  package var namedAuthorities: Int {
    guard let names = unsafe SSL_get_client_CA_list(ssl) else { return 0 }
    return Int(unsafe OPENSSL_sk_num(names))
  }

  package var certificatesShown: Int {
    guard let chain = unsafe SSL_get_peer_cert_chain(ssl) else { return 0 }
    return Int(unsafe portcullis_x509_stack_count(chain))
  }
}
