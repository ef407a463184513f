/// All of a session that its slot has no room for and that a restart in good order takes along, so that nothing is missing:
/// what the app has not acknowledged, what of the game's is not read yet, and what waits for the game.
package import SessionWire
package import TelnetWire

package struct RestartSnapshot: Equatable, Sendable {
  package var outgoing: OutgoingSnapshot
  package var incoming: IncomingSnapshot
  package var again: AgainSnapshot
  package var telnet: TelnetSnapshot
  /// As `CharsetDecoder.heldWord`.
  package var held: UInt64
  /// What the game has said and telnet has not read.
  package var unread: [UInt8]
  /// Text of the game in UTF-8 that is to become one message.
  package var text: [UInt8]
  /// What waits for the game: as many bytes as `incoming` says.
  package var toGame: [UInt8]

  package init(
    outgoing: OutgoingSnapshot, incoming: IncomingSnapshot, again: AgainSnapshot, telnet: TelnetSnapshot,
    held: UInt64 = 0, unread: [UInt8] = [], text: [UInt8] = [], toGame: [UInt8] = []
  ) {
    self.outgoing = outgoing
    self.incoming = incoming
    self.again = again
    self.telnet = telnet
    self.held = held
    self.unread = unread
    self.text = text
    self.toGame = toGame
  }
}
