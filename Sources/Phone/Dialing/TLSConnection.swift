/// One TLS connection of a client: blocking calls with deadlines over a non-blocking socket, which frees
/// itself.
///
/// OpenSSL reads the socket through `portcullis_transport` and writes to its outbox, which is sent here with
/// MSG_NOSIGNAL: a server that is gone is an error, never a SIGPIPE.
internal import COpenSSL
internal import Glibc
internal import System

@safe struct TLSConnection: ~Copyable {
  private let socket: OwnedDescriptor
  /// Owned, as is `outbox`; both are made in `open` and freed once in `deinit`. `transport` lives as long as
  /// `ssl`.
  let ssl: OpaquePointer
  private let transport: UnsafeMutablePointer<portcullis_transport>
  private let outbox: UnsafeMutablePointer<portcullis_outbox>
  /// Read while a write had to wait: a server that may not send until it is heard would never listen again.
  private var arrived: [UInt8] = []
  /// How much of the outbox the kernel has taken.
  private var sent = 0
  /// Beyond this a write waits without reading.
  private static let arrivedLimit = 16 << 20

  private init(
    _ socket: consuming OwnedDescriptor, owning ssl: OpaquePointer,
    _ transport: UnsafeMutablePointer<portcullis_transport>, _ outbox: UnsafeMutablePointer<portcullis_outbox>
  ) {
    self.socket = socket
    unsafe self.ssl = unsafe ssl
    unsafe self.transport = unsafe transport
    unsafe self.outbox = unsafe outbox
  }

  deinit {
    // SSL_free may still write to the outbox.
    unsafe SSL_free(ssl)
    unsafe portcullis_outbox_free(outbox)
  }

  // MARK: Opening

  /// - Parameter address: where to, instead of where the host's name leads; the name is asked for all the same.
  static func open(
    to url: GateURL, at address: String? = nil, _ settings: borrowing ClientTLSSettings, _ deadline: Deadline
  ) throws(GateClientError) -> TLSConnection {
    let socket = try TCPConnector.connect(host: address ?? url.host, port: url.port, deadline)
    ERR_clear_error()
    guard let ssl = unsafe SSL_new(settings.context) else { throw .tlsSettings(openSSLReason()) }
    guard let outbox = unsafe portcullis_outbox_new(16_384) else {
      unsafe SSL_free(ssl)
      throw .tlsSettings("out of memory")
    }
    guard let transport = unsafe portcullis_transport_attach(ssl, socket.number, outbox, 0) else {
      unsafe SSL_free(ssl)
      unsafe portcullis_outbox_free(outbox)
      throw .tlsSettings("out of memory")
    }
    var connection = unsafe TLSConnection(socket, owning: ssl, transport, outbox)
    try connection.expect(host: url.host)
    let protocols = [UInt8(8)] + Array("http/1.1".utf8)
    // Returns 0 on success, unlike the rest; copies the list.
    guard unsafe SSL_set_alpn_protos(connection.ssl, protocols, UInt32(protocols.count)) == 0 else {
      throw .tlsSettings(openSSLReason())
    }
    try connection.handshake(deadline)
    try connection.checkPin(settings.trust)
    return connection
  }

  /// The name or address that the certificate must be for, and the name the server is told.
  private func expect(host: String) throws(GateClientError) {
    guard let parameters = unsafe SSL_get0_param(ssl) else { throw .tlsSettings(openSSLReason()) }
    // The parameters belong to `ssl`; both setters copy the text.
    if unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1 { return }
    ERR_clear_error()
    guard unsafe SSL_set1_host(ssl, host) == 1, unsafe portcullis_ssl_set_server_name(ssl, host) == 1 else {
      throw .tlsSettings(openSSLReason())
    }
  }

  private mutating func handshake(_ deadline: Deadline) throws(GateClientError) {
    while true {
      ERR_clear_error()
      let result = unsafe SSL_connect(ssl)
      let error = unsafe SSL_get_error(ssl, result)
      let reason = result == 1 ? "" : openSSLReason()
      // What OpenSSL wrote goes out even when it failed: it may be the alert that says why.
      do { try flush(deadline) } catch { if result == 1 { throw error } }
      if result == 1 { return }
      if error == SSL_ERROR_WANT_READ {
        unsafe transport.pointee.dry = 0
        try wait(for: POLLIN, deadline, "TLS handshake")
        continue
      }
      let verdict = unsafe SSL_get_verify_result(ssl)
      if verdict != Int(X509_V_OK) {
        throw .untrusted(unsafe String(cString: X509_verify_cert_error_string(verdict)))
      }
      if let failure = readError() { throw .broken(failure) }
      throw unsafe transport.pointee.ended == 1 ? .closed : .handshake(reason)
    }
  }

  // MARK: Data

  /// What came, at most 16 KiB; empty when the server has closed its side.
  mutating func read(_ deadline: Deadline) throws(GateClientError) -> [UInt8] {
    while true {
      if let bytes = try readAvailable() { return bytes }
      try wait(for: POLLIN, deadline, "read")
    }
  }

