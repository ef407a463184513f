/// What an `OutgoingLedger` keeps, for the process that goes on with its session.
internal import Bytes
internal import WebSocketWire

/// Messages that went with a process that was killed.
package struct Loss: Equatable, Sendable {
  /// Nobody knows how many.
  package let isUnknown: Bool
  /// The number of the first message after them.
  package let next: Int

  package init(isUnknown: Bool, next: Int) {
    self.isUnknown = isUnknown
    self.next = next
  }
}

package struct OutgoingSnapshot: Equatable, Sendable {
  package let last: Int
  package let acknowledged: Int
  package let highestSent: Int
  /// The number of the first of `records`.
  package let firstKept: Int
  package let loss: Loss?
  /// Messages as frames, and marks for those that were not kept (`RecordQueue`).
  package let records: [UInt8]
  let holes: Int

  /// Nil where the numbers contradict each other, or are not what the records come to.
  package init?(
    checking records: [UInt8], firstKept: Int, last: Int, acknowledged: Int, highestSent: Int, loss: Loss?
  ) {
    guard 0 <= acknowledged, acknowledged <= highestSent, highestSent <= last, last < 1 << 53,
      (1...last + 1).contains(firstKept), loss.map({ (1...last + 1).contains($0.next) }) ?? true,
      let (end, holes) = Self.walk(records.span, from: firstKept), end == last + 1
    else { return nil }
    self.init(
      last: last, acknowledged: acknowledged, highestSent: highestSent, firstKept: firstKept, loss: loss,
      records: records, holes: holes)
  }

  init(
    last: Int, acknowledged: Int, highestSent: Int, firstKept: Int, loss: Loss?, records: [UInt8], holes: Int
  ) {
    self.last = last
    self.acknowledged = acknowledged
    self.highestSent = highestSent
    self.firstKept = firstKept
    self.loss = loss
    self.records = records
    self.holes = holes
  }

  // MARK: Records of unknown origin

  /// The number behind the last record, and how many of them are holes; nil where one is none.
  private static func walk(_ records: Span<UInt8>, from first: Int) -> (end: Int, holes: Int)? {
    var number = first
    var holes = 0
    var offset = 0
    while offset < records.count {
      if records[offset] == RecordQueue.holeMark {
        guard let next = Self.number(records, offset + 1, bytes: 8), next > number, next <= 1 << 53 else {
          return nil
        }
        (number, holes, offset) = (next, holes + 1, offset + 9)
      } else {
        guard let size = frame(records, offset), size <= records.count - offset else { return nil }
        (number, offset) = (number + 1, offset + size)
      }
    }
    return (number, holes)
  }

  /// How long the frame at `offset` is, if it is one that this gate writes: whole messages, not masked, shortest lengths.
  private static func frame(_ records: Span<UInt8>, _ offset: Int) -> Int? {
    guard records[offset] == 0x80 | Opcode.text.rawValue || records[offset] == 0x80 | Opcode.binary.rawValue,
      offset + 1 < records.count
    else { return nil }
    let length = records[offset + 1]
    let payload: Int?
    switch length {
    case 0...125: payload = Int(length)
    case 126: payload = number(records, offset + 2, bytes: 2)
    case 127: payload = number(records, offset + 2, bytes: 8)
    default: return nil
    }
    guard let payload, payload <= records.count else { return nil }
    let header = FrameHeader.size(payload: payload)
    let written = length < 126 ? 2 : length == 126 ? 4 : 10
    return header == written ? header + payload : nil
  }

  private static func number(_ records: Span<UInt8>, _ offset: Int, bytes: Int) -> Int? {
    guard offset + bytes <= records.count else { return nil }
    var number: UInt64 = 0
    for index in offset..<offset + bytes { number = number << 8 | UInt64(records[index]) }
    return Int(exactly: number)
  }
}

extension OutgoingLedger {
  package var snapshot: OutgoingSnapshot {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(records.count)
    records.copy(from: 0, to: records.count, into: &bytes)
    return OutgoingSnapshot(
      last: last, acknowledged: acknowledged, highestSent: highestSent, firstKept: firstKept, loss: loss,
      records: bytes, holes: holes)
  }

  /// Of a session that goes on without a connection. Where the limit is a lower one now, the oldest messages go.
  package init(limit: Int, again: AgainCache, restoring snapshot: OutgoingSnapshot, keepsAll: Bool = false) {
    self.init(limit: limit, again: again)
    last = snapshot.last
    acknowledged = snapshot.acknowledged
    highestSent = snapshot.highestSent
    firstKept = snapshot.firstKept
    holes = snapshot.holes
    loss = snapshot.loss
    if !snapshot.records.isEmpty { records.append(records: snapshot.records.span) }
    detach(keepsAll: keepsAll)
  }

  /// Of a session whose process was killed, with all messages that the app had not got: whoever comes back is told of a gap,
  /// be it one of no messages.
  /// - Parameter isLossUnknown: whether there may have been more messages than `last`, which nobody can have got.
  package init(
    limit: Int, again: AgainCache, afterCrashAt last: Int, acknowledged: Int, highestSent: Int,
    isLossUnknown: Bool
  ) {
    self.init(limit: limit, again: again)
    self.last = last
    self.acknowledged = acknowledged
    self.highestSent = highestSent
    firstKept = last + 1
    loss = Loss(isUnknown: isLossUnknown, next: last + 1)
  }

  /// More messages may be missing than the numbers say, and the app may not know it yet.
  package var isLossUnknown: Bool { loss?.isUnknown ?? false }
}
