/// What the present connection of a session is sent of its messages: frames as they lie, or one message at a time for
/// who frames it anew, and the gaps between them.
internal import Bytes
package import WebSocketWire

extension OutgoingLedger {
  /// Messages that the app will never get.
  package struct Gap: Equatable, Sendable {
    /// How many; nil where nobody knows.
    package let messages: Int?
    /// The number of the next message after them.
    package let next: Int
    /// Whether the connection meets no other one.
    package let isLast: Bool

    package init(messages: Int?, next: Int, isLast: Bool = true) {
      self.messages = messages
      self.next = next
      self.isLast = isLast
    }
  }

  /// The number of the message that the present connection gets next.
  package var cursorNumber: Int { cursor }

  /// Whether the present connection has not been sent everything.
  package var hasUnsent: Bool { isAttached && (cursor <= last || isLossDue) }

  /// Whether something else may be sent now: uncounted messages and control frames never stand inside a frame.
  package var isBetweenFrames: Bool { sentOfRecord == 0 }

  /// Whether the present connection is to be told of a gap, now or later.
  package var hasGapAhead: Bool { isAttached && (holesAhead > 0 || isGapNext) }

  /// The gap that comes next; the cursor is then behind it. To be asked for before `unsentFrames`.
  package mutating func takeGap() -> Gap? {
    guard hasUnsent, sentOfRecord == 0 else { return nil }
    let start = cursor
    if cursorOffset == 0, cursor < firstKept { cursor = firstKept }
    while cursorOffset < records.count, case .hole(let next) = records.record(at: cursorOffset).content {
      cursor = next
      cursorOffset += records.record(at: cursorOffset).totalBytes
      holesAhead -= 1
    }
    if cursor == start, !isLossDue { return nil }
    highestSent = max(highestSent, cursor - 1)
    defer { isLossDue = false }
    let isUnknown = isLossDue && loss?.isUnknown == true
    return Gap(messages: isUnknown ? nil : cursor - start, next: cursor, isLast: holesAhead == 0)
  }

  /// Frames for the present connection, as they lie: whole ones, or a part of one at a page's end. Empty when all
  /// is sent, or a gap comes first.
  package var unsentFrames: FramePiece { records.piece(from: cursorOffset + sentOfRecord, to: unsentEnd) }

  /// The first `bytes` of `unsentFrames` were sent.
  package mutating func markSent(bytes: Int) {
    var left = sentOfRecord + bytes
    if cursorOffset + left == records.count {
      (cursorOffset, cursor, left) = (records.count, last + 1, 0)
    }
    while left > 0 {
      let record = records.record(at: cursorOffset)
      if record.totalBytes > left { break }
      left -= record.totalBytes
      cursorOffset += record.totalBytes
      cursor += 1
    }
    sentOfRecord = left
    highestSent = max(highestSent, cursor - 1)
  }

  /// The payload of the next unsent message, behind what `payload` holds, for who frames it anew; nil when all is sent,
  /// or a gap comes first. Then `markMessageSent`.
  package func copyUnsentMessage(into payload: inout [UInt8]) -> MessageType? {
    guard isAttached, !isGapNext, sentOfRecord == 0, cursorOffset < records.count else { return nil }
    let record = records.record(at: cursorOffset)
    guard case .message(let type) = record.content else { return nil }
    records.copy(
      from: cursorOffset + record.headerBytes, to: cursorOffset + record.totalBytes, into: &payload)
    return type
  }

  package mutating func markMessageSent() {
    guard cursorOffset < records.count else { return }
    cursorOffset += records.record(at: cursorOffset).totalBytes
    cursor += 1
    highestSent = max(highestSent, cursor - 1)
  }

  /// What comes before the oldest record has to be told of first.
  private var isGapNext: Bool { cursorOffset == 0 && (cursor < firstKept || isLossDue) }

  /// Where the frames end that can be sent now; with holes among them not looked for beyond what one piece can have, as this
  /// is asked for each.
  private var unsentEnd: Int {
    guard isAttached, !isGapNext else { return 0 }
    if holes == 0 { return records.count }
    let enough = min(records.count, cursorOffset + sentOfRecord + RecordQueue.pageBytes)
    var end = cursorOffset
    while end < enough {
      let record = records.record(at: end)
      if case .hole = record.content { break }
      end += record.totalBytes
    }
    return end
  }
}
