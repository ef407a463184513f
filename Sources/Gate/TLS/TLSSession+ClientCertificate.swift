/// The certificate that a client has shown, and what it counts for.
package import Bytes
internal import COpenSSL
internal import Crypto
internal import Glibc
package import Time

/// The verdict on the certificate that a client presented.
package enum ClientCertificate: Equatable, Sendable {
  case absent
  /// Good at the handshake for purpose "client" against the client CA; dates are looked at again when it counts.
  /// - Parameter publicKey: SHA-256 of its `SubjectPublicKeyInfo`.
  case verified(subject: String, publicKey: Bytes32, terms: CertificateTerms)
  case refused(subject: String, reason: String)
}

/// For how long a client certificate that was found good is so: while its authority is one of the client CAs, and until the
/// first certificate of its chain ends.
package struct CertificateTerms: Equatable, Sendable {
  /// The first eight bytes of the SHA-256 of the client CA's certificate, the highest first.
  package let authority: UInt64
  package let end: UnixTime

  package init(authority: UInt64, end: UnixTime) {
    self.authority = authority
    self.end = end
  }
}

extension TLSServerContext {
  /// Whether a certificate that was found good on these terms, by whatever context, could be so now.
  package func stillTakes(_ terms: CertificateTerms, at now: UnixTime) -> Bool {
    authorities.contains(terms.authority) && now < terms.end
  }

  /// As `CertificateTerms` names a client CA; nil only without memory.
  static func authority(_ certificate: OpaquePointer) -> UInt64? {
    var digest = [UInt8](repeating: 0, count: 32)
    // As long as SHA-256 is, and borrowed for the call.
    let isDone = unsafe digest.withUnsafeMutableBufferPointer { buffer in
      unsafe X509_digest(certificate, EVP_sha256(), buffer.baseAddress, nil) == 1
    }
    guard isDone else {
      portcullis_clear_errors()
      return nil
    }
    return digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
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
    var end = UnixTime(milliseconds: .max)
    // Behind the loop, the one that the chain leads to: the client CA.
    var last = unsafe certificate
    for index in unsafe 0..<portcullis_x509_stack_count(chain) {
      guard let each = unsafe portcullis_x509_stack_value(chain, index),
        unsafe X509_cmp_time(X509_get0_notBefore(each), &seconds) < 0,
        unsafe X509_cmp_time(X509_get0_notAfter(each), &seconds) > 0,
        let ends = unsafe Self.time(X509_get0_notAfter(each))
      else { return .refused(subject: subject, reason: "not valid at this time") }
      end = min(end, ends)
      unsafe last = each
    }
    guard let publicKey = unsafe Self.publicKeyHash(of: certificate),
      let authority = unsafe TLSServerContext.authority(last)
    else {
      return .refused(subject: subject, reason: "no memory")
    }
    return .verified(
      subject: subject, publicKey: publicKey, terms: CertificateTerms(authority: authority, end: end))
  }

  private static func time(_ encoded: UnsafePointer<ASN1_TIME>?) -> UnixTime? {
    var parts = unsafe tm()
    guard let encoded = unsafe encoded, unsafe ASN1_TIME_to_tm(encoded, &parts) == 1 else { return nil }
    return UnixTime(milliseconds: unsafe Int64(timegm(&parts)) * 1000)
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
