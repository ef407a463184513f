/// Where a session's telnet stands, in two words: options that are on, what the next byte belongs to, what is due. Its rates
/// are left out; after a kill they begin anew.
internal import TelnetWire

struct TelnetPlace: Equatable, Sendable {
  /// From the lowest: place, flags, two steps of TTYPE, and above them how long the open subnegotiation is.
  let first: UInt64
  /// Options of the game's side, then of the gate's.
  let second: UInt64

  @inline(__always)
  init(_ state: borrowing TelnetState) {
    let flags =
      (state.gameSaidCR ? Flag.gameSaidCR : 0) | (state.appTypedCR ? Flag.appTypedCR : 0)
      | (state.isAttached ? Flag.attached : 0) | (state.isHelloDue ? Flag.helloDue : 0)
    first =
      UInt64(state.place.rawValue) | flags << 8 | UInt64(state.terminalTypeStep) << 16
      | UInt64(state.terminalTypesDue) << 24 | UInt64(state.bodyBytes) << 32
    second = UInt64(state.ofGame.bits) | UInt64(state.ofGate.bits) << 16
  }

  /// Of words that anybody may have written.
  init(_ first: UInt64, _ second: UInt64) throws(KeptError) {
    self.first = first
    self.second = second
    guard TelnetState.Place(rawValue: UInt8(truncatingIfNeeded: first)) != nil else { throw .unfit(.place) }
    guard first >> 8 & 0xFF & ~Flag.all == 0 else { throw .unfit(.flags) }
    guard second >> 32 == 0, TelnetOptionSet(bits: UInt16(truncatingIfNeeded: second)) != nil,
      TelnetOptionSet(bits: UInt16(truncatingIfNeeded: second >> 16)) != nil
    else { throw .unfit(.options) }
    guard state.isWithinLimits else { throw .unfit(.subnegotiation) }
  }

  var state: TelnetState {
    var state = TelnetState()
    state.place = TelnetState.Place(rawValue: UInt8(truncatingIfNeeded: first)) ?? .data
    let flags = first >> 8
    state.gameSaidCR = flags & Flag.gameSaidCR != 0
    state.appTypedCR = flags & Flag.appTypedCR != 0
    state.isAttached = flags & Flag.attached != 0
    state.isHelloDue = flags & Flag.helloDue != 0
    state.terminalTypeStep = UInt8(truncatingIfNeeded: first >> 16)
    state.terminalTypesDue = UInt8(truncatingIfNeeded: first >> 24)
    state.bodyBytes = UInt32(truncatingIfNeeded: first >> 32)
    state.ofGame = TelnetOptionSet(bits: UInt16(truncatingIfNeeded: second)) ?? TelnetOptionSet()
    state.ofGate = TelnetOptionSet(bits: UInt16(truncatingIfNeeded: second >> 16)) ?? TelnetOptionSet()
    return state
  }

  private enum Flag {
    static let gameSaidCR: UInt64 = 1
    static let appTypedCR: UInt64 = 2
    static let attached: UInt64 = 4
    static let helloDue: UInt64 = 8
    static let all: UInt64 = 15
  }
}
