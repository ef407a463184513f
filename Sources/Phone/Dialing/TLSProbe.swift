/// One handshake, to learn what a server shows to whoever comes: nothing is sent after it, and nothing is trusted.
internal import Bytes
internal import COpenSSL

package struct TLSProbe: Sendable {
  /// As the protocol numbers them (RFC 8446 §4.2.1).
  package static let tls10: UInt16 = 0x0301
  package static let tls11: UInt16 = 0x0302
  package static let tls12: UInt16 = 0x0303
  package static let tls13: UInt16 = 0x0304

  /// The one that was agreed on.
  package let version: UInt16
  /// Why the certificate is not vouched for; nil when it is, for the URL's host.
  package let complaint: String?
  /// Where it is no use to look for missing authorities.
  package let isForAnotherName: Bool
  package let hasExpired: Bool
  package let isNotYetValid: Bool
  /// What the server has sent, its own certificate first: PEM, at most `mostCertificates`.
  package let chainPEM: [UInt8]

  private static let mostCertificates = 10

  package init(
    of url: GateURL, at address: String, trust: ServerTrust, versions: ClosedRange<UInt16> = tls12...tls13,
    timeout: Duration
  ) throws(GateClientError) {
    let settings = try ClientTLSSettings.looking(trust, versions)
    let deadline = Deadline.after(timeout)
    var connection = try TLSConnection.open(to: url, at: address, settings, deadline)
    version = unsafe UInt16(truncatingIfNeeded: SSL_version(connection.ssl))
    let verdict = unsafe SSL_get_verify_result(connection.ssl)
    // The text is a constant of the library, copied at once.
    let words = unsafe String(cString: X509_verify_cert_error_string(verdict))
    complaint = verdict == Int(X509_V_OK) ? nil : words
    isForAnotherName = [X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH].contains(Int32(verdict))
    hasExpired = Int32(verdict) == X509_V_ERR_CERT_HAS_EXPIRED
    isNotYetValid = Int32(verdict) == X509_V_ERR_CERT_NOT_YET_VALID
    chainPEM = connection.chainPEM(atMost: Self.mostCertificates)
    connection.closeNotify(deadline)
  }
}

extension TLSConnection {
  fileprivate func chainPEM(atMost limit: Int) -> [UInt8] {
    // The stack and what is in it belong to the connection.
    guard let chain = unsafe SSL_get_peer_cert_chain(ssl) else { return [] }
    var text: [UInt8] = []
    let count = unsafe Int(portcullis_x509_stack_count(chain))
    for index in 0..<max(0, min(count, limit)) {
      let certificate = unsafe portcullis_x509_stack_value(chain, Int32(index))
      // Asked first how many bytes there are, the encoder writes as many.
      let count = unsafe i2d_X509(certificate, nil)
      guard count > 0 else { break }
      var encoding = [UInt8](repeating: 0, count: Int(count))
      let written = unsafe encoding.withUnsafeMutableBufferPointer { buffer in
        var next = buffer.baseAddress
        return unsafe i2d_X509(certificate, &next)
      }
      guard written == count else { break }
      text += Array("-----BEGIN CERTIFICATE-----\n".utf8)
      var rest = Array(Base64.encode(encoding.span).utf8)[...]
      while !rest.isEmpty {
        text += rest.prefix(64) + [UInt8(ascii: "\n")]
        rest = rest.dropFirst(64)
      }
      text += Array("-----END CERTIFICATE-----\n".utf8)
    }
    return text
  }
}
