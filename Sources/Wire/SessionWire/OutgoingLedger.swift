/// The counted messages from the gate to the app (docs/sessions.md, "Counting"): each has a number, and is kept until
/// the app has acknowledged it.
///
/// They are numbered from 1. What is kept is a run of numbers up to the last one, perhaps with holes for messages that
/// were too large to be kept. A cursor says what the present connection has been sent.
internal import Bytes
package import TelnetWire
package import WebSocketWire

/// A session has one, and nobody a copy: to look at one would else count a reference to each part of it.
package struct OutgoingLedger: ~Copyable, Sendable {
  /// `SESSION_BUFFER`.
  package let limit: Int
  /// What the state is said again from; its bytes count as buffered.
  package var again: AgainCache

  var records = RecordQueue()
  /// The number of the last message, kept or not.
  package internal(set) var last = 0
  /// The highest number that the app has acknowledged.
  package internal(set) var acknowledged = 0
  /// The highest number that any connection was sent.
  package internal(set) var highestSent = 0
  /// The number of the oldest record.
  var firstKept = 1
  /// Holes among the records.
  var holes = 0
  package private(set) var isAttached = false
  /// Detached, and no message goes for a newer one: whoever comes back has only just lost the connection. It is for others to
  /// let no more come once this is full.
  package var keepsAll = false
  /// Messages went with a process that was killed, until the app has acknowledged one from after that.
  var loss: Loss?
  /// The app has to be told of it, even if none is missing.
  var isLossDue = false

  // What the present connection gets next. The record at `cursorOffset` has the number `cursor`, unless messages are
  // missing there.
  var cursor = 1
  var cursorOffset = 0
  /// Bytes of that record that were sent already.
  var sentOfRecord = 0
  /// Holes that the present connection is still to be told of.
  var holesAhead = 0

  package init(limit: Int, again: AgainCache) {
    self.limit = limit
    self.again = again
  }

  /// What counts for `SESSION_BUFFER` and `SESSION_BUFFERS_TOTAL`.
  package var bufferedBytes: Int { records.count + again.bytes }
  /// Attached, nothing more is read of the game then.
  package var isFull: Bool { bufferedBytes >= limit }
  /// Whether an app has to acknowledge at once what it has not: so many messages, or so much of them.
  package var isAcknowledgementDue: Bool {
    last - acknowledged >= AckSchedule.messageLimit
      || records.count >= AckSchedule.byteLimit + Self.headersDue
  }
  /// How much more may be kept.
  package var room: Int { max(0, limit - bufferedBytes) }
  /// Memory beside the structure itself.
  package var allocatedBytes: Int { records.allocatedBytes + again.bytes }

  // MARK: Messages

  /// The next number is this message's.
  ///
  /// Attached, it is kept whatever its size, and comes last in `unsentFrames`. Detached, the oldest make room for it,
  /// unless all is kept; a message that has none even so is missing from then on.
  package mutating func append(_ type: MessageType, _ payload: Span<UInt8>) {
    if !isAttached, !keepsAll {
      let size = RecordQueue.size(payload: payload.count)
      guard size + again.bytes <= limit else { return appendHole() }
      while size + bufferedBytes > limit, evictOldest() > 0 {}
    }
    last += 1
    records.append(type, payload)
  }

  /// Text of the game, in as many messages as it takes: so that a detached session loses the oldest of it and not all,
  /// none has more than a part of the buffer. They end between characters.
  package mutating func append(text: Span<UInt8>) {
    let most = min(Self.textBytes, max(limit / 4, 16))
    var start = 0
    while text.count - start > most {
      var end = start + most
      while end > start, text[end] & 0xC0 == 0x80 { end -= 1 }
      // No character is so long: the bytes are no UTF-8.
      if end == start { end = start + most }
      append(.binary, text.extracting(start..<end))
      start = end
    }
    if start < text.count { append(.binary, text.extracting(start..<text.count)) }
  }

  /// What the game says of its state, after the message that tells the app of it.
  package mutating func note(_ event: TelnetEvent) {
    again.note(event)
    keepWithinLimit()
  }

  /// The next number is that of a message which nobody will get.
  package mutating func appendHole() {
    last += 1
    records.appendHole(next: last + 1)
    holes += 1
    if isAttached { holesAhead += 1 }
    keepWithinLimit()
  }

  /// The app has got all up to `number`. What is above what its connection was sent, or below what it said before, is
  /// ignored.
  package mutating func acknowledge(_ number: Int) {
    guard isAttached, number > acknowledged, number < cursor else { return }
    acknowledged = number
    if let loss, number >= loss.next { self.loss = nil }
    while records.count > 0 {
      let record = records.record(at: 0)
      guard end(of: record, numbered: firstKept) <= number + 1 else { break }
      remove(record)
    }
  }

  private mutating func keepWithinLimit() {
    while !keepsAll, bufferedBytes > limit, evictOldest() > 0 {}
  }

  /// Of a detached session, for whom there is too little room: the bytes that this has freed.
  @discardableResult
  package mutating func evictOldest() -> Int {
    guard !isAttached, records.count > 0 else { return 0 }
    let record = records.record(at: 0)
    remove(record)
    return record.totalBytes
  }

  /// Of a detached session: so many bytes that are no message yet fit beside the messages.
  package mutating func makeRoom(for bytes: Int) {
    while bytes + bufferedBytes > limit, evictOldest() > 0 {}
  }

  // MARK: Connections

  /// A new session's connection.
  package mutating func attach() {
    guard attach(after: 0) else { fatalError("OutgoingLedger: nothing is above nothing") }
  }

  /// Whether an app can have got so many.
  package func wasSent(_ number: Int) -> Bool { (0...highestSent).contains(number) }

  /// The session has a new connection, whose app has got all up to `number`. False, and nothing changes, if it was
  /// never sent so many.
  package mutating func attach(after number: Int) -> Bool {
    guard wasSent(number) else { return false }
    isAttached = true
    keepsAll = false
    cursor = number + 1
    cursorOffset = 0
    sentOfRecord = 0
    isLossDue = loss.map { cursor <= $0.next } ?? false
    holesAhead = holes
    var recordNumber = firstKept
    while cursorOffset < records.count {
      let record = records.record(at: cursorOffset)
      let end = end(of: record, numbered: recordNumber)
      if end > cursor { break }
      if case .hole = record.content { holesAhead -= 1 }
      recordNumber = end
      cursorOffset += record.totalBytes
    }
    return true
  }

  /// Of a detached session: takes no more memory than so much from now on, for which the oldest messages go.
  package mutating func evict(downTo bytes: Int) {
    while records.trimmedBytes + again.bytes > bytes, evictOldest() > 0 {}
    records.trim()
  }

  /// The session has no connection any more.
  /// - Parameter keepsAll: nothing goes, neither now nor for messages that come.
  package mutating func detach(keepsAll: Bool = false) {
    isAttached = false
    self.keepsAll = keepsAll
    if bufferedBytes > limit, !keepsAll {
      if holdsTooLarge { dropTooLarge() }
      while bufferedBytes > limit, evictOldest() > 0 {}
    }
    records.trim()
  }

  // MARK: Records

  private func end(of record: RecordQueue.Record, numbered number: Int) -> Int {
    switch record.content {
    case .message: number + 1
    case .hole(let next): next
    }
  }

  /// The oldest record.
  private mutating func remove(_ record: RecordQueue.Record) {
    firstKept = end(of: record, numbered: firstKept)
    if case .hole = record.content { holes -= 1 }
    records.removeFirst(record.totalBytes)
    cursorOffset = max(0, cursorOffset - record.totalBytes)
  }

  private var holdsTooLarge: Bool {
    var offset = 0
    while offset < records.count {
      let record = records.record(at: offset)
      if record.totalBytes + again.bytes > limit { return true }
      offset += record.totalBytes
    }
    return false
  }

  /// Holes stand for messages that alone would be too much for a detached session.
  private mutating func dropTooLarge() {
    var kept = RecordQueue()
    var offset = 0
    var number = firstKept
    var payload: [UInt8] = []
    while offset < records.count {
      let record = records.record(at: offset)
      let next = end(of: record, numbered: number)
      switch record.content {
      case .message(let type) where record.totalBytes + again.bytes <= limit:
        payload.removeAll(keepingCapacity: true)
        records.copy(from: offset + record.headerBytes, to: offset + record.totalBytes, into: &payload)
        kept.append(type, payload.span)
      case .message:
        holes += 1
        kept.appendHole(next: next)
      case .hole:
        kept.appendHole(next: next)
      }
      number = next
      offset += record.totalBytes
    }
    records = kept
  }

  /// Of as few messages as are not due by their number; the app counts payload.
  private static let headersDue = (AckSchedule.messageLimit - 1) * 10

  /// With its header, a TLS record of 16 KiB.
  private static let textBytes = 16 * 1024 - 4
}
