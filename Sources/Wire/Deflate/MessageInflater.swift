/// Inflates the messages of one peer as their bytes come (RFC 7692 §7.2.2), within the message limit and, for
/// text, checked as UTF-8.
///
/// Between messages it holds no zlib state: the pool lends an inflater with the first byte of a message and
/// has it back with the last, or in `rest()` from a peer that keeps its context. Of such a one the window is here, as many
/// bytes as came and at most its size. What of a message is here is inflated and passed on at once, as an uncompressed
/// message's bytes are; a message that stops half way keeps its inflater, at most 39 KiB, and not the bytes
/// that came.
internal import Bytes
package import WebSocketWire

package struct MessageInflater: ~Copyable {
  package enum Outcome: Equatable {
    /// All of the payload was used up, and the message is over if it ended with it.
    case taken
    /// Call again with the payload from this index on, and more room, before anything else.
    case outputFull(taken: Int)
    /// What was written before it is good; the connection fails.
    case violation(WebSocketViolation)
  }

  private let windowBits: Int
  private let messageBytes: Int
  private let keepsContext: Bool
  /// What the next message may reach back into, while there is no inflater.
  private var window: [UInt8] = []
  /// Of the message under way; with context, of those before it as well, until `rest`.
  private var inflater: Inflater?
  private var isUnderWay = false
  private var made = 0
  private var hasPayload = false
  private var tailTaken = 0
  private var text = UTF8Validator()

  /// - Parameters:
  ///   - windowBits: what the peer compresses with, at most.
  ///   - messageBytes: what a message may have once inflated.
  ///   - keepsContext: whether a message may reach back into those before it.
  package init(windowBits: Int, messageBytes: Int, keepsContext: Bool = false) {
    self.windowBits = windowBits
    self.messageBytes = messageBytes
    self.keepsContext = keepsContext
  }

  package var holdsInflater: Bool { inflater != nil }
  /// Of messages that are over.
  package var windowBytes: Int { window.count }

  /// Inflates `payload`, or what of it is not done yet, into `output[end...]`, and moves `end` behind what
  /// came.
  package mutating func take(
    _ payload: Span<UInt8>, type: MessageType, endsMessage: Bool, from pool: ZlibPool,
    into output: inout MutableSpan<UInt8>, at end: inout Int
  ) -> Outcome {
    if inflater == nil {
      inflater = pool.takeInflater(windowBits: windowBits)
      inflater?.resume(window)
    }
    isUnderWay = true
    if !payload.isEmpty { hasPayload = true }
    var outcome = Outcome.taken
    if tailTaken == 0 { outcome = inflate(payload, isText: type == .text, &output, &end) }
    if outcome == .taken, endsMessage {
      outcome = finish(payload.count, isText: type == .text, &output, &end)
    }
    switch outcome {
    case .taken where endsMessage:
      endMessage()
      if !keepsContext { giveBack(to: pool) }
    case .violation:
      endMessage()
      giveBack(to: pool)
    case .taken, .outputFull: break
    }
    return outcome
  }

  /// Nothing else is here to be inflated for now. Called once for what was read together and not for each message, as a whole
  /// window is copied here, and with the next message once more.
  package mutating func rest(_ pool: ZlibPool) {
    guard keepsContext, !isUnderWay else { return }
    inflater?.save(to: &window)
    giveBack(to: pool)
  }

  private mutating func giveBack(to pool: ZlibPool) {
    if let inflater = inflater.take() { pool.giveBack(inflater) }
  }

  private mutating func endMessage() {
    isUnderWay = false
    made = 0
    hasPayload = false
    tailTaken = 0
    text = UTF8Validator()
  }

  // MARK: Parts of a message

  /// The end of a message: what the sender cut off goes in, and must end a block.
  private mutating func finish(
    _ count: Int, isText: Bool, _ output: inout MutableSpan<UInt8>, _ end: inout Int
  ) -> Outcome {
    // Senders that leave the tail where it is, or end with a last block and nothing behind it, are understood
    // too.
    let isOver = tailTaken == 0 && (!hasPayload || inflater?.isBetweenBlocks ?? true)
    if !isOver {
      let rest = Self.tail.span.extracting(tailTaken..<Self.tail.count)
      switch inflate(rest, isText: isText, &output, &end) {
      case .taken: break
      case .outputFull(let taken):
        tailTaken += taken
        return .outputFull(taken: count)
      case .violation(let violation): return .violation(violation)
      }
      guard inflater?.isBetweenBlocks ?? false else { return .violation(.invalidDeflate) }
    }
    return isText && !text.isComplete ? .violation(.unfinishedText) : .taken
  }

  /// Never writes more than one byte beyond the limit, whatever the input claims to become.
  private mutating func inflate(
    _ input: Span<UInt8>, isText: Bool, _ output: inout MutableSpan<UInt8>, _ end: inout Int
  ) -> Outcome {
    let start = end
    var room = output._mutatingExtracting(start..<min(output.count, start + messageBytes - made + 1))
    let roomCount = room.count
    let progress = inflater?.inflate(input, into: &room) ?? Inflater.Progress()
    let allowed = min(progress.made, messageBytes - made)
    let good = isText ? text.acceptPrefix(of: output.span.extracting(start..<start + allowed)) : allowed
    end += good
    made += good
    if good < allowed { return .violation(.invalidText) }
    if allowed < progress.made { return .violation(.messageTooLarge) }
    if progress.isMalformed { return .violation(.invalidDeflate) }
    return progress.made == roomCount ? .outputFull(taken: progress.taken) : .taken
  }

  private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
}
