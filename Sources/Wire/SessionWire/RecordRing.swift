/// The memory of an `OutgoingLedger`: messages as frames (RFC 6455 §5.2), one behind the other in a ring of bytes.
///
/// A frame's header says how long it is and of what type, so that nothing else has to be noted of a message, and what
/// is kept can be sent as it lies. Between frames stand marks for messages that were not kept.
internal import WebSocketWire

struct RecordRing: Sendable {
  private var bytes: [UInt8] = []
  private var head = 0
  private(set) var count = 0
  /// The most that was held since the ring was empty: so much it asks for when it is filled again, instead of growing
  /// step by step after every acknowledgement.
  private var peak = 0

  var capacity: Int { bytes.count }

  /// The record at an offset from the oldest byte.
  struct Record {
    enum Content {
      case message(MessageType)
      /// Messages are missing up to `next`, which is the number of the first behind them.
      case hole(next: Int)
    }

    let content: Content
    let headerBytes: Int
    let totalBytes: Int
  }

  func record(at offset: Int) -> Record {
    let first = byte(offset)
    if first == Self.holeMark {
      return Record(content: .hole(next: number(at: offset + 1, bytes: 8)), headerBytes: 9, totalBytes: 9)
    }
    let type = first & 0x0F == Opcode.text.rawValue ? MessageType.text : .binary
    let length = byte(offset + 1)
    switch length {
    case 126:
      let payload = number(at: offset + 2, bytes: 2)
      return Record(content: .message(type), headerBytes: 4, totalBytes: 4 + payload)
    case 127:
      let payload = number(at: offset + 2, bytes: 8)
      return Record(content: .message(type), headerBytes: 10, totalBytes: 10 + payload)
    default:
      return Record(content: .message(type), headerBytes: 2, totalBytes: 2 + Int(length))
    }
  }

  /// What lies in one piece from `offset` on, up to `end`: all of it, or what stands before the ring's seam.
  @_lifetime(borrow self)
  func piece(from offset: Int, to end: Int) -> Span<UInt8> {
    if offset >= end { return bytes.span.extracting(0..<0) }
    let start = place(offset)
    return bytes.span.extracting(start..<min(start + end - offset, bytes.count))
  }

  // MARK: Adding and removing

  static func size(payload: Int) -> Int { FrameHeader.size(payload: payload) + payload }

  /// - Parameter limit: memory grows in steps up to here, and beyond by what is needed.
  mutating func append(_ type: MessageType, _ payload: Span<UInt8>, limit: Int) {
    let headerBytes = FrameHeader.size(payload: payload.count)
    let total = headerBytes + payload.count
    if bytes.count - count < total { grow(to: count + total, limit: limit) }
    var offset = place(count)
    count += total
    peak = max(peak, count)
    if bytes.count - offset >= total {
      var room = bytes.mutableSpan
      FrameHeader.write(opcode: type.opcode, payload: payload.count, into: &room, at: offset)
      return Self.copy(payload, into: &room, at: offset + headerBytes)
    }
    var header = [UInt8](repeating: 0, count: headerBytes)
    var headerRoom = header.mutableSpan
    FrameHeader.write(opcode: type.opcode, payload: payload.count, into: &headerRoom, at: 0)
    var room = bytes.mutableSpan
    offset = Self.wrap(header.span, into: &room, at: offset)
    _ = Self.wrap(payload, into: &room, at: offset)
  }

  mutating func appendHole(next: Int, limit: Int) {
    let total = 1 + 8
    if bytes.count - count < total { grow(to: count + total, limit: limit) }
    var mark = [Self.holeMark]
    for place in 0..<8 { mark.append(UInt8(truncatingIfNeeded: next >> ((7 - place) * 8))) }
    let offset = place(count)
    count += total
    peak = max(peak, count)
    var room = bytes.mutableSpan
    _ = Self.wrap(mark.span, into: &room, at: offset)
  }

  mutating func removeFirst(_ removed: Int) {
    count -= removed
    if count > 0 {
      head = place(removed)
    } else {
      // The memory goes back: most sessions wait for somebody to type.
      bytes = []
      head = 0
      return
    }
    if bytes.count > Self.roomyBytes, count < bytes.count / 4 { move(toCapacity: bytes.count / 2) }
  }

  mutating func removeAll() { removeFirst(count) }

  /// Gives back what is not in use.
  mutating func trim() {
    if count > 0, count < bytes.count { move(toCapacity: count) }
  }

  // MARK: Memory

  private func place(_ offset: Int) -> Int {
    let sum = head + offset
    return sum < bytes.count ? sum : sum - bytes.count
  }

  private func byte(_ offset: Int) -> UInt8 { bytes[place(offset)] }

  private func number(at offset: Int, bytes count: Int) -> Int {
    var number = 0
    for index in offset..<offset + count { number = number << 8 | Int(byte(index)) }
    return number
  }

  private mutating func grow(to needed: Int, limit: Int) {
    if bytes.isEmpty {
      let expected = min(max(peak, Self.smallestBytes), Self.roomyBytes)
      peak = 0
      bytes = [UInt8](repeating: 0, count: max(needed, expected))
      return
    }
    // By half, so that little is left over; a ring that is nearly full grows no further than it may.
    let steps = bytes.count + max(bytes.count / 2, Self.smallestBytes)
    move(toCapacity: max(needed, min(steps, max(limit, bytes.count))))
  }

  private mutating func move(toCapacity capacity: Int) {
    bytes = copy(capacity: capacity)
    head = 0
  }

  /// What is held, from the first place on.
  private func copy(capacity: Int) -> [UInt8] {
    var fresh = [UInt8](repeating: 0, count: capacity)
    var room = fresh.mutableSpan
    let first = piece(from: 0, to: count)
    Self.copy(first, into: &room, at: 0)
    Self.copy(piece(from: first.count, to: count), into: &room, at: first.count)
    return fresh
  }

  /// Behind the last byte comes the first; the place behind what was written.
  private static func wrap(_ source: Span<UInt8>, into room: inout MutableSpan<UInt8>, at start: Int) -> Int {
    let before = min(source.count, room.count - start)
    copy(source.extracting(0..<before), into: &room, at: start)
    copy(source.extracting(before..<source.count), into: &room, at: 0)
    let end = start + source.count
    return end < room.count ? end : end - room.count
  }

  private static func copy(_ source: Span<UInt8>, into room: inout MutableSpan<UInt8>, at start: Int) {
    // Both of one length that the compiler sees, so that it copies in words.
    var target = room._mutatingExtracting(start..<start + source.count)
    for index in source.indices { target[index] = source[index] }
  }

  /// No frame begins so.
  private static let holeMark: UInt8 = 0x0F
  /// A few lines, as that is all that most sessions ever have to keep at once.
  private static let smallestBytes = 128
  /// More than this is not held on suspicion.
  private static let roomyBytes = 4096
}
