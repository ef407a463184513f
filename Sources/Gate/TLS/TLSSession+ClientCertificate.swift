/// The certificate that a client has shown, and what it counts for.
package import Bytes
internal import COpenSSL
internal import Crypto
internal import Glibc
package import System

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
