/// Certificates, what a server has shown, and who the app is: Security's types around Foundation's.
internal import COpenSSL
internal import Foundation

@available(iOS 2.0, *)
open class SecCertificate {
  let der: [UInt8]

  init(der: [UInt8]) {
    self.der = der
  }
}

@available(iOS 2.0, *)
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { Data(certificate.der) }

/// Nil for what is no certificate, or has no key that is known here.
@available(iOS 12.0, *)
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
  guard let parsed = unsafe PeerTrust.parse(certificate.der) else { return nil }
  defer { unsafe X509_free(parsed) }
  // The key belongs to the certificate. Asked first how many bytes there are, the encoder writes as many.
  let key = unsafe X509_get0_pubkey(parsed)
  let count = unsafe i2d_PublicKey(key, nil)
  guard count > 0 else { return nil }
  var encoding = [UInt8](repeating: 0, count: Int(count))
  unsafe encoding.withUnsafeMutableBufferPointer { buffer in
    var next = buffer.baseAddress
    _ = unsafe i2d_PublicKey(key, &next)
  }
  return SecKey(publicKey: encoding)
}

@available(iOS 2.0, *)
open class SecTrust {
  let peer: PeerTrust

  init(_ peer: PeerTrust) {
    self.peer = peer
  }
}

/// The server's own certificate first.
@available(iOS 15.0, *)
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
  trust.peer.chain.map { SecCertificate(der: $0) }
}

/// Of the server's own certificate.
@available(iOS 14.0, *)
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? {
  trust.peer.chain.first.flatMap { SecCertificateCopyKey(SecCertificate(der: $0)) }
}

@available(iOS 12.0, *)
public func SecTrustEvaluateWithError(
  _ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?
) -> Bool {
  guard let code = trust.peer.verdict() else { return true }
  // The caller's variable, for as long as the call lasts.
  unsafe error?.pointee = CFError(code: code.rawValue)
  return false
}

@available(iOS 2.0, *)
open class SecIdentity {
  let shown: ShownIdentity

  init(_ shown: ShownIdentity) {
    self.shown = shown
  }
}

/// Gives one item, with its identity.
@available(iOS 2.0, *)
public func SecPKCS12Import(
  _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
  guard let password = options[kSecImportExportPassphrase] as? String else { return errSecParam }
  var identity: ShownIdentity?
  let status = PKCS12File.open([UInt8](pkcs12_data), password, &identity)
  // The caller's variable, for as long as the call lasts.
  if let identity { unsafe items.pointee = [[kSecImportItemIdentity: SecIdentity(identity) as Any]] }
  return status
}

extension URLCredential {
  @available(iOS 3.0, *)
  public convenience init(
    identity: SecIdentity, certificates certArray: [Any]?, persistence: URLCredential.Persistence
  ) {
    self.init(.identity(identity.shown))
  }

  @available(iOS 2.0, *)
  public convenience init(trust: SecTrust) {
    self.init(.trust(trust.peer))
  }
}

extension URLProtectionSpace {
  /// Nil where the question is another one.
  @available(iOS 3.0, *)
  public var serverTrust: SecTrust? { peer.map { SecTrust($0) } }
}
