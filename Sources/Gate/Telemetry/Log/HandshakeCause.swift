/// Why a connection never came to its first request: what the counters count, and from it the log's word.
package import ProxyProtocol
package import System
package import TLS

package enum HandshakeCause {
  case timeout
  /// Less memory can be had than a handshake may take.
  case memory
  case proxyHeader(ProxyHeaderFailure)
  case tls(TLSFailure)

  /// What it counts as.
  package var failure: HandshakeFailure {
    switch self {
    case .timeout: .timeout
    case .memory, .tls(.memory): .memory
    case .proxyHeader(.timeout), .proxyHeader(.cut), .proxyHeader(.refused): .proxyHeader
    case .proxyHeader(.peerClosed), .proxyHeader(.vanished), .proxyHeader(.receive), .tls(.peerClosed),
      .tls(.receive):
      .closed
    case .tls(.alert): .alert
    case .tls(.excess): .excess
    case .tls(.protocol): .protocol
    }
  }

  /// The step that the log names.
  package var step: String {
    switch self {
    case .timeout: "timeout"
    case .memory: "memory"
    case .proxyHeader(let failure): failure.step
    case .tls(let failure): failure.reason
    }
  }
}

/// Why no PROXY header was read.
package enum ProxyHeaderFailure {
  case timeout
  /// The peer closed within it.
  case cut
  case refused(ProxyHeaderViolation)
  /// The peer closed before its first byte.
  case peerClosed
  /// A header that had been seen could not be received.
  case vanished
  case receive(SystemError)

  package var step: String {
    switch self {
    case .timeout: "proxy_header_timeout"
    case .cut: "proxy_header_cut"
    case .refused(let violation): "proxy_header_\(violation.rawValue)"
    case .peerClosed: "the peer closed"
    case .vanished: "recv"
    case .receive(let error): error.description
    }
  }
}
