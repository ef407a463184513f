/// The server's TLS settings (docs/protocol-connections.md, "TLS"): versions, suites, tickets, its certificate and the client CA.
internal import Bytes
internal import COpenSSL
package import Crypto

/// Why certificates or keys given by the operator cannot be used.
package enum TLSConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
  case certificateUnreadable(reason: String)
  case keyUnreadable(reason: String)
  case keyDoesNotMatch
  /// The key's certificate is another one of the file, counted from 0.
  case certificateNotFirst(position: Int, isAuthorityFirst: Bool)
  case clientCAUnreadable(reason: String)
  case refused(call: String, reason: String)

  package var description: String {
    switch self {
    case .certificateUnreadable(let reason): "the certificate cannot be read as PEM: \(reason)"
    case .keyUnreadable(let reason): "the private key cannot be read as unencrypted PEM: \(reason)"
    case .keyDoesNotMatch: "the private key does not belong to the certificate"
    case .certificateNotFirst(let position, _):
      "the private key belongs to certificate \(position + 1) of the file, and not to the first"
    case .clientCAUnreadable(let reason): "the client CA cannot be read as PEM: \(reason)"
    case .refused(let call, let reason): "\(call): \(reason)"
    }
  }
}

/// What the server shows and whom it asks, as PEM text read from the operator's files.
package struct TLSMaterial: Sendable, Equatable {
  /// The server's certificate first, then those between it and its root.
  package var certificateChainPEM: [UInt8]
  package var privateKey: PrivateKeyText
  /// The only CAs that client certificates may come from; nil when none is asked for.
  package var clientCAPEM: [UInt8]?
  package var minimumVersion = TLSVersion.tls12

  package init(certificateChainPEM: [UInt8], privateKey: PrivateKeyText, clientCAPEM: [UInt8]?) {
    self.certificateChainPEM = certificateChainPEM
    self.privateKey = privateKey
    self.clientCAPEM = clientCAPEM
  }

  /// With a key that was made in memory.
  package init(certificateChainPEM: [UInt8], privateKeyPEM: [UInt8], clientCAPEM: [UInt8]?) {
    self.init(
      certificateChainPEM: certificateChainPEM, privateKey: PrivateKeyText(copying: privateKeyPEM.span),
      clientCAPEM: clientCAPEM)
  }
}

/// What clients may speak.
package enum TLSVersion: Sendable {
  case tls12
  case tls13
}

/// Keys for session tickets, shared by all contexts of a process; `rotate` keeps the previous one for reading.
@safe package final class TicketKeys: @unchecked Sendable {
  // The C structure has a lock of its own around every use.
  let pointer: OpaquePointer

  package init() {
    guard let pointer = unsafe portcullis_ticket_keys_new() else {
      fatalError("no randomness for ticket keys")
    }
    unsafe self.pointer = pointer
  }

  deinit {
    unsafe portcullis_ticket_keys_free(pointer)
  }

  package func rotate() {
    if unsafe portcullis_ticket_keys_rotate(pointer) != 1 { fatalError("no randomness for ticket keys") }
  }
}

