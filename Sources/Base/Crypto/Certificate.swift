/// An X.509 certificate as OpenSSL holds it (`X509*`), freed with its owner.
internal import COpenSSL

package enum CertificateError: Error, Equatable, Sendable {
  /// Not a certificate in DER, or followed by something.
  case malformed
  /// Not one certificate in PEM.
  case malformedPEM
  /// OpenSSL does not find that the issuer issued it; the code is of `X509_verify_cert`.
  case notIssued(code: Int32)
}

@safe package struct Certificate: ~Copyable {
  /// `X509*`; the module's other files may use it while this value lives.
  let handle: OpaquePointer

  package init(der: Span<UInt8>) throws(CertificateError) {
    guard !der.isEmpty else { throw .malformed }
    let handle = unsafe withCleanErrorQueue { () -> OpaquePointer? in
      // d2i moves `cursor` within the buffer, at most to its end.
      unsafe der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
        var cursor = buffer.baseAddress
        guard let certificate = unsafe d2i_X509(nil, &cursor, buffer.count) else { return nil }
        guard unsafe cursor == buffer.baseAddress.map({ unsafe $0 + buffer.count }) else {
          unsafe X509_free(certificate)
          return nil
        }
        return unsafe certificate
      }
    }
    guard let handle = unsafe handle else { throw .malformed }
    unsafe self.handle = handle
  }

  deinit {
    unsafe X509_free(handle)
  }

  /// The DER inside the PEM text that holds exactly one certificate; text around it is free (RFC 7468 §2).
  package static func der(fromPEM text: Span<UInt8>) throws(CertificateError) -> [UInt8] {
    let der = withCleanErrorQueue { () -> [UInt8]? in
      unsafe text.withUnsafeBufferPointer { buffer -> [UInt8]? in
        guard let count = Int32(exactly: buffer.count),
          let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, count)
        else { return nil }
        defer { unsafe BIO_free(bio) }
        guard let certificate = unsafe PEM_read_bio_X509(bio, nil, nil, nil) else { return nil }
        defer { unsafe X509_free(certificate) }
        if let second = unsafe PEM_read_bio_X509(bio, nil, nil, nil) {
          unsafe X509_free(second)
          return nil
        }
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = unsafe i2d_X509(certificate, &encoded)
        guard length > 0, let start = unsafe encoded else { return nil }
        defer { unsafe portcullis_openssl_free(start) }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(length)))
      }
    }
    guard let der else { throw .malformedPEM }
    return der
  }
}
