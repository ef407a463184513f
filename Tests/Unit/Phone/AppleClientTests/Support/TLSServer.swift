/// A server on loopback that does what a test says, over real TLS: one connection after the other, each on a thread.
internal import AppleFoundation
internal import COpenSSL
internal import Crypto
internal import Glibc
internal import System
internal import TLSPeers

/// One connection, used by its thread.
@safe final class ServerConnection {
  enum Frame: Equatable {
    case text(String)
    case binary([UInt8])
    case ping
    case close(code: UInt16?)
  }

  /// Owned, freed in `deinit`.
  private let ssl: OpaquePointer
  private let descriptor: OwnedDescriptor
  private var received: [UInt8] = []

  /// Nil when the handshake fails.
  init?(_ context: OpaquePointer, _ descriptor: consuming OwnedDescriptor) {
    guard let ssl = unsafe SSL_new(context) else { fatalError("out of memory") }
    unsafe self.ssl = ssl
    self.descriptor = descriptor
    unsafe SSL_set_fd(ssl, self.descriptor.number)
    ERR_clear_error()
    if unsafe SSL_accept(ssl) == 1 { return }
    // Bytes that nobody has read would reset the connection, and the client would never see the alert.
    _ = shutdown(self.descriptor.number, Int32(SHUT_WR))
    var bytes = [UInt8](repeating: 0, count: 4096)
    while unsafe Glibc.read(self.descriptor.number, &bytes, bytes.count) > 0 {}
    return nil
  }

  deinit { unsafe SSL_free(ssl) }

  /// In DER; nil where the client has shown none.
  var clientCertificate: [UInt8]? {
    unsafe SSL_get0_peer_certificate(ssl).map { unsafe PeerTrust.encode($0) }
  }

  /// Head and, as Content-Length says, the body; nil at the end.
  func readRequest() -> String? {
    while true {
      let text = String(decoding: received, as: UTF8.self)
      if let end = text.firstRange(of: "\r\n\r\n") {
        let length = text.lowercased().firstMatch(of: /content-length: (\d+)/).flatMap { Int($0.1) } ?? 0
        if text[end.upperBound...].utf8.count >= length {
          received = []
          return text
        }
      }
      guard readMore() else { return nil }
    }
  }

  /// The next frame, unmasked; nil at the end.
  func readFrame() -> Frame? {
    while true {
      if received.count >= 6, received[1] & 0x7F < 126 {
        let count = Int(received[1] & 0x7F)
        if received.count >= 6 + count {
          let mask = received[2..<6]
          let payload = (0..<count).map { received[6 + $0] ^ mask[2 + $0 % 4] }
          let opcode = received[0] & 0x0F
          received.removeFirst(6 + count)
          switch opcode {
          case 1: return .text(String(decoding: payload, as: UTF8.self))
          case 2: return .binary(payload)
          case 8: return .close(code: count < 2 ? nil : UInt16(payload[0]) << 8 | UInt16(payload[1]))
          default: return .ping
          }
        }
      }
      guard readMore() else { return nil }
    }
  }

  func write(_ text: String) { write(Array(text.utf8)) }

  /// The client may be gone, which is its test's matter.
  func write(_ bytes: [UInt8]) {
    ERR_clear_error()
    _ = unsafe SSL_write(ssl, bytes, Int32(bytes.count))
  }

  /// - Parameter payload: below 126 bytes.
  func write(frame opcode: UInt8, _ payload: [UInt8]) {
    write([0x80 | opcode, UInt8(payload.count)] + payload)
  }

  func write(closeCode code: UInt16?) {
    write(frame: 8, code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? [])
  }

  private func readMore() -> Bool {
    ERR_clear_error()
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let count = unsafe SSL_read(ssl, &bytes, Int32(bytes.count))
    if count > 0 { received += bytes.prefix(Int(count)) }
    return count > 0
  }
}

@safe final class TLSServer: Sendable {
  /// Whether clients are asked for a certificate, and let in without one.
  enum Asking { case no, politely, strictly }

  private struct Seen {
    var handshakes = 0
    var requests: [String] = []
    var ends = 0
  }

  private let listener: Listener
  private let seen = Monitor(Seen())

  var port: UInt16 { listener.port }

  init(
    _ identity: Identity, asking: Asking = .no, _ serve: @escaping @Sendable (ServerConnection) -> Void
  ) throws {
    listener = Listener()
    let context = try ServerContext(identity, asking)
    try listener.serve { [seen] descriptor in
      var signals = sigset_t()
      unsafe sigemptyset(&signals)
      unsafe sigaddset(&signals, SIGPIPE)
      unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
      if let connection = unsafe ServerConnection(context.context, descriptor) {
        seen.withLock { seen, _ in seen.handshakes += 1 }
        serve(connection)
      }
      seen.withLock { seen, _ in seen.ends += 1 }
    }
  }

  deinit { listener.end() }

  func note(_ request: String) { seen.withLock { seen, _ in seen.requests.append(request) } }

  var requests: [String] { seen.withLock { seen, _ in seen.requests } }
  var handshakes: Int { seen.withLock { seen, _ in seen.handshakes } }
  /// How many connections are over.
  var ends: Int { seen.withLock { seen, _ in seen.ends } }
}

/// The settings of a server, which free themselves.
@safe private final class ServerContext: @unchecked Sendable {
  let context: OpaquePointer

  init(_ identity: Identity, _ asking: TLSServer.Asking) throws {
    guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { fatalError("out of memory") }
    unsafe self.context = context
    let certificate = unsafe PeerTrustReader.certificate(try PEMBlock.decode("CERTIFICATE", identity.chain))
    defer { unsafe X509_free(certificate) }
    let key = unsafe PeerTrustReader.key(try PEMBlock.decode("PRIVATE KEY", identity.key))
    defer { unsafe EVP_PKEY_free(key) }
    guard unsafe SSL_CTX_use_certificate(context, certificate) == 1,
      unsafe SSL_CTX_use_PrivateKey(context, key) == 1
    else { fatalError("no identity") }
    let mode: Int32 =
      switch asking {
      case .no: SSL_VERIFY_NONE
      case .politely: SSL_VERIFY_PEER
      case .strictly: SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
      }
    // Every certificate will do.
    unsafe SSL_CTX_set_verify(context, mode, { _, _ in 1 })
  }

  deinit { unsafe SSL_CTX_free(context) }
}

private enum PeerTrustReader {
  static func certificate(_ der: [UInt8]) -> OpaquePointer? {
    // Both read the array, which outlives the call, and keep no pointer into it.
    unsafe der.withUnsafeBufferPointer { bytes in
      var next = bytes.baseAddress
      return unsafe d2i_X509(nil, &next, bytes.count)
    }
  }

  static func key(_ der: [UInt8]) -> OpaquePointer? {
    unsafe der.withUnsafeBufferPointer { bytes in
      var next = bytes.baseAddress
      return unsafe d2i_AutoPrivateKey(nil, &next, bytes.count)
    }
  }
}
