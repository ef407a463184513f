/// What the gate says of peers at a port of the admin listener, and is told of them (docs/console.md, "Admin listener").
package import Addresses
package import Time

package protocol AdminArrivals: Sendable {
  /// Takes one handshake of the peer's address; false beyond `HANDSHAKE_RATE`.
  func mayShakeHands(_ peer: Endpoint, now: MonotonicTime) -> Bool
  func note(turnedAway peer: Endpoint, because reason: AdminTurningAway)
}

/// Why a peer is closed without an answer; the raw value is the word for the log.
package enum AdminTurningAway: String, Sendable {
  case handshakeRate = "admin_handshake_rate"
  /// Its place is needed: its address has too many, or the listener.
  case places = "admin_places"
}
