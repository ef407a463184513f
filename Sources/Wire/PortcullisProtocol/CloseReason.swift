/// The reasons that the gate writes into a Close frame of its own accord (docs/protocol.md), with the codes they come
/// with.
public enum CloseReason: String, CaseIterable, Sendable {
  /// 1008.
  case keyRevoked = "key revoked"
  /// 1008: the oldest session of the key was closed for a newer one.
  case replaced = "replaced by a newer session"
  /// 1008.
  case closedByOperator = "closed by the operator"
  /// 1001: another connection will be let in by another gate, or by this one once it has started anew.
  case draining = "the gate is shutting down"
}
