/// The names of connections, sessions and requests about devices; of the last the client's own, or a new one.
internal import Bytes
internal import HTTPWire
internal import Scheduling
internal import System
internal import Telemetry

extension Connection {
  /// Of the request about devices that is being served.
  var trace: TraceID? {
    if case .exchange(let exchange) = stage { return exchange.trace }
    return nil
  }

  var peerName: PeerName {
    PeerName(loop: loop.index, number: token.number, source: source, trace: trace)
  }
}

extension GameSession {
  var name: SessionName { SessionName(number: number, source: source, credential: credential) }
}

extension TraceID {
  init(_ head: RequestHead, entropy: any Entropy) {
    guard let trace = TraceID(head) ?? TraceID(Hex.encode(entropy.bytes(8).span)) else {
      fatalError("hexadecimal digits are a token")
    }
    self = trace
  }
}
