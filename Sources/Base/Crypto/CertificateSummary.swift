/// What an operator wants to know of certificates in a PEM file: whose they are and when they hold. Nothing is verified.
internal import COpenSSL
internal import Glibc
package import System

package struct CertificateSummary: Equatable, Sendable {
  /// RFC 2253, as OpenSSL writes it; the words of whoever made the certificate.
  package let subject: String
  package let notBefore: UnixTime
  package let notAfter: UnixTime

  /// With less than this left of its time, a certificate is to be renewed.
  package static let renewalDays: Int64 = 21

  /// All certificates of a PEM text, in their order.
  package static func all(inPEM text: Span<UInt8>) throws(CertificateError) -> [CertificateSummary] {
    let found = withCleanErrorQueue { () -> [CertificateSummary]? in
      unsafe text.withUnsafeBufferPointer { buffer -> [CertificateSummary]? in
        guard let count = Int32(exactly: buffer.count),
          let memory = unsafe BIO_new_mem_buf(buffer.baseAddress, count)
        else { return nil }
        defer { unsafe BIO_free(memory) }
        var found: [CertificateSummary] = []
        while let certificate = unsafe PEM_read_bio_X509(memory, nil, { _, _, _, _ in 0 }, nil) {
          defer { unsafe X509_free(certificate) }
          guard let summary = unsafe CertificateSummary(certificate) else { return nil }
          found.append(summary)
        }
        // The end of the text shows as PEM_R_NO_START_LINE (108); the reason is the low 23 bits (ERR_GET_REASON).
        return ERR_peek_last_error() & 0x7F_FFFF == 108 ? found : nil
      }
    }
    guard let found, !found.isEmpty else { throw .malformedPEM }
    return found
  }

  /// `certificate` is borrowed for the call.
  private init?(_ certificate: OpaquePointer) {
    guard let notBefore = unsafe Self.time(X509_get0_notBefore(certificate)),
      let notAfter = unsafe Self.time(X509_get0_notAfter(certificate))
    else { return nil }
    self.notBefore = notBefore
    self.notAfter = notAfter
    subject = unsafe Self.subject(of: certificate)
  }

  private static func time(_ encoded: UnsafePointer<ASN1_TIME>?) -> UnixTime? {
    var parts = unsafe tm()
    guard let encoded = unsafe encoded, unsafe ASN1_TIME_to_tm(encoded, &parts) == 1 else { return nil }
    return UnixTime(milliseconds: unsafe Int64(timegm(&parts)) * 1000)
  }

  private static func subject(of certificate: OpaquePointer) -> String {
    unsafe String(unsafeUninitializedCapacity: 512) {
      // As long as the buffer is, and borrowed for the call.
      unsafe Int(portcullis_x509_subject(certificate, $0.baseAddress, Int32($0.count)))
    }
  }
}
