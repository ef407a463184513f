/// Decodes frames in place (RFC 6455 §5): payload moves to the front of the buffer that it was read into.
internal import Bytes

/// The state of one direction of one connection, in less than 100 bytes.
///
/// No allocation for data frames. What a read leaves unfinished (part of a header, part of a control payload,
/// the state of a message) waits in here, so the buffer is free again as soon as `needMore` is said.
package struct FrameDecoder: Sendable {
  package enum Role: Sendable {
    /// Expects masked frames.
    case server
    /// Expects unmasked ones.
    case client
  }

  /// docs/settings.md, "More about some limits". What a compressed message becomes is for whoever inflates it to count;
  /// on the wire it and its frames may take as much as data within the limits that does not compress at all: one part
  /// in 16 more, and a little.
  package struct Limits: Sendable {
    package var frameBytes: Int
    package var messageBytes: Int

    package init(frameBytes: Int = 65_536, messageBytes: Int = 65_536) {
      self.frameBytes = frameBytes
      self.messageBytes = messageBytes
    }
  }

  /// Fragments are bounded by the bytes of their message; those without any, by this number a message.
  package static let emptyFragmentLimit: UInt32 = 65_536

  private let role: Role
  private let acceptsCompressed: Bool
  private let limits: Limits
  private var place = Place.header
  private var header = HeaderReader()
  private var key = MaskingKey()
  /// Payload of the current frame that is still to come.
  private var frameRemaining = 0
  private var message = MessageState()
  /// Payload of an unfinished control frame; empty, and without storage, at any other time.
  private var control: [UInt8] = []

  private enum Place: Equatable, Sendable {
    case header, data, control
    /// What was good before the violation has been delivered; the violation is next.
    case failing(WebSocketViolation)
    /// After Close or a violation: what else comes is dropped.
    case ended
  }

  private struct MessageState: Sendable {
    var bytes = 0
    var emptyFragments: UInt32 = 0
    var isOpen = false
    var type = MessageType.binary
    var isCompressed = false
    /// A piece of it has been told of.
    var isAnnounced = false
    var text = UTF8Validator()

    var isCheckedText: Bool { type == .text && !isCompressed }
  }

  package init(role: Role, limits: Limits = Limits(), acceptsCompressed: Bool = false) {
    self.role = role
    self.limits = limits
    self.acceptsCompressed = acceptsCompressed
  }

  /// Whether Close or a violation has been reported: nothing more will be.
  package var hasEnded: Bool { place == .ended }

  /// The next event in `buffer[position..<end]`. Call until it says `needMore`, which takes all there was.
  ///
  /// Payload of data frames goes to `output`, at or before `position`, and `output` moves behind it: who
  /// starts with zero finds the payload of all pieces since then in `buffer[0..<output]`.
  package mutating func next(
    _ buffer: inout MutableSpan<UInt8>, position: inout Int, end: Int, output: inout Int
  ) -> FrameEvent {
    guard output <= position else { fatalError("FrameDecoder: output runs ahead of input") }
    while true {
      switch place {
      case .header:
        if let event = readHeader(buffer.span, &position, end, output) { return event }
      case .data:
        return readData(&buffer, &position, end, &output)
      case .control:
        return readControl(buffer.span, &position, end)
      case .failing(let violation):
        return fail(violation)
      case .ended:
        position = end
        return .needMore
      }
    }
  }

  // MARK: Headers

  /// Nil when a header is complete and a payload follows.
  private mutating func readHeader(
    _ buffer: Span<UInt8>, _ position: inout Int, _ end: Int, _ output: Int
  ) -> FrameEvent? {
    var context = HeaderReader.Context(
      isInsideMessage: message.isOpen, acceptsCompressed: acceptsCompressed, expectsMask: role == .server,
      frameBytes: limits.frameBytes, messageBytes: limits.messageBytes)
    if message.isOpen {
      if message.isCompressed { context.allowOverhead() }
      context.messageBytes -= message.bytes
    }
    while position < end {
      let violation = header.take(buffer[position], context)
      position += 1
      if let violation { return fail(violation) }
      if header.isComplete { return beginFrame(output) }
    }
    return .needMore
  }

  private mutating func beginFrame(_ output: Int) -> FrameEvent? {
    key = header.key
    frameRemaining = header.length
    if header.opcode.isControl {
      place = .control
      return frameRemaining == 0 ? endControl() : nil
    }
    if !message.isOpen {
      message = MessageState()
      message.isOpen = true
      message.type = header.opcode == .text ? .text : .binary
      message.isCompressed = header.isCompressed
    }
    message.bytes += frameRemaining
    place = .data
    guard frameRemaining == 0 else { return nil }
    message.emptyFragments += 1
    if message.emptyFragments > Self.emptyFragmentLimit { return fail(.tooManyEmptyFragments) }
    if header.isFinal, message.isCheckedText, !message.text.isComplete { return fail(.unfinishedText) }
    return piece(from: output)
  }

  // MARK: Data

  private mutating func readData(
    _ buffer: inout MutableSpan<UInt8>, _ position: inout Int, _ end: Int, _ output: inout Int
  ) -> FrameEvent {
    let count = min(frameRemaining, end - position)
    guard count > 0 else { return .needMore }
    let start = output
    key.apply(in: &buffer, from: position, to: start, count: count)
    position += count
    var good = count
    if message.isCheckedText {
      good = message.text.acceptPrefix(of: buffer.span.extracting(start..<start + count))
      if good < count {
        place = .failing(.invalidText)
      } else if count == frameRemaining, header.isFinal, !message.text.isComplete {
        place = .failing(.unfinishedText)
      }
      if good == 0 { return fail(.invalidText) }
    }
    output += good
    frameRemaining -= count
    return piece(from: start)
  }

  /// The piece that starts at `start`; closes frame and message when they are complete and nothing is wrong.
  private mutating func piece(from start: Int) -> FrameEvent {
    let endsFrame = place == .data && frameRemaining == 0
    let endsMessage = endsFrame && header.isFinal
    let piece = DataPiece(
      start: start, type: message.type, isCompressed: message.isCompressed,
      startsMessage: !message.isAnnounced,
      endsFrame: endsFrame, endsMessage: endsMessage)
    message.isAnnounced = true
    if endsMessage { message.isOpen = false }
    if endsFrame { beginHeader() }
    return .data(piece)
  }

  private mutating func beginHeader() {
    header = HeaderReader()
    place = .header
  }

  // MARK: Control

  private mutating func readControl(_ buffer: Span<UInt8>, _ position: inout Int, _ end: Int) -> FrameEvent {
    let count = min(frameRemaining, end - position)
    guard count > 0 else { return .needMore }
    if control.isEmpty { control.reserveCapacity(frameRemaining) }
    for index in position..<position + count { control.append(key.apply(to: buffer[index])) }
    position += count
    frameRemaining -= count
    if frameRemaining == 0 { return endControl() }
    if header.opcode == .close, let violation = ClosePayload.violation(in: control, isWhole: false) {
      return fail(violation)
    }
    return .needMore
  }

  private mutating func endControl() -> FrameEvent {
    let payload = control
    control = []
    let opcode = header.opcode
    beginHeader()
    switch opcode {
    case .ping: return .ping(payload)
    case .pong: return .pong(payload)
    case .close:
      if let violation = ClosePayload.violation(in: payload, isWhole: true) { return fail(violation) }
      place = .ended
      return .close(ClosePayload.request(payload))
    case .continuation, .text, .binary: fatalError("FrameDecoder: a data frame read as control")
    }
  }

  private mutating func fail(_ violation: WebSocketViolation) -> FrameEvent {
    place = .ended
    control = []
    return .violation(violation)
  }
}
