/// What a client knows a server's key by: SHA-256 of its `SubjectPublicKeyInfo` in DER (RFC 7469 §2.4), whatever
/// certificate it stands in.
package import Bytes
internal import COpenSSL

package struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
  package let hash: Bytes32

  package init(_ hash: Bytes32) {
    self.hash = hash
  }

  package init(subjectPublicKeyInfo der: Span<UInt8>) {
    hash = SHA256.hash(der)
  }

  /// 43 characters of base64url.
  package var text: String { Base64.encodeURL(hash.inlineArray.span) }
  package var description: String { text }

  /// Of the first certificate of a PEM text, which is the server's own.
  package static func ofCertificate(inPEM text: Span<UInt8>) throws(CertificateError) -> PublicKeyPin {
    let der = withCleanErrorQueue { () -> [UInt8]? in
      guard let certificate = PEMReader(text)?.nextCertificate() else { return nil }
      return try? unsafe encoded("read a public key") {
        unsafe i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate.handle), $0)
      }
    }
    guard let der else { throw .malformedPEM }
    return PublicKeyPin(subjectPublicKeyInfo: der.span)
  }

  /// Of the first key in PEM: a private one without a pass phrase, or else a public one, so that a key that is not in
  /// service yet may lie elsewhere.
  package static func ofKey(_ text: PrivateKeyText) throws(IssuingError) -> PublicKeyPin {
    ERR_clear_error()
    let key = unsafe text.withPointer { bytes in
      unsafe reading(
        bytes, text.count,
        {
          unsafe PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in 0 }, nil)
        })
        ?? reading(bytes, text.count, { unsafe PEM_read_bio_PUBKEY($0, nil, { _, _, _, _ in 0 }, nil) })
    }
    guard let key = unsafe key else { throw .failed("read a key") }
    defer { unsafe EVP_PKEY_free(key) }
    let der = unsafe try encoded("write a public key") { unsafe i2d_PUBKEY(key, $0) }
    return PublicKeyPin(subjectPublicKeyInfo: der.span)
  }

  /// What `read` makes of the bytes, which are only read and not kept.
  private static func reading(
    _ bytes: UnsafePointer<UInt8>, _ count: Int, _ read: (OpaquePointer) -> OpaquePointer?
  ) -> OpaquePointer? {
    guard let memory = unsafe BIO_new_mem_buf(bytes, Int32(clamping: count)) else { return nil }
    defer { unsafe BIO_free(memory) }
    return unsafe read(memory)
  }
}
