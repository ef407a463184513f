/// What one loop owns of zlib, shared by all its sessions: a compressor, and an inflater between messages.

/// Nothing is allocated before the first session needs it.
package final class ZlibPool {
  private var compressor: Compressor?
  /// For clients that asked for less than zlib's widest window.
  private var narrowCompressor: Compressor?
  private var spare: Inflater?

  package init() {}

  package var hasSpareInflater: Bool { spare != nil }

  /// An inflater that has seen nothing yet, for one message.
  func takeInflater(windowBits: Int) -> Inflater {
    guard var inflater = spare.take() else { return Inflater(windowBits: windowBits) }
    inflater.begin(windowBits: windowBits)
    return inflater
  }

  /// The message is over. One inflater is kept; any more were there for messages that came in parts.
  func giveBack(_ inflater: consuming Inflater) {
    if spare == nil { spare = consume inflater }
  }

  /// `Compressor.compress` within a window of `windowBits`, 9 to 15.
  package func compress(
    _ message: Span<UInt8>, windowBits: Int, into output: inout MutableSpan<UInt8>
  ) -> Int? {
    if windowBits == Self.widest {
      if compressor == nil { compressor = Compressor(windowBits: windowBits) }
      return compressor?.compress(message, into: &output)
    }
    // Whoever asks for less than the usual narrow window makes his messages dearer, and the next one's, no
    // more.
    let bits = min(windowBits, Self.usualNarrow)
    if narrowCompressor?.windowBits != bits { narrowCompressor = Compressor(windowBits: bits) }
    return narrowCompressor?.compress(message, into: &output)
  }

  private static let widest = 15
  private static let usualNarrow = 12
}
