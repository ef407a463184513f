/// The TLS handshake's part of a connection's life: one step a turn, under a deadline, before anything else.
internal import Admission
internal import Configuration
internal import HTTPWire
internal import Requests
internal import Sockets
internal import System
internal import Telemetry
internal import Time
internal import TLS

extension Connection {
  func advanceHandshake() {
    if loop.memoryShortage() != nil { return handshakeFailed(.memory) }
    loop.noteHandshakeBegun(self)
    switch client.handshake() {
    case .wantsInput: break
    case .wantsTurn: loop.queue(self)
    case .finished:
      countHandshake()
      move(to: .exchange(Exchange(limits: loop.settings.headLimits)))
      arm(at: loop.now + loop.settings.limits.httpHeadTimeout)
      // The request may have come with the client's last handshake message.
      loop.queue(self)
    case .failed(let failure):
      if client.tls.beganWithProxyHeader { counters.unexpectedProxyHeaders.add() }
      // The alert that explains it may still go out.
      _ = client.flush(loop.outbox)
      handshakeFailed(.tls(failure))
    }
  }

  private func countHandshake() {
    switch (client.tls.isVersion13, client.tls.wasResumed) {
    case (true, false): counters.fullHandshakes13.add()
    case (true, true): counters.resumedHandshakes13.add()
    case (false, false): counters.fullHandshakes12.add()
    case (false, true): counters.resumedHandshakes12.add()
    }
  }

  func handshakeFailed(_ cause: HandshakeCause) {
    counters.failed(cause.failure)
    loop.shared.log.handshakeFailed(peerName, reason: cause.step)
    close()
  }

  /// Counts and logs that the connection ends for its TLS messages; the caller ends it.
  func noteExcess(_ excess: TLSExcess) {
    counters.tlsRefused.add()
    loop.shared.log.tlsRefused(peerName, excess)
  }

  /// Closes a connection that is not admitted to make room for a newer one (docs/settings.md, `MAX_PENDING`).
  func evict() {
    counters.evicted.add()
    counters.limited(.maxPending)
    loop.shared.log.turnedAway(source, reason: "max_pending")
    client.socket.resetOnClose()
    close()
  }
}
