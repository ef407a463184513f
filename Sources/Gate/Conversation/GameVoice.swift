/// The game's side of a conversation: telnet and text as they are read, and what is to be said to the game.
package import Charsets
package import TelnetWire
package import Time

package struct GameVoice: ~Copyable {
  package var telnet: TelnetEngine
  package var decoder: CharsetDecoder
  var encoder: CharsetEncoder

  // MARK: Heard

  /// Text of the game that is to become one message.
  package var text: [UInt8] = []
  /// How much of that there was in this turn.
  package var told = 0
  /// What the game has said and telnet does not read yet, as it has had answers enough, or is to be asked again.
  package var unread: [UInt8] = []
  package var unreadUntil = MonotonicTime.never
  /// Something of that waits, in here or within telnet.
  package var isHeld: Bool { unreadUntil != .never }
  /// The telnet options that are on and counted, as bits.
  var countedOptions: UInt16

  // MARK: To be said

  /// What telnet has to say to the game, in this turn.
  package var toGame: [UInt8] = []
  /// How much of it the ledger knows of.
  package var noted = 0
  /// What of earlier turns waited for the game at the end of the last one.
  package var queued: Int
  /// When the game was sent something last.
  var lastSent: MonotonicTime
  /// Without a connection: since when the game has taken nothing of what waits for it.
  package var blockedSince: MonotonicTime?

  init(
    _ telnet: consuming TelnetEngine, _ coders: (CharsetDecoder, CharsetEncoder), queued: Int,
    now: MonotonicTime
  ) {
    countedOptions = telnet.agreedOptions
    self.telnet = telnet
    (decoder, encoder) = coders
    self.queued = queued
    lastSent = now
  }

  /// The options that are on since the last look; one that was off meanwhile counts again.
  mutating func takeNewOptions() -> UInt16 {
    let agreed = telnet.agreedOptions
    if agreed == countedOptions { return 0 }
    defer { countedOptions = agreed }
    return agreed & ~countedOptions
  }

  /// Without a connection: notes whether the game takes what waits for it, and says whether it has stalled.
  mutating func stalls(waits: Bool, hasProgressed: Bool, now: MonotonicTime, after time: Duration) -> Bool {
    if !waits {
      blockedSince = nil
    } else if blockedSince == nil || hasProgressed {
      blockedSince = now
    }
    guard let blockedSince else { return false }
    return now - blockedSince >= time
  }
}
