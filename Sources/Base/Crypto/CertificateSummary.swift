/// What an operator wants to know of certificates in a PEM file: whose they are and when they hold. Nothing is verified.
internal import COpenSSL
internal import Glibc
package import Time

package struct CertificateSummary: Equatable, Sendable {
  /// RFC 2253, as OpenSSL writes it; the words of the certificate's maker.
  package let subject: String
  /// Of hosts, as the certificate has them, such as `*.example.org`; those alone that can be names of hosts.
  package let hosts: [String]
  package let notBefore: UnixTime
  package let notAfter: UnixTime

  /// With less than this left of its time, a certificate is to be renewed.
  package static let renewalDays: Int64 = 21

  /// All certificates of a PEM text, in their order.
  package static func all(inPEM text: Span<UInt8>) throws(CertificateError) -> [CertificateSummary] {
    let found = withCleanErrorQueue { () -> [CertificateSummary]? in
      guard let reader = PEMReader(text) else { return nil }
      var found: [CertificateSummary] = []
      while let certificate = reader.nextCertificate() {
        guard let summary = CertificateSummary(certificate) else { return nil }
        found.append(summary)
      }
      return reader.hasEnded ? found : nil
    }
    guard let found, !found.isEmpty else { throw .malformedPEM }
    return found
  }

  private init?(_ certificate: borrowing Certificate) {
    guard let notBefore = unsafe Self.time(X509_get0_notBefore(certificate.handle)),
      let notAfter = unsafe Self.time(X509_get0_notAfter(certificate.handle))
    else { return nil }
    self.notBefore = notBefore
    self.notAfter = notAfter
    subject = Self.subject(of: certificate)
    hosts = Self.hosts(of: certificate)
  }

  private static func time(_ encoded: UnsafePointer<ASN1_TIME>?) -> UnixTime? {
    var parts = unsafe tm()
    guard let encoded = unsafe encoded, unsafe ASN1_TIME_to_tm(encoded, &parts) == 1 else { return nil }
    return UnixTime(milliseconds: unsafe Int64(timegm(&parts)) * 1000)
  }

  private static func hosts(of certificate: borrowing Certificate) -> [String] {
    var hosts: [String] = []
    // More than any certificate has that a server can show.
    for index in 0..<1000 {
      var name = [UInt8](repeating: 0, count: 255)
      // Writes no more than the array has, and borrows the certificate for the call.
      let count = unsafe name.withUnsafeMutableBufferPointer { buffer in
        unsafe Int(
          portcullis_x509_dns_name(certificate.handle, Int32(index), buffer.baseAddress, Int32(buffer.count)))
      }
      if count < 0 { break }
      let bytes = name.prefix(count)
      if count > 0, bytes.allSatisfy(isOfHostName) { hosts.append(String(decoding: bytes, as: UTF8.self)) }
    }
    return hosts
  }

  private static func isOfHostName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
      UInt8(ascii: "*"):
      true
    default: false
    }
  }

  private static func subject(of certificate: borrowing Certificate) -> String {
    unsafe String(unsafeUninitializedCapacity: 512) {
      // As long as the buffer is, and borrowed for the call.
      unsafe Int(portcullis_x509_subject(certificate.handle, $0.baseAddress, Int32($0.count)))
    }
  }
}
