/// What the machine of a session asks its owner to do.
internal import PortcullisProtocol

/// To be done in the order given.
package enum SessionAction: Equatable, Sendable {
  /// Get a fresh challenge, sign it, and open a WebSocket; answered by `opened`, `refused` or `failed`.
  case connect(SessionRequest)
  /// Ask the storage once more; answered by `adopt` and `begin`, or by `cannotRecall`.
  case recall
  /// Make another key and register it; answered by `registered`, `refused` or `failed`.
  case register
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
}

/// One attempt: the fields of the upgrade beside those of the assertion.
package struct SessionRequest: Equatable, Sendable {
  package static let subprotocol = Subprotocol.portcullis.rawValue

  package let fields: [GateField]
}

/// A session as another start of the app comes back to it.
package struct RememberedSession: Equatable, Sendable {
  package var id: String
  /// How many of the gate's messages the app has handled.
  package var received: Int
  /// How many of the app's messages the gate is known to have handled.
  package var handled: Int

  package init(id: String, received: Int, handled: Int) {
    self.id = id
    self.received = received
    self.handled = handled
  }
}
