/// What is seldom new of a kept session: who plays, since when, what the game was told of it. The cold part of a slot.
package import Addresses
package import Bytes
package import Time
package import TelnetWire

package struct KeptDescription: Equatable, Sendable {
  /// SHA-256 of the ids that it is resumed by, one or two.
  package var ids: [Bytes32]
  package var credential: KeptCredential
  /// The operator's name for it.
  package var number: UInt64
  /// Both of the system's clock, which goes on as long as the memory does.
  package var startedAt: MonotonicTime
  /// When its present connection took it up, or it lost its last one.
  package var changedAt: MonotonicTime
  /// Who plays, or has played last.
  package var source: Endpoint
  /// What the system alone calls the socket of the game's leg (`SO_COOKIE`, socket(7)): so a leg of another session, which
  /// the store may still hold under the name of this slot, is never taken for its own.
  package var leg: UInt64
  /// The charset in use, by the name that games know it by; empty for the one that is set.
  package var charset: [UInt8] = []
  /// What was said of the terminal's size before anything else was known of the app.
  package var earlySize: TerminalSize?
  /// Nil until the app has said who it is. A slot has no room for all of the longest ones: GMCP packages are left out
  /// first, then the texts, as an app says them again when it comes back.
  package var client: ClientDescription?
  /// What the game is to get before anything else: the rest of a message that its socket has taken a part of, or an
  /// answer of telnet's. Never more than `owedLimit`.
  package var owed: [UInt8] = []
  /// Whether the game's socket has taken none of it yet, nor any other part of it: an answer of telnet's.
  package var owedIsWhole = false
  /// Whether a counted message ends with it.
  package var owedEndsMessage = false
  /// Messages in writes that crashes fell into: the app does not know yet that they may be missing.
  package var doubt = 0
  /// The game's socket has taken a part of something whose rest is too long to be `owed`: after a crash nobody could say
  /// the rest, so the session cannot go on then.
  package var isTorn = false
  /// The stay is over, and only its last messages wait for the app.
  package var isOver = false

  package init(
    ids: [Bytes32], credential: KeptCredential, number: UInt64, startedAt: MonotonicTime,
    changedAt: MonotonicTime,
    source: Endpoint, leg: UInt64
  ) {
    self.ids = ids
    self.credential = credential
    self.number = number
    self.startedAt = startedAt
    self.changedAt = changedAt
    self.source = source
    self.leg = leg
  }

  package static let idsLimit = 2
  package static let owedLimit = 96
  package static let charsetLimit = 20
}
