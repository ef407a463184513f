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

  /// Takes the certificate over.
  init(owning handle: OpaquePointer) {
    unsafe self.handle = unsafe handle
  }

  deinit {
    unsafe X509_free(handle)
  }

  /// As it was read.
  func der() throws(IssuingError) -> [UInt8] {
    unsafe try encoded("write a certificate") { unsafe i2d_X509(handle, $0) }
  }

  /// The DER inside the PEM text that holds exactly one certificate; text around it is free (RFC 7468 §2).
  package static func der(fromPEM text: Span<UInt8>) throws(CertificateError) -> [UInt8] {
    let der = withCleanErrorQueue { () -> [UInt8]? in
      guard let reader = PEMReader(text), let certificate = reader.nextCertificate(),
        reader.nextCertificate() == nil
      else { return nil }
      return try? certificate.der()
    }
    guard let der else { throw .malformedPEM }
    return der
  }

  /// The bytes of every certificate in a PEM text, as they stand there and not yet read as such; text around them is free.
  package static func contents(ofPEM text: Span<UInt8>) throws(CertificateError) -> [[UInt8]] {
    let found = withCleanErrorQueue { () -> [[UInt8]]? in
      guard let reader = PEMReader(text) else { return nil }
      var found: [[UInt8]] = []
      while let block = reader.nextBlock() {
        guard block.label == "CERTIFICATE" else { return nil }
        found.append(block.content)
      }
      return reader.hasEnded ? found : nil
    }
    guard let found, !found.isEmpty else { throw .malformedPEM }
    return found
  }
}
