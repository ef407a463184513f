/// Why a TLS session failed: a cause to decide and count by, from which the log's word is made.
internal import COpenSSL
package import System

package enum TLSFailure: Equatable, Sendable {
  /// The peer's FIN came before the handshake's end.
  case peerClosed
  case receive(SystemError)
  /// An alert of the peer's (RFC 8446 §6), as OpenSSL calls it.
  case alert(reason: String)
  case excess(TLSExcess)
  case memory
  /// What came is no TLS, or none that is spoken here; as OpenSSL calls it.
  case `protocol`(reason: String)

  /// The log's word.
  package var reason: String {
    switch self {
    case .peerClosed: "the peer closed"
    case .receive(let error): error.description
    case .alert(let reason), .protocol(let reason): reason
    case .excess(let excess): excess.rawValue
    case .memory: "no memory"
    }
  }

  /// Takes OpenSSL's last error.
  static func takeError() -> TLSFailure {
    let (code, reason) = TLSServerContext.takeError()
    // OpenSSL gives a received alert the reason SSL_AD_REASON_OFFSET and its number (ssl/record, since 0.9.7).
    let isAlert = ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) >= SSL_AD_REASON_OFFSET
    return isAlert ? .alert(reason: reason) : .protocol(reason: reason)
  }
}
