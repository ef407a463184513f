/// The names of connections and sessions, as the log and the operator's pages have them.
internal import HTTPWire
internal import Requests
internal import Scheduling
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
