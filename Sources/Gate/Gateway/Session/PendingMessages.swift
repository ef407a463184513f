/// Whole messages that came faster than `INPUT_RATE` lets them.
internal import Bytes
internal import WebSocketWire

/// Each lies behind its type and its length, in bytes of seven bits: a message of no bytes, of which a record has thousands,
/// takes less room here than its frame did.
struct PendingMessages {
  private var bytes: [UInt8] = []
  /// Where the oldest one begins.
  private var start = 0

  var isEmpty: Bool { start == bytes.count }
  /// What they take.
  var storedBytes: Int { bytes.count }

  /// The oldest one.
  var first: (message: [UInt8], type: MessageType)? {
    if isEmpty { return nil }
    return (Array(bytes[content]), bytes[start] == Self.textMark ? .text : .binary)
  }

  mutating func append(_ message: Span<UInt8>, type: MessageType) {
    bytes.append(type == .text ? Self.textMark : 0)
    var rest = message.count
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
    bytes.append(copying: message)
  }

  mutating func removeFirst() {
    start = content.upperBound
    if isEmpty { self = PendingMessages() }
  }

  /// Where the oldest one's payload lies.
  private var content: Range<Int> {
    var place = start + 1
    var count = Int(bytes[place] & 0x7F)
    var shift = 7
    while bytes[place] >= 0x80 {
      place += 1
      count |= Int(bytes[place] & 0x7F) << shift
      shift += 7
    }
    return place + 1..<place + 1 + count
  }

  private static let textMark: UInt8 = 1
}