  /// The same without waiting: nil when there is nothing yet.
  mutating func readAvailable() throws(GateClientError) -> [UInt8]? {
    if arrived.isEmpty { return try readRecord() }
    defer { arrived = [] }
    return arrived
  }

  private func readRecord() throws(GateClientError) -> [UInt8]? {
    ERR_clear_error()
    // `dry` says that the last read emptied the socket; this call is a new turn.
    unsafe transport.pointee.dry = 0
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let count = unsafe SSL_read(ssl, &bytes, Int32(bytes.count))
    if count > 0 { return Array(bytes.prefix(Int(count))) }
    switch unsafe SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_READ: return nil
    case SSL_ERROR_ZERO_RETURN: return []
    default:
      let reason = openSSLReason()
      if let failure = readError() { throw .broken(failure) }
      // A FIN without close_notify: the callers' own framing tells whether anything is missing.
      if unsafe transport.pointee.ended == 1 { return [] }
      throw .handshake(reason)
    }
  }

  /// All of `bytes`.
  mutating func write(_ bytes: [UInt8], _ deadline: Deadline) throws(GateClientError) {
    var written = 0
    while written < bytes.count {
      let count = Int32(clamping: min(bytes.count - written, 16_384))
      ERR_clear_error()
      // The slice is within the array, which outlives the call.
      let result = unsafe bytes.withUnsafeBytes { bytes in
        unsafe SSL_write(ssl, bytes.baseAddress.map { unsafe $0 + written }, count)
      }
      guard result > 0 else { throw .handshake(openSSLReason()) }
      written += Int(result)
      while try !sendSome() {
        if arrived.count < Self.arrivedLimit, let more = try readRecord(), !more.isEmpty {
          arrived += more
          continue
        }
        // A side that has closed is always readable: to wait for it would be to spin.
        let isOpen = unsafe transport.pointee.ended == 0 && SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN == 0
        let isReadable = isOpen && arrived.count < Self.arrivedLimit
        try wait(for: isReadable ? POLLOUT | POLLIN : POLLOUT, deadline, "write")
      }
    }
  }

  /// Says `close_notify`; the connection is of no use for writing after it.
  mutating func closeNotify(_ deadline: Deadline) {
    ERR_clear_error()
    _ = unsafe SSL_shutdown(ssl)
    // The peer may be gone already, which is what is wanted.
    try? flush(deadline)
  }

  /// Waits for the server, or for input on a second descriptor; true when it was the server.
  func waitForServer(or input: Int32, _ deadline: Deadline) throws(GateClientError) -> Bool {
    // SSL_has_pending would also count the first part of a record, which nothing can be read from yet.
    if unsafe !arrived.isEmpty || SSL_pending(ssl) > 0 { return true }
    let readiness: Deadline.Readiness
    do { readiness = try deadline.wait(for: socket.number, POLLIN, or: input) } catch { throw .broken(error) }
    switch readiness {
    case .first: return true
    case .second: return false
    case .timedOut: throw .timedOut(during: "wait")
    }
  }

  /// The same with several of the caller's, which come before the server where more are ready.
  func waitForServer(orAnyOf inputs: [Int32], _ deadline: Deadline) throws(GateClientError) -> Waited {
    let hasSome = unsafe !arrived.isEmpty || SSL_pending(ssl) > 0
    let index: Int?
    do throws(SystemError) {
      index = try (hasSome ? .after(.zero) : deadline).waitForAny(of: inputs + [socket.number])
    } catch {
      throw .broken(error)
    }
    if let index, index < inputs.count { return .input(index) }
    return hasSome || index != nil ? .server : .timedOut
  }

  enum Waited { case server, input(Int), timedOut }

  /// Sends all that OpenSSL has encrypted.
  private mutating func flush(_ deadline: Deadline) throws(GateClientError) {
    while try !sendSome() { try wait(for: POLLOUT, deadline, "write") }
  }

  /// Sends what the kernel takes at once; true when nothing is left.
  private mutating func sendSome() throws(GateClientError) -> Bool {
    while unsafe sent < outbox.pointee.count {
      // The outbox is filled up to `count`, and nothing writes to it during the call.
      let result = unsafe send(
        socket.number, outbox.pointee.bytes + sent, outbox.pointee.count - sent, Int32(MSG_NOSIGNAL))
      if result > 0 {
        sent += result
      } else if errno == EAGAIN {
        return false
      } else if errno != EINTR {
        throw .broken(SystemError("send"))
      }
    }
    sent = 0
    unsafe portcullis_outbox_reset(outbox, 65_536)
    return true
  }

  private func wait(for events: Int32, _ deadline: Deadline, _ what: String) throws(GateClientError) {
    let readiness: Deadline.Readiness
    do { readiness = try deadline.wait(for: socket.number, events) } catch { throw .broken(error) }
    if case .timedOut = readiness { throw .timedOut(during: what) }
  }

  private func readError() -> SystemError? {
    let number = unsafe transport.pointee.error
    return number == 0 ? nil : SystemError("recv", number)
  }
}
