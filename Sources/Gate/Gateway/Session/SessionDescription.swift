/// A session as the operator sees it.
package import Addresses
package import Bytes
internal import KeyStore
internal import System

package struct SessionDescription: Sendable {
  let reference: SessionReference
  /// Of the connection that carries it, as the log has it.
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

extension GameSession {
  /// Nil before `101` and after the end.
  func description(at now: MonotonicTime) -> SessionDescription? {
    guard state == .attached, let connection else { return nil }
    var subject: String?
    if case .clientCertificate(let name, _) = credential { subject = name }
    return SessionDescription(
      reference: connection.loop.reference(to: token), name: connection.name, peer: connection.peer,
      credential: credential.word, keyID: credential.keyID,
      subject: subject, duration: now - startedAt, bytesFromPlayer: game.bytesFromPlayer,
      bytesFromGame: game.bytesFromGame)
  }
}
