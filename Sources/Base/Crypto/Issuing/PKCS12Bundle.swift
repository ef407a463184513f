/// A private key with its certificates in one password-protected file (PKCS #12, RFC 7292), for an app
/// bundle.
///
/// PBES2 with AES-256-CBC and PBKDF2, and a MAC with SHA-256: what `SecPKCS12Import` reads since iOS 16. The
/// older 3DES and RC2 forms live in OpenSSL 3's legacy provider, which need not be installed.
internal import COpenSSL

package enum PKCS12Bundle {
  /// Rounds of key derivation for encryption and MAC: 2048 is OpenSSL's own default, which all readers
  /// accept.
  private static let iterations: Int32 = 2048

  package static func encode(
    _ key: borrowing SigningKey, _ certificate: IssuedCertificate, authorities: [IssuedCertificate],
    name: String,
    password: String
  ) throws(IssuingError) -> [UInt8] {
    ERR_clear_error()
    let own = try parse(certificate)
    guard let stack = unsafe portcullis_x509_stack_new() else { throw .failed("make PKCS #12") }
    defer { unsafe portcullis_x509_stack_pop_free(stack) }
    for authority in authorities {
      let parsed = try parse(authority)
      // The stack takes a reference of its own and gives it back in pop_free.
      guard unsafe X509_up_ref(parsed.handle) == 1 else { throw .failed("make PKCS #12") }
      guard unsafe portcullis_x509_stack_push(stack, parsed.handle) > 0 else {
        unsafe X509_free(parsed.handle)
        throw .failed("make PKCS #12")
      }
    }
    // PKCS12_create copies what it needs of its arguments; both strings outlive the call.
    let made = unsafe PKCS12_create(
      password, name, key.key, own.handle, stack, NID_aes_256_cbc, NID_aes_256_cbc, iterations, -1, 0)
    guard let bundle = unsafe made else { throw .failed("make PKCS #12") }
    defer { unsafe PKCS12_free(bundle) }
    guard unsafe PKCS12_set_mac(bundle, password, -1, nil, 0, iterations, EVP_sha256()) == 1 else {
      throw .failed("make PKCS #12")
    }
    return unsafe try encoded("make PKCS #12") { into in unsafe i2d_PKCS12(bundle, into) }
  }

  private static func parse(_ certificate: IssuedCertificate) throws(IssuingError) -> Certificate {
    do throws(CertificateError) {
      return try Certificate(der: certificate.der.span)
    } catch {
      throw .failed("read a certificate")
    }
  }
}
