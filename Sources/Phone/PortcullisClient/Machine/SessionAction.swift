/// What the machine of a session asks its owner to do.
internal import PortcullisProtocol

/// To be done in the order given.
package enum SessionAction: Equatable, Sendable {
  /// Have the key assert, and open a WebSocket; answered by `opened`, `refused`, `failed`, `waits` or `giveUp`.
  case connect(SessionRequest)
  /// Ask the storage once more; answered by `adopt` and `begin`, or by `cannotRecall`.
  case recall
  /// The gate does not take the key, for this: give it up; answered by `renewed`.
  case renewKey(GameFailure)
  /// Keep what is needed to come back after a start of the app; nil: there is nothing to come back to. Before anything
  /// that follows is sent: the gate forgets what is acknowledged.
  case remember(RememberedSession?)
  case sendText([UInt8])
  case sendBinary([UInt8])
  case ping
  /// Send a Close frame. The connection's end comes back as `closed`, if the session has not ended with it.
  case close(code: UInt16)
  /// Drop the connection as it is. Nothing that still comes from it is to be given to the machine.
  case abandon
  case tell(GameEvent)
  /// Tell `GameState.waiting`; infinity: until something happens.
  case tellWaiting(until: Double, why: GameFailure)
}

/// One attempt.
package struct SessionRequest: Equatable, Sendable {
  package static let subprotocol = Subprotocol.portcullis.rawValue

  /// Of the upgrade, beside those of the assertion.
  package let fields: [GateField]
  /// What the gate gave for coming back into this session; nil: a challenge is to be fetched.
  package var nonce: String?
  /// What would make a long pause end early has happened.
  package var isHurried = false
}

/// A session as another start of the app comes back to it.
package struct RememberedSession: Equatable, Sendable {
  package var id: String
  /// How many of the gate's messages the app has handled.
  package var received: Int
  /// How many of the app's messages the gate is known to have handled.
  package var handled: Int
  /// What stands in place of a challenge when the session is resumed; nil where the gate gave none.
  package var next: String?

  package init(id: String, received: Int, handled: Int, next: String? = nil) {
    self.id = id
    self.received = received
    self.handled = handled
    self.next = next
  }
}
