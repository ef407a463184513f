/// Telnet towards a game (RFC 854, RFC 855, RFC 1143; docs/telnet.md): the game's bytes become events, and what an app
/// wants becomes the game's bytes.
///
/// It knows no socket and no clock. What is to be sent to the game is appended to `output`, which the caller owns, as it
/// has to lie on the wire, in each call that has such a parameter.
package import Time

package struct TelnetEngine: ~Copyable {
  /// What became of something an app wants the game to have.
  package enum Sending: Equatable, Sendable {
    case sent
    /// The game has not agreed to it, or no longer. `Core.Hello` and `Core.Supports.Set`, and what MSDP is to report, are
    /// kept nevertheless, and said when it does.
    case notAgreed
    /// It does not fit its grammar or its limits; nothing was sent.
    case unfit
  }

  /// In bytes behind the option, their 255s not doubled.
  package static let subnegotiationLimit = 65_536
  /// In bytes of JSON.
  package static let eventLimit = 262_144

  package internal(set) var state: TelnetState
  /// Of these the address alone changes, with the connection.
  package internal(set) var settings: TelnetSettings
  /// Nil until the app has said who it is, or has had its time.
  package internal(set) var client: ClientDescription?
  /// What was said of the terminal's size before anything else was known.
  package internal(set) var earlySize: TerminalSize?
  /// In use now; `settings.charset` until the game chooses another one.
  package internal(set) var charset: TelnetCharset
  /// The open subnegotiation with its option; empty, and without storage, at any other time and if nobody wants it.
  var body: [UInt8] = []
  /// It was to be an event, and was let go.
  var hasLetGo = false
  /// Names that the game asked for by NEW-ENVIRON while nothing was known of the app.
  var environmentDue: [UInt8]?
  /// What the app has said that is to be said again when the game agrees to GMCP or MSDP anew.
  var ownWords = OwnWords()
  /// Nil unless what the game sends is compressed.
  var inflation: Inflation?
  /// The piece of it that is being read; without storage while none is.
  var inflated: [UInt8] = []

  /// - Parameters:
  ///   - client: nil if the app has not said yet who it is. What the game wants to know of it then waits for `update`,
  ///     which the owner calls after 500 ms at the latest, with an empty description if need be.
  ///   - state: of a session that goes on. A subnegotiation that was open is dropped up to its end; a compressed stream
  ///     cannot be taken up again.
  package init(
    _ settings: TelnetSettings, client: ClientDescription? = nil, state: TelnetState = TelnetState()
  ) {
    self.settings = settings
    self.client = client
    self.state = state
    charset = settings.charset
  }

  /// Those that are on at either side, as bits in the order of `TelnetOption`.
  package var agreedOptions: UInt16 { state.ofGame.bits | state.ofGate.bits }
  package var isGMCPAgreed: Bool { state.ofGame.contains(.gmcp) || state.ofGate.contains(.gmcp) }
  package var isMSDPAgreed: Bool { state.ofGame.contains(.msdp) || state.ofGate.contains(.msdp) }
  var size: TerminalSize? { client?.size ?? earlySize }
  package var gameEchoes: Bool { state.ofGame.contains(.echo) }

  /// The next event in `input[position...]`; moves `position` behind what was read. Call until it says `needMore` or
  /// that it wants to be asked later; what then stands at `position` belongs to the front of the next call's input.
  ///
  /// The events do not depend on how the input comes in pieces, but for the text, which comes in more of them.
  package mutating func next(
    _ input: Span<UInt8>, position: inout Int, now: MonotonicTime, into output: inout [UInt8]
  ) -> TelnetEvent {
    if !state.isCompressed {
      return read(input, &position, now, isInflated: false, &output)
    }
    return nextInflated(input, &position, now, &output)
  }

  /// Whether there is more to be told without any input: whoever does not call until `needMore` comes back for it.
  package var holdsInput: Bool {
    switch inflation {
    case .some(let stream): stream.isHeld
    case .none: false
    }
  }

  /// What of the game's words it holds as they are not whole, or not read yet: memory beside the structure itself, and
  /// beside the some 40 KiB that zlib has for a compressed stream until that ends.
  package var heldBytes: Int { body.capacity + (environmentDue?.capacity ?? 0) + inflated.capacity }

  /// How long the subnegotiation is that is not whole yet, as far as it is kept.
  package var openBytes: Int { body.count }

  /// The open subnegotiation is let go: what is still to come of it is dropped, and told at its end, as an event that is
  /// missing if it was to be one.
  package mutating func letGoOfSubnegotiation() {
    guard let option = body.first.flatMap(TelnetOption.init(rawValue:)) else { return }
    body = []
    state.bodyBytes = UInt32(Self.subnegotiationLimit + 2)
    hasLetGo = option.isEvent
  }

  /// Nothing is read any more.
  package mutating func forgetHeld() {
    body = []
    hasLetGo = false
    environmentDue = nil
    inflation = nil
    inflated = []
  }

  /// The bytes of a text that `next` found in `input`; good until the next call.
  @_lifetime(borrow self, copy input)
  package func text(_ text: TelnetText, in input: Span<UInt8>) -> Span<UInt8> {
    text.isInflated ? inflated.span.extracting(text.range) : input.extracting(text.range)
  }
}
