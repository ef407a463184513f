/// In which of its loop's lists a connection is, so that it is in none of them twice.
internal import Scheduling

/// Kept with the connection, where it costs no look-up, and changed by the loop alone.
struct QueueFlags {
  /// Among the handshakes and requests that wait for their turn.
  fileprivate(set) var isQueued = false
  /// The handshake has had its first step, which is the dear one.
  fileprivate(set) var hasBegunHandshake = false
  /// Among those to go on with in the next turn.
  fileprivate(set) var isContinuing = false
  /// Its last turn moved much: the next one comes after those of who moves little.
  fileprivate(set) var isHeavy = false
  /// Its last turn left something over: the next one belongs to the same work.
  fileprivate(set) var hasRest = false
  /// Counted among those that are not admitted yet.
  fileprivate(set) var isPending = true
  /// In the order of arrivals, among those that may have to give way.
  var isListed = false
}

extension Loop {
  // MARK: Lists

  /// A handshake step or a request waits for its turn among the pendingQueue.
  func queue(_ connection: Connection) {
    if connection.queueFlags.isQueued { return }
    connection.queueFlags.isQueued = true
    pendingQueue.append(connection)
  }

  func noteHandshakeBegun(_ connection: Connection) {
    connection.queueFlags.hasBegunHandshake = true
  }

  /// Calls `body` with the newcomers of this turn.
  func takePending(_ body: (Connection) -> Void) {
    if pendingQueue.isEmpty { return }
    for connection in pendingQueue.takeTurn() {
      connection.queueFlags.isQueued = false
      body(connection)
    }
  }

  /// The connection has more to do than one turn allows, or something it waited for has come.
  func continueLater(_ connection: Connection) {
    if connection.queueFlags.isContinuing { return }
    connection.queueFlags.isContinuing = true
    continuing.append(connection)
  }

  /// The same for a session that has no connection.
  func continueLater(_ session: GameSession) {
    guard let detachment = session.detachment, !detachment.isContinuing else { return }
    detachment.isContinuing = true
    continuingSessions.append(session)
  }

  /// Calls `body` with those that go on, as long as `goesOn`.
  func takeContinuing(while goesOn: () -> Bool, _ body: (Connection) -> Void) {
    continuing.takeEach(while: goesOn) { connection in
      connection.queueFlags.isContinuing = false
      body(connection)
    }
  }

  /// - Parameter hasMore: the turn left something over. What the next one makes of it does not make the whole light.
  func noteMoved(_ connection: Connection, isMuch: Bool, hasMore: Bool = false) {
    connection.queueFlags.isHeavy = isMuch || connection.queueFlags.hasRest && connection.queueFlags.isHeavy
    connection.queueFlags.hasRest = hasMore
  }

  /// No longer among the unadmitted, by admission or by its end.
  func noLongerPending(_ connection: Connection) {
    guard connection.queueFlags.isPending else { return }
    connection.queueFlags.isPending = false
    shared.pending.decrement()
  }

  /// What an unadmitted connection waited for beside the count has come.
  func pendingAgain(_ connection: Connection) {
    if connection.queueFlags.isPending { return }
    connection.queueFlags.isPending = true
    shared.pending.increment()
    if !connection.queueFlags.isListed { pendingQueue.entered(connection, in: connections) }
  }
}
