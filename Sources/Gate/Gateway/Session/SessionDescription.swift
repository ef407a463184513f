/// A session as the operator sees it.
package import Addresses
internal import Admission
package import Bytes
internal import Conversation
package import DeviceWire
internal import KeyStore
internal import PortcullisProtocol
internal import System
internal import Telemetry
internal import Time

package struct SessionDescription: Sendable {
  package enum State: String, Sendable {
    case attached
    /// Without a connection.
    case detached
  }

  let reference: SessionReference
  /// What it is closed by: it outlives connections.
  package let number: UInt64
  package let state: State
  /// How long it has been so.
  package let since: Duration
  /// Of the connection that carries it, as the log has it; nil without one.
  package let name: String?
  /// Who plays, or has played last.
  package let peer: Endpoint
  /// `assertion`, `client_certificate` or `none`.
  package let credential: String
  package let keyID: KeyIdentifier?
  /// Which device came in by a key of its own.
  package let deviceID: DeviceID?
  /// Of the client certificate, by which it was admitted.
  package let subject: String?
  /// What was chosen for it; nil for none.
  package let subprotocol: String?
  /// It outlives the gate's process.
  package let isKept: Bool
  /// Of messages that are kept for the app.
  package let bufferedBytes: Int
  package let duration: Duration
  package let bytesFromPlayer: UInt64
  package let bytesFromGame: UInt64
}

extension GameSession {
  /// Nil before `101` and after the end.
  func description(on loop: Loop) -> SessionDescription? {
    guard state == .attached || state == .detached, !isOver else { return nil }
    var subject: String?
    if case .clientCertificate(let name, _, _) = credential { subject = name }
    return SessionDescription(
      reference: loop.reference(to: token), number: number, state: state == .attached ? .attached : .detached,
      since: loop.now - changedAt, name: connection?.peerName.text, peer: source, credential: credential.word,
      keyID: credential.keyID, deviceID: credential.deviceID, subject: subject,
      subprotocol: subprotocol?.rawValue, isKept: isSafe,
      bufferedBytes: game.conversation?.state.bufferedBytes ?? 0, duration: loop.now - startedAt,
      bytesFromPlayer: game.bytesFromPlayer, bytesFromGame: game.bytesFromGame)
  }
}
