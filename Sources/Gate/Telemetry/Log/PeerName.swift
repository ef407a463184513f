/// How the log and the operator's pages name a connection and a session, and what else they say of every one.
package import Addresses
package import Admission
package import HTTPWire

package struct PeerName: Equatable, Sendable {
  /// Its loop.
  package let loop: Int
  /// Its slot there, with the generation.
  package let number: UInt64
  package let source: Endpoint
  /// What a request about devices is known by.
  package let trace: TraceID?

  package init(loop: Int, number: UInt64, source: Endpoint, trace: TraceID?) {
    self.loop = loop
    self.number = number
    self.source = source
    self.trace = trace
  }

  /// In the log and on the control socket: loop, slot and generation in hexadecimal.
  package var text: String { "\(loop)-\(String(number, radix: 16))" }
}

package struct SessionName: Sendable {
  /// The operator's name for it.
  package let number: UInt64
  /// Who plays, or has played last.
  package let source: Endpoint
  package let credential: Credential

  package init(number: UInt64, source: Endpoint, credential: Credential) {
    self.number = number
    self.source = source
    self.credential = credential
  }
}
