/// The limits by which connections are closed and requests refused, each a label's value in docs/metrics.md.

/// What somebody had too much of.
package enum RateLimit: Int, CaseIterable {
  case maxConnections
  case handshakeRate
  case maxPending
  case connectionsPerAddress
  case challengeRate
  case registerRate
  case deviceRate
  case serviceRate
  /// The registry's own, such as new devices of an address in an hour.
  case registry

  /// The step that the log names, unless a limit has several.
  package var word: String {
    switch self {
    case .maxConnections: "max_connections"
    case .handshakeRate: "handshake_rate"
    case .maxPending: "max_pending"
    case .connectionsPerAddress: "connections_per_address"
    case .challengeRate: "challenge_rate"
    case .registerRate: "register_rate"
    case .deviceRate: "device_rate"
    case .serviceRate: "service_rate"
    case .registry: "registry"
    }
  }
}
