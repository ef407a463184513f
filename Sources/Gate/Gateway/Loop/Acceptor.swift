/// A loop's listeners, and what happens when the process has no descriptor or memory left to accept with.
internal import Addresses
internal import Scheduling
internal import Sockets
internal import Synchronization
internal import System
internal import Telemetry
internal import Time

/// A listener in a list, which cannot hold a `Listener` itself.
final class LoopListener {
  let listener: Listener
  var isReadable = false

  init(_ listener: consuming Listener) {
    self.listener = listener
  }

  var endpoint: Endpoint? { listener.socket.localAddress()?.endpoint }
}

/// A class, like all that a loop looks at each turn: as a constant of the loop it is read without a check for exclusive
/// access.
final class Acceptor {
  static let acceptsPerTurn = 16
  /// How long nothing is accepted after descriptors ran out.
  static let pause: Duration = .milliseconds(100)

  private let listeners: [LoopListener]
  /// Where the next look begins, so that no listener waits for another.
  private var nextListener = 0
  private var reserve = ReserveDescriptor()
  private(set) var pausedUntil: MonotonicTime?
  private var isClosed = false

  init(_ listeners: [LoopListener]) {
    self.listeners = listeners
  }

  func open(_ poller: borrowing Poller) throws(SystemError) {
    for (index, listener) in listeners.enumerated() {
      try poller.addReadable(listener.listener.socket, token: Token.listener(index).rawValue)
    }
  }

  /// Nobody is accepted any more: who comes waits for the next process, which has the same listeners.
  func close(_ poller: borrowing Poller) {
    if isClosed { return }
    isClosed = true
    if pausedUntil == nil { shut(poller) }
    pausedUntil = nil
  }

  func noteReadable(_ index: Int) {
    listeners[index].isReadable = !isClosed
  }

  var mayAccept: Bool { pausedUntil == nil && listeners.contains { $0.isReadable } }

  func resume(_ poller: borrowing Poller, now: MonotonicTime) {
    pausedUntil = nil
    reserve.refill()
    for (index, listener) in listeners.enumerated() {
      do throws(SystemError) {
        try poller.addReadable(listener.listener.socket, token: Token.listener(index).rawValue)
      } catch {
        // No memory for it just now. Listeners that did open again are taken off again by the next pause.
        return pause(poller, now: now)
      }
    }
  }

  private func pause(_ poller: borrowing Poller, now: MonotonicTime) {
    pausedUntil = now + Self.pause
    shut(poller)
  }

  private func shut(_ poller: borrowing Poller) {
    for listener in listeners {
      listener.isReadable = false
      poller.remove(listener.listener.socket)
    }
  }

  private func nextReadableListener() -> LoopListener? {
    for _ in listeners {
      let listener = listeners[nextListener]
      nextListener = (nextListener + 1) % listeners.count
      if listener.isReadable { return listener }
    }
    return nil
  }

  /// One peer, or nil when none was waiting or none could be taken.
  func accept(_ loop: Loop) -> Arrival? {
    guard let listener = nextReadableListener() else { return nil }
    if let shortage = loop.memoryShortage() {
      turnAway(at: listener, shortage, loop)
      return nil
    }
    switch listener.listener.accept() {
    case .accepted(let socket, let peer): return Arrival(socket: socket, peer: peer)
    case .wouldBlock:
      listener.isReadable = false
      return nil
    case .aborted: return nil
    case .failed(let error):
      pause(loop, error)
      return nil
    case .exhausted(let error):
      turnAway(at: listener, error, loop)
      return nil
    }
  }

  /// The reserve makes room to take one peer and close it at once: it learns that it has to come back later.
  private func turnAway(at listener: LoopListener, _ error: SystemError, _ loop: Loop) {
    reserve.release()
    if case .accepted(let socket, _) = listener.listener.accept() { socket.resetOnClose() }
    reserve.refill()
    pause(loop, error)
  }

  private func pause(_ loop: Loop, _ error: SystemError) {
    pause(loop.poller, now: loop.now)
    loop.shared.acceptFailedAt.store(loop.now.nanoseconds, ordering: .relaxed)
    loop.shared.log.acceptPaused(error)
  }
}

struct Arrival: ~Copyable {
  let socket: Socket
  let peer: Endpoint
}
