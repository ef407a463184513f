/// What a server has shown, and whether the phone would trust it; and what the phone shows of itself.
internal import COpenSSL

/// A SecTrust without Security.
package final class PeerTrust: Sendable {
  /// In DER, the server's own first.
  package let chain: [[UInt8]]
  /// A name or an address that it has to be for.
  package let host: String
  /// Of the phone.
  package let roots: [[UInt8]]

  package init(chain: [[UInt8]], host: String, roots: [[UInt8]]) {
    self.chain = chain
    self.host = host
    self.roots = roots
  }

  /// Nil: it is trusted. Else Apple's code of what is wrong.
  package func verdict() -> URLError.Code? {
    guard let first = chain.first, let leaf = unsafe Self.parse(first) else {
      return .serverCertificateUntrusted
    }
    defer { unsafe X509_free(leaf) }
    // All of them are given back before the call returns; the stack holds references of its own.
    guard let others = unsafe Self.stack(chain.dropFirst()), let store = unsafe X509_STORE_new(),
      let context = unsafe X509_STORE_CTX_new()
    else { fatalError("out of memory") }
    defer {
      unsafe X509_STORE_CTX_free(context)
      unsafe X509_STORE_free(store)
      unsafe portcullis_x509_stack_pop_free(others)
    }
    for root in roots {
      guard let root = unsafe Self.parse(root) else { continue }
      unsafe X509_STORE_add_cert(store, root)
      unsafe X509_free(root)
    }
    unsafe X509_STORE_CTX_init(context, store, leaf, others)
    let parameters = unsafe X509_STORE_CTX_get0_param(context)
    if unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, host) != 1 {
      unsafe X509_VERIFY_PARAM_set1_host(parameters, host, 0)
    }
    let isGood = unsafe X509_verify_cert(context) == 1
    let error = unsafe X509_STORE_CTX_get_error(context)
    ERR_clear_error()
    if isGood { return nil }
    switch error {
    case X509_V_ERR_CERT_HAS_EXPIRED: return .serverCertificateHasBadDate
    case X509_V_ERR_CERT_NOT_YET_VALID: return .serverCertificateNotYetValid
    default: return .serverCertificateUntrusted
    }
  }

  package static func parse(_ der: [UInt8]) -> OpaquePointer? {
    // Reads the array, which outlives the call, and keeps no pointer into it.
    unsafe der.withUnsafeBufferPointer { bytes in
      var next = bytes.baseAddress
      return unsafe d2i_X509(nil, &next, bytes.count)
    }
  }

  package static func encode(_ certificate: OpaquePointer) -> [UInt8] {
    // Asked first how many bytes there are, the encoder writes as many.
    let count = unsafe i2d_X509(certificate, nil)
    var bytes = [UInt8](repeating: 0, count: Int(max(0, count)))
    unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      var next = buffer.baseAddress
      _ = unsafe i2d_X509(certificate, &next)
    }
    return bytes
  }

  private static func stack(_ chain: ArraySlice<[UInt8]>) -> OpaquePointer? {
    guard let stack = unsafe portcullis_x509_stack_new() else { return nil }
    for der in chain {
      guard let certificate = unsafe parse(der) else { continue }
      _ = unsafe portcullis_x509_stack_push(stack, certificate)
    }
    return unsafe stack
  }
}

/// A SecIdentity without Security: a certificate with what stands above it, and its key as PKCS #8, all in DER.
package struct ShownIdentity: Sendable {
  package let chain: [[UInt8]]
  package let key: [UInt8]

  package init(chain: [[UInt8]], key: [UInt8]) {
    self.chain = chain
    self.key = key
  }
}
