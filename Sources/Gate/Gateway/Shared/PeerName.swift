/// How the log and the operator's pages name a connection and a session, and what else they say of every one.
internal import Addresses
internal import HTTPWire

struct PeerName: Equatable, Sendable {
  /// Its loop.
  let loop: Int
  /// Its slot there, with the generation.
  let number: UInt64
  let source: Endpoint
  /// What a request about devices is known by.
  let trace: TraceID?

  /// In the log and on the control socket: loop, slot and generation in hexadecimal.
  var text: String { "\(loop)-\(String(number, radix: 16))" }
}

struct SessionName: Sendable {
  /// The operator's name for it.
  let number: UInt64
  /// Who plays, or has played last.
  let source: Endpoint
  let credential: Credential
}
