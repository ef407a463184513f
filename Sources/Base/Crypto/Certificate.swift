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

  /// The bytes of every certificate in a PEM text, as they stand there and not yet read as such; text around them is free.
  package static func contents(ofPEM text: Span<UInt8>) throws(CertificateError) -> [[UInt8]] {
    let found = withCleanErrorQueue { () -> [[UInt8]]? in
      unsafe text.withUnsafeBufferPointer { buffer -> [[UInt8]]? in
        guard let count = Int32(exactly: buffer.count),
          let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, count)
        else { return nil }
        defer { unsafe BIO_free(bio) }
        var found: [[UInt8]] = []
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var content: UnsafeMutablePointer<UInt8>?
        var length = 0
        while unsafe PEM_read_bio(bio, &name, &header, &content, &length) == 1 {
          defer {
            unsafe portcullis_openssl_free(name)
            unsafe portcullis_openssl_free(header)
            unsafe portcullis_openssl_free(content)
          }
          guard let label = unsafe name, let start = unsafe content,
            unsafe String(cString: label) == "CERTIFICATE"
          else { return nil }
          // OpenSSL allocated `length` bytes and filled them.
          unsafe found.append(Array(UnsafeBufferPointer(start: start, count: length)))
        }
        // The end of the text shows as PEM_R_NO_START_LINE (108); the reason is the low 23 bits (ERR_GET_REASON).
        return ERR_peek_last_error() & 0x7F_FFFF == 108 ? found : nil
      }
    }
    guard let found, !found.isEmpty else { throw .malformedPEM }
    return found
  }
}
