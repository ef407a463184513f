/// What a game's bytes turn out to be, one thing at a time.
package import Time

package enum TelnetEvent: Equatable, Sendable {
  /// All input has been read, and nothing is left to be told.
  case needMore
  /// A bounded piece of compressed input has been read and nothing came of it, or not all yet: ask again, best in the
  /// session's next turn. The input may be used up already.
  case again
  /// The game has had as many answers as it may in a second. What stands at `position`, if anything does, stays unread:
  /// ask again with it, at this time or later.
  case waits(until: MonotonicTime)

  /// Text in the game's charset; `TelnetEngine.text(_:in:)` has its bytes. It may end within a character.
  case text(TelnetText)
  /// The text before it is a prompt.
  case prompt
  /// From here on the game echoes, or no longer does.
  case echo(Bool)
  /// - data: JSON, checked; what the game sent as data and is no JSON is here as a JSON string; nil where it sent none.
  case gmcp(package: [UInt8], data: [UInt8]?)
  /// The game has agreed to GMCP, or agrees anew: what it said before is void.
  case gmcpAgreed
  /// A JSON object of strings, arrays and objects.
  case msdp([UInt8])
  /// The game has agreed to MSDP, or agrees anew.
  case msdpAgreed
  /// A JSON object of strings and arrays of strings.
  case mssp([UInt8])
  /// The text behind it is in this charset, and so is what is typed from now on: the name that the charset has in
  /// `TelnetCharset`.
  case charset([UInt8])
  case compressionStarted
  /// The game has ended it in good order.
  case compressionEnded
  /// The compressed stream is damaged: what the game says can no longer be read. Said again to whoever asks again.
  case compressionFailed
  /// Something of the game's was left out.
  case dropped(TelnetDrop)
}

/// Where some text lies.
package struct TelnetText: Equatable, Sendable {
  let range: Range<Int>
  /// Not in the input, but in what was inflated of it.
  let isInflated: Bool

  package var count: Int { range.count }
}

/// Why something of the game's was left out.
package enum TelnetDrop: String, Sendable {
  /// A subnegotiation of more than `TelnetEngine.subnegotiationLimit` bytes.
  case tooLong = "subnegotiation_too_long"
  /// An event that its session had no room for (`TelnetEngine.letGoOfSubnegotiation`).
  case letGo = "subnegotiation_let_go"
  /// A subnegotiation with a command in it.
  case interrupted = "subnegotiation_interrupted"
  /// GMCP without a usable name; MSDP or MSSP against its grammar, or nested deeper than 8.
  case malformed = "subnegotiation_malformed"
  /// More than `TelnetEngine.eventLimit` bytes of JSON.
  case eventTooLarge = "event_too_large"
}
