/// The call to the game: its addresses tried in turn within one deadline, and what its outcome means (SPEC §3, §6).
internal import Addresses
internal import Bytes
internal import Configuration
internal import ProxyProtocol
internal import Sockets
internal import System

extension Connection {
  func connectBackend() {
    guard let admission else { return }
    if case .echo = loop.shared.backends.target { return perform(admission.machine.connected()) }
    admission.connectDeadline = loop.now + loop.settings.limits.backendConnectTimeout
    arm(at: admission.connectDeadline)
    tryNextAddress(admission)
  }

  private func tryNextAddress(_ admission: Admission) {
    let addresses = loop.shared.backends.addresses
    while admission.attempt < addresses.count {
      let address = addresses[admission.attempt]
      admission.attempt += 1
      do throws(SystemError) {
        let socket = try Socket.connecting(to: address, receiveBufferBytes: Self.backendReceiveBufferBytes)
        if case .internet = address { Self.tune(socket) }
        try loop.poller.add(socket, token: token.backend.rawValue)
        legs.backend = BackendLeg(socket: socket)
        return
      } catch {
        loop.shared.log.backendFailed(self, address: address.description, reason: error.description)
      }
    }
    loop.shared.backends.noteFailure(at: loop.now)
    perform(admission.machine.connectFailed())
  }

  /// The socket towards the game became writable, or failed.
  func backendReported(_ event: ReadyEvent) {
    guard stage == .admission, let admission, event.isWritable, legs.backend != nil else { return }
    if let failure = legs.backend?.socket.connectFailure() {
      let addresses = loop.shared.backends.addresses
      let address = admission.attempt <= addresses.count ? addresses[admission.attempt - 1].description : "?"
      loop.shared.log.backendFailed(self, address: address, reason: failure.description)
      dropBackend()
      return tryNextAddress(admission)
    }
    loop.shared.backends.noteSuccess()
    perform(admission.machine.connected())
  }

  /// The first bytes on the game's leg, where `BACKEND_PROXY_PROTOCOL` asks for them: who plays, and by which key.
  ///
  /// They leave before `101`, as a game that waits for them says nothing before; what the socket does not take at once
  /// stays in front of the player's bytes. False when the game has gone already.
  func introducePlayer(_ credential: Credential) -> Bool {
    let version = loop.settings.backendProxyProtocol
    guard version != .off, legs.backend != nil else { return true }
    let called =
      destination ?? legs.client.socket.localAddress()?.endpoint ?? Endpoint(address: .anyV4, port: 0)
    let header = ProxyHeader.relayed(source: source, destination: called)
    let bytes = version == .v1 ? header.encodedLine : header.encodedBinary(keyID: credential.keyID)
    guard case .failed(let error)? = legs.backend?.send(bytes.span) else { return true }
    loop.shared.backends.noteFailure(at: loop.now)
    loop.shared.log.backendFailed(
      self, address: loop.shared.backends.target.description, reason: error.description)
    return false
  }

  /// Closes the leg at once; a reset tells the game that this is no orderly end.
  func dropBackend() {
    legs.backend = nil
  }

  private static func tune(_ socket: borrowing Socket) {
    socket.set(.noDelay)
    socket.set(.sendBuffer(bytes: sendBufferBytes))
    socket.set(.keepAlive)
    socket.set(.keepAliveIdle(seconds: 60))
    socket.set(.keepAliveInterval(seconds: 15))
    socket.set(.keepAliveCount(4))
  }

  /// Bounds what the game can push into the kernel for a player who reads slowly (SPEC §7, `QUEUE_MAX_BYTES`).
  static let backendReceiveBufferBytes: Int32 = 64 * 1024

  /// Bounds what either leg's kernel buffer keeps for a peer that reads slowly, or takes much and acknowledges nothing:
  /// left alone, it grows to some MiB with what the peer has taken so far.
  static let sendBufferBytes: Int32 = 128 * 1024
}