/// An `SSL_CTX`, complete and never changed after its making; sessions on all loops share it.
@safe package final class TLSServerContext: @unchecked Sendable {
  // OpenSSL counts references to an SSL_CTX atomically, and nothing here changes it after init.
  let context: OpaquePointer
  package let asksForCertificate: Bool
  /// Whom it asks for certificates of, as a digest: a verdict on one is worth nothing under another authority.
  let clientAuthority: [UInt8]
  /// The client CAs, each as `CertificateTerms` has it; written by `make` alone.
  private(set) var authorities: Set<UInt64> = []
  private let tickets: TicketKeys

  private init(owning context: OpaquePointer, tickets: TicketKeys, clientCA: [UInt8]?) {
    unsafe self.context = context
    self.tickets = tickets
    asksForCertificate = clientCA != nil
    let settings = [UInt8]("portcullis 1 \(clientCA != nil)\n".utf8) + (clientCA ?? [])
    clientAuthority = SHA256.hash(settings.span).array
  }

  deinit {
    unsafe SSL_CTX_free(context)
  }

  package static func make(
    _ material: TLSMaterial, tickets: TicketKeys
  ) throws(TLSConfigurationError) -> TLSServerContext {
    ERR_clear_error()
    guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { throw failure("SSL_CTX_new") }
    let made = unsafe TLSServerContext(owning: context, tickets: tickets, clientCA: material.clientCAPEM)
    try made.configure(material.minimumVersion)
    try made.use(certificateChain: material.certificateChainPEM, privateKey: material.privateKey)
    if let clientCA = material.clientCAPEM { try made.ask(for: clientCA) }
    try made.separateSessions()
    return made
  }

  /// Whether the text holds a private key at all, whatever certificate it belongs to.
  package static func check(_ privateKey: PrivateKeyText) throws(TLSConfigurationError) {
    ERR_clear_error()
    unsafe EVP_PKEY_free(try parse(privateKey))
  }

  private func configure(_ minimum: TLSVersion) throws(TLSConfigurationError) {
    let version = minimum == .tls12 ? TLS1_2_VERSION : TLS1_3_VERSION
    unsafe try check("SSL_CTX_set_min_proto_version", portcullis_context_set_minimum(context, version))
    unsafe try check(
      "SSL_CTX_set_cipher_list", SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20"))
    // Not P-384, which nobody needs: a ClientHello that asks for it costs 1.2 ms, ten times as much, before its sender has done
    // anything for it.
    unsafe try check("SSL_CTX_set1_groups_list", portcullis_context_set_groups(context, "X25519:P-256"))
    unsafe try check("SSL_CTX_set_num_tickets", SSL_CTX_set_num_tickets(context, 1))
    _ = unsafe SSL_CTX_set_timeout(context, 7200)
    unsafe try check(
      "callbacks", portcullis_context_install(context, tickets.pointer, asksForCertificate ? 1 : 0))
  }

  private func use(certificateChain: [UInt8], privateKey: PrivateKeyText)
    throws(TLSConfigurationError)
  {
    var isLeaf = true
    let count = unsafe try Self.eachCertificate(
      in: certificateChain, orThrow: TLSConfigurationError.certificateUnreadable
    ) {
      (certificate) throws(TLSConfigurationError) in
      // SSL_CTX_add1_chain_cert is a macro over SSL_CTX_ctrl(SSL_CTRL_CHAIN_CERT, 1): it takes a reference of its own.
      if isLeaf {
        unsafe try check("SSL_CTX_use_certificate", SSL_CTX_use_certificate(context, certificate))
      } else {
        try check(
          "SSL_CTX_add1_chain_cert",
          unsafe SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(certificate)))
      }
      isLeaf = false
    }
    guard count > 0 else { throw .certificateUnreadable(reason: "it holds no certificate") }

    let key = unsafe try Self.parse(privateKey)
    defer { unsafe EVP_PKEY_free(key) }
    guard unsafe SSL_CTX_use_PrivateKey(context, key) == 1, unsafe SSL_CTX_check_private_key(context) == 1
    else {
      ERR_clear_error()
      throw try unsafe Self.mismatch(of: key, in: certificateChain)
    }
  }

  /// Whether the key's certificate is in the file after all: then only their order is wrong.
  private static func mismatch(
    of key: OpaquePointer, in chain: [UInt8]
  ) throws(TLSConfigurationError) -> TLSConfigurationError {
    var (position, found, isAuthorityFirst) = (0, Int?.none, false)
    _ = unsafe try eachCertificate(in: chain, orThrow: TLSConfigurationError.certificateUnreadable) {
      (certificate) throws(TLSConfigurationError) in
      if position == 0 { isAuthorityFirst = unsafe X509_check_ca(certificate) != 0 }
      if found == nil, unsafe X509_check_private_key(certificate, key) == 1 { found = position }
      position += 1
    }
    ERR_clear_error()
    return found.map { .certificateNotFirst(position: $0, isAuthorityFirst: isAuthorityFirst) }
      ?? .keyDoesNotMatch
  }

  /// The first private key in the text. OpenSSL's own copies of it, lines and DER, are wiped by it.
  private static func parse(_ text: PrivateKeyText) throws(TLSConfigurationError) -> OpaquePointer {
    let key: OpaquePointer? = unsafe text.withPointer { bytes in
      // Only reads the bytes, which stay where they are until it is freed.
      guard let memory = unsafe BIO_new_mem_buf(bytes, Int32(clamping: text.count)) else { return nil }
      defer { unsafe BIO_free(memory) }
      // No pass phrase is asked for: the callback says that there is none.
      return unsafe PEM_read_bio_PrivateKey(memory, nil, { _, _, _, _ in 0 }, nil)
    }
    guard let key = unsafe key else { throw .keyUnreadable(reason: takeReason()) }
    return unsafe key
  }

  private func ask(for clientCA: [UInt8]) throws(TLSConfigurationError) {
    guard let store = unsafe X509_STORE_new() else { throw Self.failure("X509_STORE_new") }
    defer { unsafe X509_STORE_free(store) }
    let count = unsafe try Self.eachCertificate(
      in: clientCA, orThrow: TLSConfigurationError.clientCAUnreadable
    ) {
      (certificate) throws(TLSConfigurationError) in
      unsafe try check("X509_STORE_add_cert", X509_STORE_add_cert(store, certificate))
      unsafe try check("SSL_CTX_add_client_CA", SSL_CTX_add_client_CA(context, certificate))
      if let authority = unsafe Self.authority(certificate) { authorities.insert(authority) }
    }
    guard count > 0 else { throw .clientCAUnreadable(reason: "it holds no certificate") }
    // SSL_CTX_set1_verify_cert_store: clients are judged by this store alone.
    try check(
      "SSL_CTX_set1_verify_cert_store",
      unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_VERIFY_CERT_STORE, 1, UnsafeMutableRawPointer(store)))
  }

  /// A ticket issued under one client CA, or under none, must not resume under another.
  private func separateSessions() throws(TLSConfigurationError) {
    unsafe try check(
      "SSL_CTX_set_session_id_context",
      clientAuthority.withUnsafeBufferPointer { buffer in
        unsafe SSL_CTX_set_session_id_context(context, buffer.baseAddress, UInt32(buffer.count))
      })
  }

  /// Calls `body` with each certificate, borrowed, and returns how many there were.
  private static func eachCertificate(
    in pem: [UInt8], orThrow unreadable: (String) -> TLSConfigurationError,
    _ body: (OpaquePointer) throws(TLSConfigurationError) -> Void
  ) throws(TLSConfigurationError) -> Int {
    unsafe try withMemory(pem) { (memory) throws(TLSConfigurationError) -> Int in
      var count = 0
      while let certificate = unsafe PEM_read_bio_X509(memory, nil, { _, _, _, _ in 0 }, nil) {
        defer { unsafe X509_free(certificate) }
        count += 1
        unsafe try body(certificate)
      }
      let error = ERR_peek_last_error()
      // The end of the text shows as PEM_R_NO_START_LINE (108); the reason is the low 23 bits (ERR_GET_REASON).
      if error & 0x7F_FFFF != 108 { throw unreadable(takeReason()) }
      ERR_clear_error()
      return count
    }
  }

  private static func withMemory<Result>(
    _ bytes: [UInt8], _ body: (OpaquePointer) throws(TLSConfigurationError) -> Result
  ) throws(TLSConfigurationError) -> Result {
    guard let memory = unsafe BIO_new(BIO_s_mem()) else { throw failure("BIO_new") }
    defer { unsafe BIO_free(memory) }
    // Writing copies, so nothing of the array is kept.
    unsafe bytes.withUnsafeBufferPointer { buffer in
      _ = unsafe BIO_write(memory, buffer.baseAddress, Int32(clamping: buffer.count))
    }
    return unsafe try body(memory)
  }

  private func check(_ call: String, _ result: some BinaryInteger) throws(TLSConfigurationError) {
    if result != 1 { throw Self.failure(call) }
  }

  private static func failure(_ call: String) -> TLSConfigurationError {
    .refused(call: call, reason: takeReason())
  }

  static func takeReason() -> String { takeError().reason }

  static func takeError() -> (code: UInt, reason: String) {
    let code = portcullis_take_error()
    guard code != 0, let reason = unsafe ERR_reason_error_string(code) else { return (code, "unknown") }
    // OpenSSL's reason strings are static and ASCII.
    return (code, unsafe String(cString: reason))
  }
}
