/// What changes with each message of a kept session: the counts, and where telnet and the decoder stand. The hot part of a
/// slot, in a few words.
package import SessionWire
internal import System
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
  /// Without its rates, which begin anew.
  package var telnet = TelnetState()
  /// The beginning of a character, as `CharsetDecoder.heldWord` has it.
  package var held: UInt64 = 0
  /// More of the game's messages may be missing than the numbers say, and the app may not know it yet.
  package var isLossUnknown = false

  package init() {}

  /// - Parameter outgoing: all of it counts as sent while a connection carries it, since it is sent next.
  @inline(__always)
  package init(
    outgoing: borrowing OutgoingLedger, incoming: borrowing IncomingLedger, telnet: TelnetState, held: UInt64,
    bytesFromGame: UInt64, bytesFromPlayer: UInt64
  ) {
    taken = incoming.taken
    handled = incoming.handled
    last = outgoing.last
    highestSent = outgoing.isAttached ? outgoing.last : outgoing.highestSent
    acknowledged = outgoing.acknowledged
    isLossUnknown = outgoing.isLossUnknown
    self.telnet = telnet
    self.held = held
    self.bytesFromGame = bytesFromGame
    self.bytesFromPlayer = bytesFromPlayer
  }
}

// MARK: Words

extension KeptProgress {
  typealias Words = InlineArray<10, UInt64>

  var words: Words {
    var words = Words(repeating: 0)
    words[0] = UInt64(handled)
    words[1] = UInt64(taken)
    words[2] = UInt64(last)
    words[3] = UInt64(highestSent)
    words[4] = UInt64(acknowledged)
    words[5] = bytesFromGame
    words[6] = bytesFromPlayer
    words[7] =
      UInt64(telnet.place.rawValue) | UInt64(flags) << 8 | UInt64(telnet.terminalTypeStep) << 16
      | UInt64(telnet.terminalTypesDue) << 24 | UInt64(telnet.bodyBytes) << 32
    words[8] = UInt64(telnet.ofGame.bits) | UInt64(telnet.ofGate.bits) << 16
    words[9] = held
    return words
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
    telnet = try Self.telnet(words[7], words[8])
    isLossUnknown = words[7] >> 8 & UInt64(Flag.lossUnknown) != 0
    held = words[9]
    let heldCount = held >> 56
    guard heldCount <= 3, (held & 0x00FF_FFFF_FFFF_FFFF) >> (heldCount * 8) == 0 else { throw .unfit(.held) }
  }

  private var flags: UInt8 {
    (telnet.gameSaidCR ? Flag.gameSaidCR : 0) | (telnet.appTypedCR ? Flag.appTypedCR : 0)
      | (telnet.isAttached ? Flag.attached : 0) | (telnet.isHelloDue ? Flag.helloDue : 0)
      | (isLossUnknown ? Flag.lossUnknown : 0)
  }

  private static func telnet(_ first: UInt64, _ second: UInt64) throws(KeptError) -> TelnetState {
    var telnet = TelnetState()
    guard let place = TelnetState.Place(rawValue: UInt8(truncatingIfNeeded: first)) else {
      throw .unfit(.place)
    }
    telnet.place = place
    let flags = UInt8(truncatingIfNeeded: first >> 8)
    guard flags & ~Flag.all == 0 else { throw .unfit(.flags) }
    telnet.gameSaidCR = flags & Flag.gameSaidCR != 0
    telnet.appTypedCR = flags & Flag.appTypedCR != 0
    telnet.isAttached = flags & Flag.attached != 0
    telnet.isHelloDue = flags & Flag.helloDue != 0
    telnet.terminalTypeStep = UInt8(truncatingIfNeeded: first >> 16)
    telnet.terminalTypesDue = UInt8(truncatingIfNeeded: first >> 24)
    telnet.bodyBytes = UInt32(truncatingIfNeeded: first >> 32)
    guard telnet.isWithinLimits else { throw .unfit(.subnegotiation) }
    guard second >> 32 == 0, let ofGame = TelnetOptionSet(bits: UInt16(truncatingIfNeeded: second)),
      let ofGate = TelnetOptionSet(bits: UInt16(truncatingIfNeeded: second >> 16))
    else { throw .unfit(.options) }
    telnet.ofGame = ofGame
    telnet.ofGate = ofGate
    return telnet
  }

  private static func count(_ word: UInt64) throws(KeptError) -> Int {
    guard word <= FieldReader.highestCount else { throw .unfit(.counts) }
    return Int(word)
  }

  private enum Flag {
    static let gameSaidCR: UInt8 = 1
    static let appTypedCR: UInt8 = 2
    static let attached: UInt8 = 4
    static let helloDue: UInt8 = 8
    static let lossUnknown: UInt8 = 16
    static let all: UInt8 = 31
  }
}
