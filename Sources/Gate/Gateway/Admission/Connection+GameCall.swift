/// The call to the game: its addresses tried in turn within one deadline, and what its outcome means (docs/protocol-connections.md,
/// "The game's side").
internal import Addresses
internal import Admission
internal import Bytes
internal import Configuration
internal import ProxyProtocol
internal import Scheduling
internal import Sockets
internal import System
internal import Telemetry
internal import Time
internal import Upstream

/// Which of the game's addresses is being tried, and until when.
///
/// All of them together have `BACKEND_CONNECT_TIMEOUT`, and each its share of what is left: an address that never
/// answers does not hide a good one behind it. A refusal comes back at once and leaves its share to the next.
struct GameCall {
  private var addresses: [SocketAddress] = []
  private var next = 0
  private(set) var isUnderWay = false
  private var deadline = MonotonicTime.never

  /// Less than that is no fair try, however many addresses there are.
  static let shortestTry: Duration = .milliseconds(250)

  mutating func begin(_ addresses: [SocketAddress], until deadline: MonotonicTime) {
    self.addresses = addresses
    self.deadline = deadline
  }

  /// The next one to try and until when; nil when none is left, or no time.
  mutating func tryNext(now: MonotonicTime) -> (address: SocketAddress, until: MonotonicTime)? {
    isUnderWay = false
    guard next < addresses.count, now < deadline else { return nil }
    let share = (deadline - now) / (addresses.count - next)
    defer { next += 1 }
    isUnderWay = true
    return (addresses[next], min(deadline, now + max(share, Self.shortestTry)))
  }

  /// The one being tried has answered.
  mutating func succeeded() { isUnderWay = false }

  /// The one being tried.
  var current: SocketAddress? { next > 0 ? addresses[next - 1] : nil }

  /// The same for the log.
  var address: String { current?.description ?? "?" }
}

extension Connection {
  func callGame(_ admission: AdmissionAttempt) {
    if loop.shared.backends.failedRecently(now: loop.now), admission.credential.keyID == nil {
      return perform(admission.machine.connectFailed())
    }
    if case .echo = loop.shared.backends.target { return gameAnswered(admission) }
    admission.call.begin(
      loop.shared.backends.addresses, until: loop.now + loop.settings.limits.backendConnectTimeout)
    tryNextAddress(admission, failure: "backend_connect")
  }

  private func tryNextAddress(_ admission: AdmissionAttempt, failure: String) {
    while let (address, until) = admission.call.tryNext(now: loop.now) {
      do throws(SystemError) {
        let socket = try Socket.connecting(to: address, receiveBufferBytes: Self.backendReceiveBufferBytes)
        if case .internet = address { Self.tune(socket) }
        try loop.poller.add(socket, token: admission.session.token.rawValue)
        admission.session.game.leg = BackendLeg(socket: socket)
        arm(at: until)
        return
      } catch {
        counters.noteGameFailure(error)
        loop.shared.log.backendFailed(
          peerName, address: address.description, reason: error.description)
      }
    }
    loop.shared.backends.noteFailure(at: loop.now)
    perform(admission.machine.connectFailed(step: failure))
  }

  /// The socket towards the game became writable, or failed.
  func gameReported(_ event: ReadyEvent, _ admission: AdmissionAttempt) {
    guard event.isWritable, admission.call.isUnderWay, admission.session.game.leg != nil else { return }
    if let failure = admission.session.game.leg?.socket.connectFailure() {
      counters.noteGameFailure(failure)
      callFailed(admission, reason: failure.description, step: "backend_connect")
    } else {
      admission.call.succeeded()
      counters.gameConnected.add()
      loop.shared.backends.noteSuccess(at: admission.call.current)
      gameAnswered(admission)
    }
  }

  /// What was on its way when a drain began is refused here: once all loops know of the drain, no session begins.
  private func gameAnswered(_ admission: AdmissionAttempt) {
    perform(
      loop.shared.takesNobodyNew
        ? admission.machine.draining() : admission.machine.connected(stores: mayKeep(admission)))
  }

  private func callFailed(_ admission: AdmissionAttempt, reason: String, step: String) {
    loop.shared.log.backendFailed(peerName, address: admission.call.address, reason: reason)
    admission.session.game.leg = nil
    tryNextAddress(admission, failure: step)
  }

  /// The time of what the admission waits for is over.
  func admissionExpired(_ admission: AdmissionAttempt) {
    // As when the store answers: a drain may have begun meanwhile.
    if admission.machine.state == .storing { return stored(admission.session) }
    guard admission.call.isUnderWay else { return perform(admission.machine.expired()) }
    counters.gameTimedOut.add()
    callFailed(admission, reason: "timed out", step: "backend_connect_timeout")
  }

  /// The first bytes on the game's leg, where `BACKEND_PROXY_PROTOCOL` asks for them: who plays, and by which key.
  ///
  /// They leave before `101`, as a game that waits for them says nothing before; what the socket does not take at once
  /// stays in front of the player's bytes. False when the game has gone already.
  func introducePlayer(to session: GameSession) -> Bool {
    let version = loop.settings.backendProxyProtocol
    guard version != .off, session.game.leg != nil else { return true }
    let called =
      destination ?? client.socket.localAddress()?.endpoint ?? Endpoint(address: .anyV4, port: 0)
    let header = ProxyHeader.relayed(source: source, destination: called)
    let (credential, key) = (session.credential, loop.shared.pseudonyms)
    let bytes =
      version == .v1
      ? header.encodedLine
      : header.encodedBinary(
        keyID: credential.keyID, device: key.flatMap { credential.pseudonym(under: $0) })
    guard case .failed(let error)? = session.game.leg?.send(bytes.span) else { return true }
    loop.shared.backends.noteFailure(at: loop.now)
    loop.shared.log.backendFailed(
      peerName, address: loop.shared.backends.target.description, reason: error.description)
    return false
  }

  private static func tune(_ socket: borrowing Socket) {
    socket.set(.noDelay)
    socket.set(.sendBuffer(bytes: sendBufferBytes))
    socket.set(.keepAlive)
    socket.set(.keepAliveIdle(seconds: 60))
    socket.set(.keepAliveInterval(seconds: 15))
    socket.set(.keepAliveCount(4))
  }

  /// Bounds what the game can push into the kernel for a player who reads slowly (docs/settings.md, `QUEUE_MAX_BYTES`).
  static let backendReceiveBufferBytes: Int32 = 64 * 1024

  /// Bounds what either leg's kernel buffer keeps for a peer that reads slowly, or takes much and acknowledges nothing:
  /// left alone, it grows to some MiB with what the peer has taken so far.
  static let sendBufferBytes: Int32 = 128 * 1024
}
