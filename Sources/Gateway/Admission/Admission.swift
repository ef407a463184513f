/// An upgrade that was accepted so far and waits for its `101`: what the wait is about, and what the 101 will say.
internal import Bytes
internal import KeyStore
internal import System
internal import WebSocketWire

final class Admission {
  let upgrade: UpgradeRequest
  /// How the peer got here.
  let credential: Credential
  var machine: AdmissionMachine
  let startedAt: MonotonicTime
  /// Which of the game's addresses is being tried.
  var attempt = 0
  /// When the wait for the game is over, all addresses together.
  var connectDeadline = MonotonicTime(nanoseconds: .max)

  init(upgrade: UpgradeRequest, credential: Credential, startedAt: MonotonicTime) {
    self.upgrade = upgrade
    self.credential = credential
    self.startedAt = startedAt
    machine = AdmissionMachine(commits: credential.keyID != nil)
  }
}

/// What a peer is let in by.
enum Credential: Equatable, Sendable {
  case assertion(KeyIdentifier)
  case clientCertificate(subject: String)
  /// `REQUIRE_APP_AUTH=false`.
  case none

  var keyID: KeyIdentifier? {
    if case .assertion(let keyID) = self { return keyID }
    return nil
  }

  /// The word for the log.
  var word: String {
    switch self {
    case .assertion: "assertion"
    case .clientCertificate: "client_certificate"
    case .none: "none"
    }
  }
}
