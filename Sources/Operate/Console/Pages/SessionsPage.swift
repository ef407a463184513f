/// `/sessions`: who plays. Filtered by the query's `text`, `state` and `credential`, and gone on with by `after`.
package import System

package struct SessionsPage: Sendable {
  package struct Filter: Equatable, Sendable {
    /// Part of a key, a pseudonym, a device's name or an address; empty for all.
    package var text: String
    package var state: SessionRow.State?
    package var credential: SessionRow.Credential?

    package init(text: String, state: SessionRow.State? = nil, credential: SessionRow.Credential? = nil) {
      self.text = text
      self.state = state
      self.credential = credential
    }
  }

  package var filter: Filter
  /// The longest first.
  package var rows: [SessionRow]
  package var end: ListEnd

  package init(filter: Filter, rows: [SessionRow], end: ListEnd) {
    self.filter = filter
    self.rows = rows
    self.end = end
  }
}

package struct SessionRow: Equatable, Sendable {
  package enum State: String, CaseIterable, Sendable {
    case attached
    /// Its player has no connection, and may come back.
    case detached
  }

  package enum Credential: String, CaseIterable, Sendable {
    case assertion
    case certificate = "client_certificate"
    /// A device by a key of its own.
    case device
    case none
  }

  package var number: Int
  package var state: State
  /// Since when it is in this state.
  package var stateSince: UnixTime
  package var beganAt: UnixTime
  package var credential: Credential
  /// Base64, whole.
  package var keyID: String?
  package var pseudonym: String?
  package var deviceID: String?
  package var deviceName: String?
  /// Of the client certificate: a peer's words.
  package var subject: String?
  /// Address and port, or where a proxy says that it came from.
  package var source: String
  /// The connection's name, as the log has it; nil for a detached one.
  package var connection: String?
  package var subprotocol: String?
  /// It outlives the gate's process.
  package var isKept: Bool
  /// Bytes that wait for the player.
  package var bufferedBytes: Int
  package var bytesFromPlayer: UInt64
  package var bytesFromGame: UInt64

  package init(
    number: Int, state: State, stateSince: UnixTime, beganAt: UnixTime, credential: Credential,
    keyID: String? = nil, pseudonym: String? = nil, deviceID: String? = nil, deviceName: String? = nil,
    subject: String? = nil, source: String, connection: String? = nil, subprotocol: String? = nil,
    isKept: Bool, bufferedBytes: Int, bytesFromPlayer: UInt64, bytesFromGame: UInt64
  ) {
    self.number = number
    self.state = state
    self.stateSince = stateSince
    self.beganAt = beganAt
    self.credential = credential
    self.keyID = keyID
    self.pseudonym = pseudonym
    self.deviceID = deviceID
    self.deviceName = deviceName
    self.subject = subject
    self.source = source
    self.connection = connection
    self.subprotocol = subprotocol
    self.isKept = isKept
    self.bufferedBytes = bufferedBytes
    self.bytesFromPlayer = bytesFromPlayer
    self.bytesFromGame = bytesFromGame
  }
}

/// `/sessions/<number>`.
package struct SessionPage: Sendable {
  package var session: SessionRow

  package init(session: SessionRow) {
    self.session = session
  }
}

/// `/sessions/<number>/end`: asks whether it is meant, and posts to itself.
package struct EndSessionPage: Sendable {
  package var session: SessionRow
  /// Why the last try has not worked; shown above the button.
  package var problems: [FieldProblem]

  package init(session: SessionRow, problems: [FieldProblem] = []) {
    self.session = session
    self.problems = problems
  }
}
