/// Whether a server is the one that a client has been told to expect, by its certificate or by the key in it.
internal import Bytes
internal import COpenSSL
internal import Crypto

extension TLSConnection {
  func checkPin(_ trust: ServerTrust) throws(GateClientError) {
    switch trust {
    case .system, .authorities: return
    case .pin(let expected):
      let actual = try certificateDigest()
      guard actual.equalsInConstantTime(expected) else {
        throw .notPinned("its certificate has the fingerprint \(actual.hex), not the pinned one")
      }
    case .publicKeys(let expected):
      let actual = try publicKeyDigest()
      guard expected.contains(where: actual.equalsInConstantTime) else {
        throw .notPinned("its key has the SHA-256 \(actual.hex), not a pinned one")
      }
    }
  }

  private func certificateDigest() throws(GateClientError) -> Bytes32 {
    guard let certificate = unsafe SSL_get0_peer_certificate(ssl) else { throw .untrusted("no certificate") }
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    // Writes at most EVP_MAX_MD_SIZE bytes and says how many.
    guard unsafe X509_digest(certificate, EVP_sha256(), &digest, &count) == 1,
      let actual = Bytes32(Array(digest.prefix(Int(count))))
    else { throw .untrusted(openSSLReason()) }
    return actual
  }

  private func publicKeyDigest() throws(GateClientError) -> Bytes32 {
    guard let certificate = unsafe SSL_get0_peer_certificate(ssl) else { throw .untrusted("no certificate") }
    // The key is the certificate's own, which belongs to the connection. Asked first how many bytes there are, the
    // encoder writes as many.
    let key = unsafe X509_get_X509_PUBKEY(certificate)
    let count = unsafe i2d_X509_PUBKEY(key, nil)
    guard count > 0 else { throw .untrusted(openSSLReason()) }
    var encoding = [UInt8](repeating: 0, count: Int(count))
    let written = unsafe encoding.withUnsafeMutableBufferPointer { buffer in
      var next = buffer.baseAddress
      return unsafe i2d_X509_PUBKEY(key, &next)
    }
    guard written == count else { throw .untrusted(openSSLReason()) }
    return SHA256.hash(encoding.span)
  }
}
