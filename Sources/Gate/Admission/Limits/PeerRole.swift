/// What a new peer is to the gate, by `TRUSTED_PROXIES` and `LISTEN_PROXY_PROTOCOL` (docs/protocol-connections.md,
/// "Proxies in front").
package import Addresses
internal import Configuration

package enum PeerRole {
  /// A client itself: its address is whom everything is counted for.
  case client
  /// A trusted proxy whose connections each begin with a PROXY header.
  case proxyWithHeader
  /// A trusted proxy whose requests each name their client by `X-Forwarded-For`.
  case proxyWithFields
  /// Where a PROXY header is required, somebody who is not trusted to write one.
  case stranger
}

extension LoopSettings {
  package func role(of peer: IPAddress) -> PeerRole {
    let isTrusted = proxies.isTrusted(peer)
    if proxies.requiresProxyProtocol { return isTrusted ? .proxyWithHeader : .stranger }
    return isTrusted ? .proxyWithFields : .client
  }
}
