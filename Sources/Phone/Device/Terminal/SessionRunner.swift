/// A session of the app's package for one thread that waits for other things as well: what happens comes as a descriptor
/// that is readable.
package import Dialing
package import PortcullisClient
package import System

package final class SessionRunner {
  private struct Inbox {
    /// Told by the session, and not taken yet.
    var event: GameEvent?
    /// Resumed when it has been shown: the session then counts it as handled.
    var shown: CheckedContinuation<Void, Never>?
  }

  private let session: GameSession
  private let bell: Bell
  private let inbox = Monitor(Inbox())
  private var feeder: Task<Void, Never>?
  /// What has ended is told after everything that came before it.
  package private(set) var end: GameEnd?

  /// - Parameters:
  ///   - path: where the session is remembered for another start of the program; nil: nowhere.
  ///   - making: how a key is made where the gate knows none; nil: none is.
  package init(
    _ gate: SessionGate, options: GameOptions, client: ClientDescription, remembering path: String? = nil,
    making: KeyMaking? = nil
  ) throws(GateClientError) {
    do { bell = try Bell() } catch { throw .broken(error) }
    session = try gate.session(
      client: client, options: options, remembering: path, making: making)
  }

  deinit {
    feeder?.cancel()
    release()
  }

  // MARK: What its owner does

  /// Why the last attempt came to nothing.
  package private(set) var failure: GameFailure?
  package var isAttached: Bool { session.isAttached }
  package var hasRoom: Bool { session.hasRoom }
  package var maxMessage: Int { session.maxMessage }
  package var client: ClientDescription { session.client }

  /// Starts threads: whoever wants signals blocked in them has done that before.
  package func begin() {
    session.observe { [bell] in bell.ring() }
    feeder = Task { [session, inbox, bell] in
      for await event in session.events {
        await withCheckedContinuation { continuation in
          inbox.withLock { inbox, _ in inbox = Inbox(event: event, shown: continuation) }
          bell.ring()
        }
      }
    }
  }

  package func send(_ bytes: [UInt8]) throws(GameInputError) { try session.send(bytes: bytes) }
  package func update(_ client: ClientDescription) { session.update(client) }
  package func finish(whenSent: Bool) { session.finish(whenSent: whenSent) }
  package func send(gmcp package: String, data: String?) throws(GameInputError) {
    try session.sendGMCP(package, data)
  }
  /// The gate is told; the end comes as an event.
  package func leave() { session.startLeaving() }
  package func enterBackground() { session.startParting() }
  package func enterForeground() { session.enterForeground() }
  /// The network is another one.
  package func pathChanged() { session.pathChanged() }
  /// Drops the connection without a word, as a network does that is gone.
  package func cut() { session.cut() }

  /// What has happened. It counts as handled with the next `wait`.
  package func takeEvents() -> [GameEvent] {
    let event = inbox.withLock { inbox, _ in
      defer { inbox.event = nil }
      return inbox.event
    }
    switch event {
    case .state(.waiting(_, let why)): failure = why
    case .state(.ended(let end)): self.end = end
    default: break
    }
    return event.map { [$0] } ?? []
  }

  /// Waits until something has happened: to the session, on one of the caller's descriptors, or nothing in time.
  /// - Parameter inputs: negative ones are passed over.
  /// - Returns: the place of the descriptor that is readable, if that is what happened.
  package func wait(orInputOn inputs: [Int32] = [], until deadline: Deadline = .never) throws(SystemError)
    -> Int?
  {
    release()
    let place = try deadline.waitForAny(of: inputs + [bell.descriptor])
    guard place == inputs.count else { return place }
    bell.clear()
    return nil
  }

  private func release() {
    let shown = inbox.withLock { inbox, _ -> CheckedContinuation<Void, Never>? in
      // Nobody has taken it yet.
      if inbox.event != nil { return nil }
      defer { inbox.shown = nil }
      return inbox.shown
    }
    shown?.resume()
  }
}
