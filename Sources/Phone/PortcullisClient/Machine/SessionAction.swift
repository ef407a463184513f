/// What the machine of a session asks its owner to do, what it tells it, and how a session ends for the app.
internal import PortcullisProtocol

/// To be done in the order given.
package enum SessionAction: Equatable, Sendable {
  /// Get a fresh challenge, sign it, and open a WebSocket; answered by `opened`, `refused` or `failed`.
  case connect(SessionRequest)
  /// Make another key and register it; answered by `registered`, `refused` or `failed`.
  case register
  case sendText([UInt8])
  case sendBinary([UInt8])
  case ping
  /// Send a Close frame. The connection's end comes back as `closed`, if the session has not ended with it.
  case close(code: UInt16)
  /// Drop the connection as it is. Nothing that still comes from it is to be given to the machine.
  case abandon
  case tell(SessionEvent)
}

/// One attempt: the fields of the upgrade beside those of the assertion.
package struct SessionRequest: Equatable, Sendable {
  package static let subprotocol = Subprotocol.portcullis.rawValue

  package let fields: [(name: String, value: String)]

  package static func == (left: Self, right: Self) -> Bool {
    left.fields.elementsEqual(right.fields, by: ==)
  }
}

package enum SessionEvent: Equatable, Sendable {
  case state(SessionState)
  /// UTF-8 with ANSI sequences. A character is never cut in two, a line may be.
  case text([UInt8])
  /// The text before it is a prompt.
  case prompt
  /// The game echoes what is typed: hide it.
  case echo(Bool)
  /// - Parameter data: a JSON value; nil where the game sent a name alone.
  case gmcp(package: String, data: [UInt8]?, isAgain: Bool)
  /// A JSON object.
  case msdp([UInt8], isAgain: Bool)
  /// A JSON object.
  case mssp([UInt8], isAgain: Bool)
  /// So many requests wait for the vote of the device that this is.
  case approvals(open: Int)
  /// A login waits for a one-time code of the device that this is.
  case codeWanted
  /// Messages of the game's are lost; nil if nobody knows how many. What holds now comes again behind it.
  case gap(messages: Int?)
  /// So many messages of the app's were too old, or their session is gone: they will not be sent.
  case inputDropped(Int)
  /// The gate's process died while so many messages went to the game: they count as handled, and may be missing.
  case doubt(Int)
}

package enum SessionState: Equatable, Sendable {
  case connecting
  case attached(isResumed: Bool)
  /// Seconds, on the machine's clock.
  case waiting(until: Double)
  case ended(SessionEnd)
}

package enum SessionEnd: Equatable, Sendable {
  /// The gate's word, an `EndedReason` if it is one of these times.
  case byGate(reason: String)
  /// A Close that ends a session, without the gate's word.
  case closed(code: UInt16)
  /// Another connection has taken the session over.
  case takenOver
  /// As asked for, the session stays in the game.
  case left
  /// As asked for.
  case byApp
  case refused(status: Int, code: String)
  /// The first attempt failed, and is not to be repeated.
  case failed
  /// There was no way back before the session's time was over.
  case gaveUp
  /// The session could not be resumed, and no other one is wanted.
  case gone
  /// The gate does not speak the subprotocol.
  case unsupported
  /// What the gate sent breaks the protocol; the rule it breaks.
  case violation(String)
}

/// Why something typed is not taken.
package enum SessionInputError: Error, Equatable, Sendable {
  /// Longer than a message may be.
  case tooLong
  /// As much waits as may.
  case full
  case ended
}
