/// How a client trusts a gate and shows itself: OpenSSL's context for outgoing TLS 1.2 and 1.3.
package import Bytes
internal import COpenSSL

/// What makes a server's certificate good.
package enum ServerTrust: Equatable, Sendable {
  /// The system's certificate authorities, and the URL's host in the certificate.
  case system
  /// The authorities in a PEM file, and the URL's host in the certificate.
  case authorities(path: String)
  /// SHA-256 of the certificate, whoever issued it for whatever name.
  case pin(Bytes32)
  /// SHA-256 of the SubjectPublicKeyInfo in the certificate (RFC 7469 §2.4): one of these, whoever issued it.
  case publicKeys([Bytes32])

  /// A pin from hexadecimal, with or without colons, in either case.
  package static func pin(fingerprint text: String) -> ServerTrust? {
    let digits = Array(text.lowercased().utf8.filter { $0 != UInt8(ascii: ":") })
    return Hex.decode(digits.span).flatMap { Bytes32($0) }.map { .pin($0) }
  }
}

/// A certificate of the client's own, in PEM files.
package struct ClientCertificate: Equatable, Sendable {
  package var certificatePath: String
  package var keyPath: String

  package init(certificatePath: String, keyPath: String) {
    self.certificatePath = certificatePath
    self.keyPath = keyPath
  }
}

@safe struct ClientTLSSettings: ~Copyable {
  let trust: ServerTrust
  /// Owned: made below, freed once in `deinit`; each connection's `SSL` holds a reference of its own.
  let context: OpaquePointer

  private init(owning context: OpaquePointer, _ trust: ServerTrust) {
    unsafe self.context = unsafe context
    self.trust = trust
  }

  deinit { unsafe SSL_CTX_free(context) }

  static func make(
    _ trust: ServerTrust, _ certificate: ClientCertificate?
  ) throws(GateClientError) -> ClientTLSSettings {
    ERR_clear_error()
    guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { throw .tlsSettings(openSSLReason()) }
    let settings = unsafe ClientTLSSettings(owning: context, trust)
    try unsafe check("minimum version", portcullis_context_set_minimum(context, Int32(TLS1_2_VERSION)) == 1)
    switch trust {
    case .system:
      try unsafe check("system authorities", SSL_CTX_set_default_verify_paths(context) == 1)
      unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    case .authorities(let path):
      try unsafe check(path, SSL_CTX_load_verify_file(context, path) == 1)
      unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    case .pin, .publicKeys:
      // The pin is compared once the handshake is done, before anything is sent.
      unsafe SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
    }
    if let certificate {
      let path = certificate.certificatePath
      try unsafe check(path, SSL_CTX_use_certificate_chain_file(context, path) == 1)
      let keyPath = certificate.keyPath
      try unsafe check(keyPath, SSL_CTX_use_PrivateKey_file(context, keyPath, X509_FILETYPE_PEM) == 1)
    }
    return settings
  }

  /// For a look at a server: nothing that it shows ends the handshake, and these versions alone are offered, by their
  /// numbers on the wire. The verdict on its certificate is made all the same.
  static func looking(
    _ trust: ServerTrust, _ versions: ClosedRange<UInt16>
  ) throws(GateClientError) -> ClientTLSSettings {
    let settings = try make(trust, nil)
    let context = unsafe settings.context
    unsafe SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
    try unsafe check(
      "versions",
      portcullis_context_set_minimum(context, Int32(versions.lowerBound)) == 1
        && portcullis_context_set_maximum(context, Int32(versions.upperBound)) == 1)
    // OpenSSL speaks those before 1.2 on its lowest level alone.
    if versions.lowerBound < TLS1_2_VERSION {
      try unsafe check("ciphers", SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0") == 1)
    }
    return settings
  }

  private static func check(_ what: String, _ succeeded: Bool) throws(GateClientError) {
    if !succeeded { throw .tlsSettings("\(what): \(openSSLReason())") }
  }
}

/// How the last call of OpenSSL on this thread failed; its error queue is left empty.
func openSSLReason() -> String {
  // The text is a constant of the library, copied at once.
  guard let text = unsafe ERR_reason_error_string(portcullis_take_error()) else { return "no reason given" }
  return unsafe String(cString: text)
}
