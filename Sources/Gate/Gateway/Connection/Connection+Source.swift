/// Whose connection or request it is, and what is counted for that address (docs/protocol-connections.md, "Proxies in front";
/// docs/settings.md).
///
/// | peer | the source is | `HANDSHAKE_RATE` takes | `MAX_CONNECTIONS_PER_ADDRESS` counts |
/// |---|---|---|---|
/// | a client | the socket's peer | at `accept` | from `accept` to the end |
/// | a proxy with PROXY headers | named by the header | once it is read | from the header to the end |
/// | a proxy with `X-Forwarded-For` | named by each request | nothing | an upgrade, from its request to its end |
///
/// A proxy of the last kind keeps connections open and sends the requests of many clients over each: they are
/// its own, so neither they nor their handshakes are counted for anybody. What one client may do through it
/// is bounded by the rates of its requests, and by the count of its sessions. A header that names nobody
/// (LOCAL, UNKNOWN), or a request without the field, counts for the proxy's own address.
internal import Addresses
internal import Admission
internal import Bytes
internal import Configuration
internal import HTTPWire
internal import ProxyProtocol
internal import Requests
internal import Sockets
internal import Telemetry

/// How far the PROXY header in front of TLS has come.
enum ProxyHeaderReading {
  case needMore
  case header(ProxyHeader)
  case failed(ProxyHeaderFailure)
}

extension Connection {
  /// Who is asking: in the log, in the list of sessions, and towards the game. Port 0 stands for an unknown
  /// one.
  var source: Endpoint {
    switch stage {
    case .exchange(let exchange): exchange.client ?? peer
    case .admission(let admission): admission.exchange.client ?? peer
    case .proxyHeader, .handshake, .session, .lingering, .closed: peer
    }
  }

  /// Who pays for it: the source's address, or for IPv6 its /64.
  var payer: IPAddress { source.address.accountingPrefix }

  // MARK: PROXY header

  /// Reads on in the header; with its last byte the handshake begins, under the same deadline.
  func readProxyHeader() {
    switch loop.scratch.withBytes({ bytes in client.takeProxyHeader(&bytes) }) {
    case .needMore: break
    case .header(let header): begin(header)
    case .failed(let failure):
      client.socket.resetOnClose()
      handshakeFailed(.proxyHeader(failure))
    }
  }

  private func begin(_ header: ProxyHeader) {
    if case .relayed(let source, let destination) = header {
      peer = source
      self.destination = destination
    }
    guard loop.mayShakeHands(peer.address) else {
      counters.closedAtDoor.add()
      counters.limited(.handshakeRate)
      loop.shared.log.turnedAway(peer, reason: "handshake_rate")
      client.socket.resetOnClose()
      return close()
    }
    isOverLimit = !enterCount()
    move(to: .handshake)
    // The ClientHello may have come with the header.
    advanceHandshake()
  }

  // MARK: X-Forwarded-For

  /// Notes whose request this is; from anybody but a trusted proxy the field means nothing.
  func readForwardedFor(_ head: RequestHead, _ exchange: Exchange) throws(ForwardedFor.Malformed) {
    guard let value = head.valueBytes("X-Forwarded-For") else { return }
    guard role == .proxyWithFields else { return counters.strangersForwardedFor.add() }
    let proxies = loop.settings.proxies
    exchange.client = try ForwardedFor.client(in: value.span) { address in proxies.isTrusted(address) }
  }

  // MARK: Count

  /// Counts one more connection of the payer's; false, and the connection is counted all the same, when that
  /// is more than one address may have.
  func enterCount() -> Bool {
    isCounted = true
    return loop.shared.addressCounts.enter(payer) <= loop.settings.limits.connectionsPerAddress
  }

  /// To be called while the source is still the one that was counted.
  func leaveCount() {
    guard isCounted else { return }
    isCounted = false
    loop.shared.addressCounts.leave(payer)
  }
}
