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

@available(iOS 12.0, *)
public func SecTrustEvaluateWithError(
  _ trust: SecTrust, _ error: UnsafeMutablePointer<(any Error)?>?
) -> Bool {
  guard let code = trust.peer.verdict() else { return true }
  // The caller's variable, for as long as the call lasts.
  unsafe error?.pointee = URLError(code)
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
