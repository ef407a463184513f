@testable import WebSocketWire

/// RFC 6455 read plainly: all input is there from the start, everything is copied, nothing is fast.
///
/// It shares no code with the decoder beyond the names of what it finds.
struct Model {
  let setup: Setup
  private var input: [UInt8]
  private var happenings: [Happening] = []
  private var open: (type: MessageType, rsv1: Bool, bytes: [UInt8], length: Int, announced: Bool)?

  static func decode(_ bytes: [UInt8], _ setup: Setup) -> [Happening] {
    var model = Model(setup: setup, input: bytes)
    do { while !model.input.isEmpty { try model.readFrame() } } catch let stop {
      if let violation = stop.violation { model.happenings.append(.violation(violation)) }
    }
    return model.happenings
  }

  private init(setup: Setup, input: [UInt8]) {
    self.setup = setup
    self.input = input
  }

  /// The end of decoding: out of input, after Close, or a violation.
  private struct Stop: Error {
    var violation: WebSocketViolation?
  }

  private mutating func take() throws(Stop) -> UInt8 {
    if input.isEmpty { throw Stop() }
    return input.removeFirst()
  }

  private mutating func readFrame() throws(Stop) {
    let first = try take()
    let (fin, rsv1, number) = (first >= 128, first & 64 == 64, first % 16)
    if first & 48 != 0 { throw Stop(violation: .reservedBits) }
    if rsv1, !setup.acceptsCompressed || (number != 1 && number != 2) { throw Stop(violation: .reservedBits) }
    if ![0, 1, 2, 8, 9, 10].contains(number) { throw Stop(violation: .unknownOpcode) }
    if number > 7, !fin { throw Stop(violation: .fragmentedControl) }
    if number == 0, open == nil { throw Stop(violation: .unexpectedContinuation) }
    if number == 1 || number == 2, open != nil { throw Stop(violation: .unfinishedMessage) }
    let second = try take()
    let masked = second >= 128
    if masked, setup.role == .client { throw Stop(violation: .masked) }
    if !masked, setup.role == .server { throw Stop(violation: .unmasked) }
    let length = try readLength(
      Int(second % 128), control: number > 7, close: number == 8, compressed: open?.rsv1 ?? rsv1)
    var mask: [UInt8] = [0, 0, 0, 0]
    if masked { for index in 0..<4 { mask[index] = try take() } }
    if number > 7 {
      try readControl(number, length, mask)
    } else {
      try readData(number, length, mask, fin: fin, rsv1: rsv1)
    }
  }

  private mutating func readLength(
    _ short: Int, control: Bool, close: Bool, compressed: Bool
  ) throws(Stop) -> Int {
    if control, short > 125 { throw Stop(violation: .controlTooLong) }
    if close, short == 1 { throw Stop(violation: .closeLength) }
    if control { return short }
    let (frameLimit, messageLimit) = (setup.limits.frameBytes, setup.limits.messageBytes)
    let most = compressed ? frameLimit + frameLimit / 16 + 64 : frameLimit
    let room = (compressed ? messageLimit + messageLimit / 16 + 64 : messageLimit) - (open?.length ?? 0)
    let limit = min(room, most)
    let excess = WebSocketViolation.self
    let tooLarge: WebSocketViolation =
      room < most ? excess.messageTooLarge : excess.frameTooLarge
    guard short > 125 else {
      if short > limit { throw Stop(violation: tooLarge) }
      return short
    }
    let size = short == 126 ? 2 : 8
    var digits: [UInt8] = []
    for _ in 0..<size {
      digits.append(try take())
      if size == 8, digits[0] > 127 { throw Stop(violation: .lengthTopBit) }
      // Whether what can still come could make this length a good one.
      let lowest = Self.number(digits + [UInt8](repeating: 0, count: size - digits.count))
      let highest = Self.number(digits + [UInt8](repeating: 255, count: size - digits.count))
      if highest < (size == 2 ? 126 : 65_536) { throw Stop(violation: .nonMinimalLength) }
      if lowest > limit { throw Stop(violation: tooLarge) }
    }
    return Self.number(digits)
  }

  private static func number(_ digits: [UInt8]) -> Int {
    digits.reduce(0) { $0 * 256 + Int($1) }
  }

  private mutating func readControl(_ number: UInt8, _ length: Int, _ mask: [UInt8]) throws(Stop) {
    var payload: [UInt8] = []
    for index in 0..<length {
      payload.append(try take() ^ mask[index % 4])
      if number == 8, payload.count >= 2 {
        let code = Int(payload[0]) * 256 + Int(payload[1])
        let allowed = Array(1000...1003) + Array(1007...1014) + Array(3000...4999)
        if !allowed.contains(code) { throw Stop(violation: .closeCode) }
        if !Self.couldBeText(Array(payload[2...])) { throw Stop(violation: .closeReason) }
      }
    }
    switch number {
    case 9: happenings.append(.ping(payload))
    case 10: happenings.append(.pong(payload))
    default:
      let reason = String(validating: payload.dropFirst(2), as: UTF8.self)
      guard let reason else { throw Stop(violation: .closeReason) }
      let code = payload.isEmpty ? nil : UInt16(payload[0]) * 256 + UInt16(payload[1])
      happenings.append(.close(code: code, reason: reason))
      throw Stop()
    }
  }

  private mutating func readData(
    _ number: UInt8, _ length: Int, _ mask: [UInt8], fin: Bool, rsv1: Bool
  ) throws(Stop) {
    var message = open ?? (number == 1 ? .text : .binary, rsv1, [], 0, false)
    message.length += length
    open = message
    var payload: [UInt8] = []
    let checked = message.type == .text && !message.rsv1
    var problem: WebSocketViolation?
    while payload.count < length, problem == nil, !input.isEmpty {
      let byte = input.removeFirst() ^ mask[payload.count % 4]
      message.bytes.append(byte)
      if checked, !Self.couldBeText(message.bytes) { problem = .invalidText } else { payload.append(byte) }
      // Only what no character has ended yet needs to be looked at again.
      if String(validating: message.bytes, as: UTF8.self) != nil { message.bytes = [] }
    }
    let complete = problem == nil && payload.count == length
    if complete, fin, checked, String(validating: message.bytes, as: UTF8.self) == nil {
      problem = .unfinishedText
    }
    if !payload.isEmpty || (complete && problem == nil) {
      let ends: Happening.Frame = !complete || problem != nil ? .unfinished : fin ? .message : .fragment
      happenings.append(
        .data(
          type: message.type, isCompressed: message.rsv1, starts: !message.announced, ends: ends,
          bytes: payload))
      message.announced = true
    }
    open = message
    if let problem { throw Stop(violation: problem) }
    if !complete { throw Stop() }
    if fin { open = nil }
  }

  /// Whether some bytes behind these would make them valid text.
  private static func couldBeText(_ bytes: [UInt8]) -> Bool {
    for tail: [UInt8] in [
      [], [0x80], [0xBF], [0x80, 0x80], [0xBF, 0xBF], [0x90, 0x80], [0xA0, 0x80], [0x80, 0x80, 0x80],
      [0xBF, 0xBF, 0xBF], [0x90, 0x80, 0x80],
    ] where String(validating: bytes + tail, as: UTF8.self) != nil {
      return true
    }
    return false
  }
}
