/// What a session tells the app: the game's text and data, and how the session stands (docs/sessions.md).
#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import PortcullisProtocol

/// Something that has happened in a session, in the order in which it did.
public enum GameEvent: Equatable, Sendable {
  /// Text of the game: UTF-8 with ANSI escape sequences. A character is never cut in two; a line, and an escape sequence,
  /// may go on in the next event.
  case text(String)
  /// The text before this is a prompt, and no line end will follow it.
  case prompt
  /// Whether the game hides what is typed, as it does for passwords: hide it as well, and keep it out of any history.
  case echo(Bool)
  /// Data of the game's: `package` is a name such as `Char.Vitals`, `data` the text of one JSON value (RFC 8259), nil where
  /// the game sent a name alone. `isAgain`: it repeats how things stand, after a gap or a start of the app.
  case gmcp(package: String, data: String?, isAgain: Bool)
  /// Variables of the game's (MSDP): the text of one JSON object. `isAgain` as with GMCP.
  case msdp(String, isAgain: Bool)
  /// What the game says of itself (MSSP): the text of one JSON object. `isAgain` as with GMCP.
  case mssp(String, isAgain: Bool)
  /// So many requests wait for the vote of this phone, where the gate knows it as a device.
  case approvals(open: Int)
  /// A login waits for a one-time code of this phone, where the gate knows it as a device.
  case codeWanted
  /// Messages of the game are lost, so many, or nobody knows how many. How things stand now comes after it, by events
  /// whose `isAgain` is set.
  case gap(messages: Int?)
  /// So many inputs were typed too long ago, or for a session that is gone: the game will not get them.
  case inputDropped(Int)
  /// The gate died while so many inputs were on their way to the game. They will not be sent again, and the game may not
  /// have got them.
  case doubt(Int)
  /// Whether the gate still answers: false when it has been silent for some seconds though it was asked, and what is typed
  /// may take a while; true with the next thing that comes.
  case answering(Bool)
  /// The session stands otherwise than before.
  case state(GameState)
}

/// How a session stands with its gate.
public enum GameState: Equatable, Sendable {
  /// An attempt to connect is under way.
  case connecting
  /// The app plays. `isResumed`: in the session of before; else this is a new one, and the game asks who the player is.
  case attached(isResumed: Bool)
  /// There is no connection, and why. The next attempt is made at `until`; `Date.distantFuture`: when something happens, such
  /// as `enterForeground()`, another network, or `GameSession.retry()`.
  case waiting(until: Date, why: GameFailure)
  /// The session is over; this is the last event.
  case ended(GameEnd)
}

/// Why a session is over for the app.
public enum GameEnd: Equatable, Sendable {
  /// The gate has said so.
  case byGate(GateWord)
  /// A Close that ends a session came without that word; its code (RFC 6455 §7.4).
  case closed(code: UInt16)
  /// The session goes on over another connection, of the same key or certificate.
  case takenOver
  /// `leave()`: the character stays in the game for as long as the gate keeps it.
  case left
  /// `close()`.
  case byApp
  /// The first attempt failed and was not to be repeated, or an attempt failed in a way that no other one would mend.
  case failed(GameFailure)
  /// The session's time was over before there was a way back (`GameOptions.givesUpWithSession`).
  case gaveUp
  /// The session could not be resumed, and no other one was wanted (`GameOptions.beginsAnew`).
  case gone
}

/// The gate's word for why the stay in the game is over (docs/sessions.md).
public enum GateWord: Equatable, Sendable {
  /// One that this version knows, such as `gameClosed`.
  case known(EndedReason)
  /// One of later times.
  case other(String)

  package init(_ word: String) {
    self = EndedReason(rawValue: word).map(Self.known) ?? .other(word)
  }
}

/// Why something is not taken to be sent.
public enum GameInputError: Error, Equatable, Sendable {
  /// It has more bytes than the gate takes in one message: 65,536 unless the gate says otherwise.
  case tooLong
  /// As much waits as may: 128 messages or 64 KiB that the gate has not acknowledged, or 64 that wait for a connection.
  case full
  /// What is no JSON value, or no name of a GMCP package.
  case malformed
  /// The session is over.
  case ended
}
