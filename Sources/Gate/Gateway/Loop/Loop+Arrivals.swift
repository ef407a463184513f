/// PendingQueue at a loop's door: taken in, or closed before the handshake when a limit says so.
internal import Addresses
internal import Admission
internal import Configuration
internal import Scheduling
internal import Sockets
internal import System
internal import Telemetry
internal import TLS

extension Loop {
  /// Takes a new peer in, or closes it before the handshake when a limit says so.
  func admit(_ arrival: consuming Arrival) {
    let peer = arrival.peer
    let socket = arrival.socket
    let limits = settings.limits
    let role = settings.role(of: peer.address)
    counters.accepted.add()
    guard role != .stranger else {
      counters.closedAtDoor.add()
      shared.log.turnedAway(peer, reason: "untrusted_peer")
      socket.resetOnClose()
      return
    }
    guard shared.occupancy.enter(limit: limits.connections) else {
      counters.closedAtDoor.add()
      counters.limited(.maxConnections)
      shared.log.turnedAway(peer, reason: "max_connections")
      socket.resetOnClose()
      return
    }
    guard role != .client || mayShakeHands(peer.address) else {
      counters.closedAtDoor.add()
      counters.limited(.handshakeRate)
      shared.occupancy.leave()
      shared.log.turnedAway(peer, reason: "handshake_rate")
      socket.resetOnClose()
      return
    }
    guard let tls = TLSSession.accepting(on: socket, context: settings.tls, outbox: outbox) else {
      shared.occupancy.leave()
      return
    }
    let token = connections.reserve()
    let connection = Connection(loop: self, token: token, socket: socket, tls: tls, peer: peer, role: role)
    if role == .client { connection.isOverLimit = !connection.enterCount() }
    connections.insert(connection, at: token)
    let pending = shared.pending.increment()
    do throws(SystemError) {
      try poller.add(connection.client.socket, token: token.rawValue)
    } catch {
      connection.close()
      return
    }
    pendingQueue.entered(connection, in: connections)
    if pending > limits.pending, let oldest = pendingQueue.oldestPending(in: connections) {
      turn(of: oldest) { $0.evict() }
    }
  }

  /// Nil while there is memory to let somebody in.
  func memoryShortage() -> SystemError? {
    memory.shortage(at: now)
  }

  /// Takes a token for one handshake of `address` (docs/settings.md, `HANDSHAKE_RATE`).
  func mayShakeHands(_ address: IPAddress) -> Bool {
    shared.handshakeRates.take(address.accountingPrefix, settings.handshakeAllowance, now: now) == nil
  }
}
