/// What changes with each message of a kept session: the counts, and where telnet and the decoder stand. The hot part of a
/// slot, in a few words.
package import SessionWire
package import TelnetWire

/// Made anew for each message: no allocation, some loads and shifts.
package struct KeptProgress: Equatable, Sendable {
  /// The app's messages that were taken, and those that the game's socket has accepted.
  package var taken = 0
  package var handled = 0
  /// The game's messages: the number of the last one, the highest that may have been sent, and that was acknowledged.
  package var last = 0
  package var highestSent = 0
  package var acknowledged = 0
  package var bytesFromGame: UInt64 = 0
  package var bytesFromPlayer: UInt64 = 0
  /// What the leg's socket had taken, as `Socket.bytesTaken` counts it; 0 where nobody knows. By this and by what the
  /// socket says later it is known how much an interrupted write came to.
  package var bytesTaken: UInt64 = 0
  /// The beginning of a character, as `CharsetDecoder.heldWord` has it.
  package var held: UInt64 = 0
  /// More of the game's messages may be missing than the numbers say, and the app may not know it yet.
  package var isLossUnknown = false
  /// Where telnet stands.
  private var place: TelnetPlace

  package init() {
    place = TelnetPlace(TelnetState())
  }

  /// - Parameter outgoing: all of it counts as sent while a connection carries it, since it is sent next.
  package init(
    outgoing: borrowing OutgoingLedger, incoming: borrowing IncomingLedger, telnet: borrowing TelnetEngine,
    held: UInt64, bytesFromGame: UInt64, bytesFromPlayer: UInt64, bytesTaken: UInt64 = 0
  ) {
    taken = incoming.taken
    handled = incoming.handled
    last = outgoing.last
    highestSent = outgoing.isAttached ? outgoing.last : outgoing.highestSent
    acknowledged = outgoing.acknowledged
    isLossUnknown = outgoing.isLossUnknown
    place = TelnetPlace(telnet.state)
    self.held = held
    self.bytesFromGame = bytesFromGame
    self.bytesFromPlayer = bytesFromPlayer
    self.bytesTaken = bytesTaken
  }

  /// Without its rates, which begin anew.
  package var telnet: TelnetState {
    get { place.state }
    set { place = TelnetPlace(newValue) }
  }
}

// MARK: Words

extension KeptProgress {
  typealias Words = InlineArray<11, UInt64>

  @inline(__always)
  var words: Words {
    [
      UInt64(truncatingIfNeeded: handled), UInt64(truncatingIfNeeded: taken),
      UInt64(truncatingIfNeeded: last),
      UInt64(truncatingIfNeeded: highestSent), UInt64(truncatingIfNeeded: acknowledged), bytesFromGame,
      bytesFromPlayer, place.first | (isLossUnknown ? Self.lossUnknown : 0), place.second, held,
      bytesTaken,
    ]
  }

  init(words: Words) throws(KeptError) {
    handled = try Self.count(words[0])
    taken = try Self.count(words[1])
    last = try Self.count(words[2])
    highestSent = try Self.count(words[3])
    acknowledged = try Self.count(words[4])
    guard handled <= taken, acknowledged <= highestSent, highestSent <= last else { throw .unfit(.counts) }
    bytesFromGame = words[5]
    bytesFromPlayer = words[6]
    isLossUnknown = words[7] & Self.lossUnknown != 0
    place = try TelnetPlace(words[7] & ~Self.lossUnknown, words[8])
    held = words[9]
    bytesTaken = words[10]
    let heldCount = held >> 56
    guard heldCount <= 3, (held & 0x00FF_FFFF_FFFF_FFFF) >> (heldCount * 8) == 0 else { throw .unfit(.held) }
  }

  private static func count(_ word: UInt64) throws(KeptError) -> Int {
    guard word <= FieldReader.highestCount else { throw .unfit(.counts) }
    return Int(word)
  }

  private static let lossUnknown: UInt64 = 1 << 12
}
