/// The paths that are not the game's (docs/protocol.md): any other is for WebSocket upgrades.
public enum EndpointPath {
  /// GET: a challenge, good for one registration or one assertion.
  public static let challenge = "/attest/challenge"
  /// POST: an attestation for a new key.
  public static let register = "/attest/register"
  /// Whatever begins so is an endpoint, or nothing.
  public static let attestPrefix = "/attest/"
  /// GET: whether sessions are let in.
  public static let health = "/healthz"
}
