/// The fixed sets by which a loop counts, each a label's values in docs/metrics.md.
package import Admission
internal import Glibc
internal import Sockets
package import System

/// Why no TLS session came about.
package enum HandshakeFailure: Int, CaseIterable {
  /// The peer went away.
  case closed
  case timeout
  /// The PROXY header in front.
  case proxyHeader
  /// The peer's TLS sent an alert: it does not like our certificate, or what we offer.
  case alert
  /// More messages or bytes than a handshake takes.
  case excess
  case memory
  /// What came is no TLS, or none that we speak.
  case `protocol`

  var word: String {
    switch self {
    case .closed: "closed"
    case .timeout: "timeout"
    case .proxyHeader: "proxy_header"
    case .alert: "alert"
    case .excess: "excess"
    case .memory: "memory"
    case .protocol: "protocol"
    }
  }
}

/// Requests of which each comes to one of a few ends.
package enum CountedRequest {
  case upgrade
  case registration
}

/// The stages of a connection, without what belongs to each.
package enum ConnectionState: Int, CaseIterable {
  case proxyHeader
  case handshake
  case exchange
  case admission
  case session
  case lingering

  package var word: String {
    switch self {
    case .proxyHeader: "proxy_header"
    case .handshake: "handshake"
    case .exchange: "exchange"
    case .admission: "admission"
    case .session: "session"
    case .lingering: "lingering"
    }
  }
}

/// How many sessions a loop has: with a connection and without one, by what they were let in by.
package final class SessionCounts: Sendable {
  /// In the order in which they stand.
  package static let credentials = ["assertion", "client_certificate", "device", "none"]
  private let attached = credentials.map { _ in Counter() }
  private let detached = credentials.map { _ in Counter() }

  package func counter(isAttached: Bool, credential: Int) -> Counter {
    isAttached ? attached[credential] : detached[credential]
  }
}

extension Credential {
  /// Its place among `SessionCounts.credentials`.
  package var place: Int {
    switch self {
    case .assertion: 0
    case .clientCertificate: 1
    case .device: 2
    case .none: 3
    }
  }
}

extension Counters {
  package func noteRefused(_ request: CountedRequest?) {
    switch request {
    case .upgrade: admissionsRefused.add()
    case .registration: registrationsRefused.add()
    case nil: break
    }
  }

  /// The peer has gone before its answer.
  package func noteLeft(_ request: CountedRequest?) {
    switch request {
    case .upgrade: admissionsLeft.add()
    case .registration: registrationsLeft.add()
    case nil: break
    }
  }

  package func noteGameFailure(_ error: SystemError) {
    switch error.number {
    case ECONNREFUSED: gameRefused.add()
    case ETIMEDOUT: gameTimedOut.add()
    default: gameFailed.add()
    }
  }

  /// Counts an end that came because one side took nothing for `WRITE_STALL_TIMEOUT`.
  package func noteStall(_ end: ConnectionEnd) {
    switch end {
    case .playerStalled: stallsOfPlayer.add()
    case .session(.gameStalled): stallsOfGame.add()
    case .playerClosed, .playerVanished, .violation, .tlsExcess, .left, .takenOver, .restarting, .malformed,
      .silent, .session:
      break
    }
  }
}
