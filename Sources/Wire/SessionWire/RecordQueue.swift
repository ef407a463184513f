/// The memory of an `OutgoingLedger`: messages as frames (RFC 6455 §5.2), one behind the other on pages.
///
/// A frame's header says how long it is and of what type, so that nothing else has to be noted of a message, and what
/// is kept can be sent as it lies. Between frames stand marks for messages that were not kept.
///
/// A few lines have one page of their own size. Whatever is more lies on pages of one size, which are given back one by one as
/// they are read: what one session gives back is then just what another one asks for, while pieces of all sizes would leave
/// gaps between each other, a tenth of all of it.
internal import Bytes
internal import WebSocketWire

/// Frames that lie in one piece.
package struct FramePiece: Sendable {
  fileprivate let page: [UInt8]
  fileprivate let range: Range<Int>

  package var count: Int { range.count }
  package var span: Span<UInt8> {
    @_lifetime(borrow self) get { page.span.extracting(range) }
  }
}

struct RecordQueue: Sendable {
  /// In order; the first one is smaller than the others only while it is alone. Some that were read may stand in front,
  /// empty, so that the others are not moved for each.
  private var pages: [[UInt8]] = []
  private var firstPage = 0
  /// Where the oldest byte lies on the first page.
  private var head = 0
  private(set) var count = 0
  private var capacity = 0
  /// The most that was held since the queue was empty: so much it asks for when it is filled again, instead of growing
  /// step by step after every acknowledgement.
  private var peak = 0

  /// The record at an offset from the oldest byte.
  struct Record {
    enum Content {
      case message(MessageType)
      /// Messages are missing up to `next`, which is the number of the first after them.
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

  /// What lies in one piece from `offset` on, up to `end`: all of it, or what stands on the first page of it.
  func piece(from offset: Int, to end: Int) -> FramePiece {
    if offset >= end { return FramePiece(page: [], range: 0..<0) }
    let (page, start) = place(offset)
    return FramePiece(page: pages[page], range: start..<min(start + end - offset, pages[page].count))
  }

  /// Appends all from `offset` to `end` to `target`.
  func copy(from offset: Int, to end: Int, into target: inout [UInt8]) {
    var offset = offset
    while offset < end {
      let piece = piece(from: offset, to: end)
      target.append(copying: piece.span)
      offset += piece.count
    }
  }

  // MARK: Adding and removing

  static func size(payload: Int) -> Int { FrameHeader.size(payload: payload) + payload }

  mutating func append(_ type: MessageType, _ payload: Span<UInt8>) {
    let headerBytes = FrameHeader.size(payload: payload.count)
    makeRoom(for: headerBytes + payload.count)
    let (page, start) = place(count)
    if pages[page].count - start >= headerBytes {
      var room = pages[page].mutableSpan
      FrameHeader.write(opcode: type.opcode, payload: payload.count, into: &room, at: start)
      count += headerBytes
    } else {
      var header = [UInt8](repeating: 0, count: headerBytes)
      var headerRoom = header.mutableSpan
      FrameHeader.write(opcode: type.opcode, payload: payload.count, into: &headerRoom, at: 0)
      write(header.span)
    }
    write(payload)
    peak = max(peak, count)
  }

  mutating func appendHole(next: Int) {
    makeRoom(for: 1 + 8)
    var mark = [Self.holeMark]
    for place in 0..<8 { mark.append(UInt8(truncatingIfNeeded: next >> ((7 - place) * 8))) }
    write(mark.span)
    peak = max(peak, count)
  }

  /// Records as they lay in another queue.
  mutating func append(records: Span<UInt8>) {
    makeRoom(for: records.count)
    write(records)
    peak = max(peak, count)
  }

  mutating func removeFirst(_ removed: Int) {
    count -= removed
    if count == 0 {
      // The memory goes back: most sessions wait for somebody to type.
      pages = []
      (firstPage, capacity, head) = (0, 0, 0)
      return
    }
    head += removed
    while head >= pages[firstPage].count {
      head -= pages[firstPage].count
      capacity -= pages[firstPage].count
      pages[firstPage] = []
      firstPage += 1
    }
    if firstPage * 2 >= pages.count {
      pages.removeFirst(firstPage)
      firstPage = 0
    }
  }

  /// Gives back what is not in use, where that is less than a page.
  mutating func trim() {
    if pageCount == 1, count < capacity { movePage(toCapacity: count) }
  }

  /// What all of it takes.
  var allocatedBytes: Int { capacity + pageCount * Self.arrayBytes }
  /// What `trim` would leave.
  var trimmedBytes: Int { pageCount == 1 ? count + Self.arrayBytes : allocatedBytes }

  // MARK: Memory

  private var pageCount: Int { pages.count - firstPage }

  /// The page of an offset, and the place on it; behind the last byte of a full page the first place of the next one.
  private func place(_ offset: Int) -> (page: Int, start: Int) {
    let start = head + offset
    let first = pages[firstPage].count
    if start < first { return (firstPage, start) }
    return (firstPage + 1 + (start - first) / Self.pageBytes, (start - first) % Self.pageBytes)
  }

  private func byte(_ offset: Int) -> UInt8 {
    let (page, start) = place(offset)
    return pages[page][start]
  }

  private func number(at offset: Int, bytes count: Int) -> Int {
    var number = 0
    for index in offset..<offset + count { number = number << 8 | Int(byte(index)) }
    return number
  }

  /// Puts `source` behind what there is, where there is room for it.
  private mutating func write(_ source: Span<UInt8>) {
    var written = 0
    while written < source.count {
      let (page, start) = place(count)
      let piece = min(source.count - written, pages[page].count - start)
      Self.copy(source.extracting(written..<written + piece), to: &pages[page], at: start)
      written += piece
      count += piece
    }
  }

  private mutating func makeRoom(for added: Int) {
    if head + count + added <= capacity { return }
    if pageCount <= 1 {
      let needed = count + added
      // A part of the page was read since what is left was moved last.
      if needed <= capacity, head >= capacity / 4 { return movePage(toCapacity: capacity) }
      if capacity < Self.pageBytes { growPage(to: needed) }
    }
    while head + count + added > capacity {
      pages.append([UInt8](repeating: 0, count: Self.pageBytes))
      capacity += Self.pageBytes
    }
  }

  /// The only page, which is not as large yet as all others.
  private mutating func growPage(to needed: Int) {
    var expected = capacity + max(capacity / 2, Self.smallestBytes)
    if pages.isEmpty {
      expected = max(peak, Self.smallestBytes)
      peak = 0
    }
    movePage(toCapacity: min(max(needed, expected), Self.pageBytes))
  }

  /// What is held on the only page stands on its first place then.
  private mutating func movePage(toCapacity wanted: Int) {
    var fresh = [UInt8](repeating: 0, count: wanted)
    Self.copy(piece(from: 0, to: count).span, to: &fresh, at: 0)
    pages = [fresh]
    (firstPage, capacity, head) = (0, wanted, 0)
  }

  private static func copy(_ source: Span<UInt8>, to target: inout [UInt8], at start: Int) {
    var whole = target.mutableSpan
    // Both of one length that the compiler sees, so that it copies in words.
    var room = whole._mutatingExtracting(start..<start + source.count)
    for index in source.indices { room[index] = source[index] }
  }

  /// No frame begins so.
  static let holeMark: UInt8 = 0x0F
  /// A few lines, as that is all that most sessions ever have to keep at once.
  private static let smallestBytes = 128
  /// In front of an array's elements, with the allocator's own word.
  private static let arrayBytes = 48
  /// Each takes as much as a page of the system.
  static let pageBytes = 4096 - arrayBytes
}
