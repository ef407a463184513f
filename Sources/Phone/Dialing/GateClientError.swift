/// Why an exchange with a gate failed, or what the gate answered instead of an upgrade.
package import System

package enum GateClientError: Error, Equatable, Sendable, CustomStringConvertible {
  case invalidURL(String)
  /// A name or value that HTTP does not allow.
  case invalidField(name: String)
  case unresolved(host: String, reason: String)
  /// No address of the host takes connections; the last one's error.
  case unreachable(SystemError)
  /// The connection broke.
  case broken(SystemError)
  case timedOut(during: String)
  /// Settings of TLS that OpenSSL does not take: a file that is no certificate, say.
  case tlsSettings(String)
  case handshake(String)
  /// The server's certificate: not vouched for, or for another name.
  case untrusted(String)
  /// The server's certificate, or its key, is not the pinned one.
  case notPinned(String)
  /// The server closed before its answer was whole.
  case closed
  case malformedResponse(String)
  /// Not 101: the whole answer.
  case refused(GateResponse)
  /// What the server sent breaks RFC 6455.
  case protocolViolation(String)
  case device(DeviceError)

  package var description: String {
    switch self {
    case .invalidURL(let text): "not a wss:// or https:// URL: \(text)"
    case .invalidField(let name): "not a field that HTTP allows: \(name)"
    case .unresolved(let host, let reason): "\(host) cannot be resolved: \(reason)"
    case .unreachable(let error): "cannot connect: \(error)"
    case .broken(let error): "connection lost: \(error)"
    case .timedOut(let during): "timed out during \(during)"
    case .tlsSettings(let reason): "TLS settings: \(reason)"
    case .handshake(let reason): "TLS handshake failed: \(reason)"
    case .untrusted(let reason), .notPinned(let reason): "the server is not trusted: \(reason)"
    case .closed: "the server closed the connection"
    case .malformedResponse(let reason): "not a proper HTTP response: \(reason)"
    case .refused(let response): "refused with \(response.status)\(response.errorCode.map { " \($0)" } ?? "")"
    case .protocolViolation(let reason): "the server broke the WebSocket protocol: \(reason)"
    case .device(let error): error.description
    }
  }
}
