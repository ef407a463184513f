/// OpenSSL's opinion on whether one certificate was issued by another (`X509_verify_cert` with a store of
/// one).
internal import COpenSSL
internal import System

/// One trusted certificate in a store of its own; any number of threads may use it at once.
///
/// A path can only be "certificate, this issuer": system roots are never consulted, nothing is fetched, and
/// depth follows from how often one asks. Time is not judged here: `X509_cmp_time` takes the second of
/// notAfter itself for too late, where RFC 5280 §4.1.2.5 includes it. Neither is purpose (leaves of 2026
/// carry an extended key usage of Apple's own), nor strict conformance (leaves carry no authority key
/// identifier).
@safe package final class CertificateIssuer: @unchecked Sendable {
  /// `X509_STORE*`: reference-counted and locked by OpenSSL, and not changed after `init`.
  private let store: OpaquePointer

  package init(_ certificate: borrowing Certificate) {
    guard let store = unsafe X509_STORE_new(), let parameters = unsafe X509_STORE_get0_param(store) else {
      fatalError("OpenSSL: X509_STORE_new failed")
    }
    // The store takes a reference of its own to the certificate.
    unsafe expectSuccess(X509_STORE_add_cert(store, certificate.handle), "X509_STORE_add_cert")
    // A partial chain, because the trusted certificate may be an intermediate one.
    let flags = UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_NO_CHECK_TIME)
    unsafe expectSuccess(X509_VERIFY_PARAM_set_flags(parameters, flags), "X509_VERIFY_PARAM_set_flags")
    unsafe expectSuccess(
      X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_ANY), "X509_VERIFY_PARAM_set_purpose")
    unsafe self.store = store
  }

  deinit {
    unsafe X509_STORE_free(store)
  }

  /// Throws unless this issuer's key signed `certificate` and the path of the two is acceptable to OpenSSL.
  package func verify(_ certificate: borrowing Certificate) throws(CertificateError) {
    defer { Thread.preemptionPoint() }
    let handle = unsafe certificate.handle
    try withCleanErrorQueue { () throws(CertificateError) in
      guard let context = unsafe X509_STORE_CTX_new() else {
        fatalError("OpenSSL: X509_STORE_CTX_new failed")
      }
      defer { unsafe X509_STORE_CTX_free(context) }
      unsafe expectSuccess(X509_STORE_CTX_init(context, store, handle, nil), "X509_STORE_CTX_init")
      guard unsafe X509_verify_cert(context) == 1 else {
        throw .notIssued(code: unsafe X509_STORE_CTX_get_error(context))
      }
      let count = unsafe portcullis_x509_stack_count(X509_STORE_CTX_get0_chain(context))
      guard count == 2 else { throw .notIssued(code: X509_V_ERR_CERT_CHAIN_TOO_LONG) }
    }
  }
}
