/// A session as the operator sees it.
package import Addresses
package import Bytes
internal import System

package struct SessionDescription: Sendable {
  package let name: String
  package let peer: Endpoint
  /// `assertion`, `client_certificate` or `none`.
  package let credential: String
  package let keyID: KeyIdentifier?
  /// Of the client certificate, by which it was admitted.
  package let subject: String?
  package let duration: Duration
  package let bytesFromPlayer: UInt64
  package let bytesFromGame: UInt64
}

extension Connection {
  /// Nil before `101`.
  var sessionDescription: SessionDescription? {
    guard let credential = session?.credential, let startedAt = session?.startedAt else { return nil }
    var subject: String?
    if case .clientCertificate(let name) = credential { subject = name }
    return SessionDescription(
      name: name, peer: peer, credential: credential.word, keyID: credential.keyID, subject: subject,
      duration: loop.now - startedAt, bytesFromPlayer: session?.bytesFromPlayer ?? 0,
      bytesFromGame: session?.bytesFromGame ?? 0)
  }
}
