/// What the gate speaks for both sides of a session whose bytes do not pass as they come: telnet with the game, messages
/// with the app (docs/telnet.md, docs/sessions.md).
///
/// Game to app                                     App to game
///   1. hear      telnet → text and events            4. take       message → lines, GMCP, answers to be counted
///   2. tell      dialect → counted messages          5. toGame     telnet, one send a turn
///   3. outgoing  kept until acknowledged             6. incoming   counted as taken, then as handled
///
/// It knows neither of the sockets: `Conversation+Game` moves bytes of the leg, `PlayerStream+Messages` those of the player.
package import Admission
package import Charsets
internal import Configuration
internal import PortcullisProtocol
package import SessionWire
package import Time
package import TelnetWire

package final class SessionConversation {
  package let dialect: Dialect
  /// Whether it outlives its connection.
  package let isResumable: Bool
  /// All that changes, in one struct: a call has one check for exclusive access to it, where a class would have one for each
  /// use of a part.
  package var state: ConversationState

  /// - Parameter queuedForGame: how many bytes wait for the game in front of what this says to it.
  package init(
    _ dialect: Dialect, _ telnet: TelnetSettings, charsets: CharsetLibrary, settings: LoopSettings,
    queuedForGame: Int, now: MonotonicTime
  ) {
    self.dialect = dialect
    isResumable = dialect.isResumable && settings.sessions.resumableFor > .zero
    state = ConversationState(
      dialect, telnet, charsets: charsets, settings: settings, queuedForGame: queuedForGame, now: now)
  }

  /// One that outlived the process before.
  package init(continuing state: consuming ConversationState) {
    dialect = state.dialect
    isResumable = true
    self.state = state
  }
}

/// What a conversation could not pass on.
package struct LeftOut {
  package private(set) var count = 0
  /// What the last of it was.
  package private(set) var word = ""

  package mutating func append(_ word: String) {
    count += 1
    self.word = word
  }

  /// More than 512 bytes would be kept of what the app says of itself.
  static let tooLargeClient = "client_too_large"
}

extension AppMessage.Refusal {
  /// `client_name` and the like.
  package var word: String { (kind.map { $0.rawValue } ?? "message") + "_" + member }

  // What telnet has no words for, though it is fit to be read.
  static let unfitGMCP = Self(kind: .gmcp, member: MemberName.data)
  static let unfitMSDP = Self(kind: .msdp, member: MemberName.data)
}
