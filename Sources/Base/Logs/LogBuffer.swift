/// Lines that wait for the writer, bounded in bytes and lines. A state machine without lock or thread.
///
/// Lines leave in the order in which they came. When there is no room the newest are left out and counted,
/// and go on being left out until the writer comes, so that the notice of their number stands where they
/// would have stood.
struct LogBuffer {
  struct Limits: Sendable {
    var bytes = 4 << 20
    var lines = 16_384
  }

  struct Batch {
    var bytes: [UInt8]
    fileprivate(set) var lines: Int
    /// Left out, or lost in a failed write, before the end of this batch.
    fileprivate(set) var leftOut: Int
    fileprivate var sequence: UInt64
  }

  /// Of all lines offered so far, written, waiting or left out.
  private(set) var sequence: UInt64 = 0
  /// Up to here all is written, or counted as left out.
  private(set) var finishedSequence: UInt64 = 0

  private let limits: Limits
  private var pending: [UInt8] = []
  private var pendingLines = 0
  private var writingBytes = 0
  private var writingLines = 0
  private var leftOut = 0
  private var lost = 0
  /// The last batch's memory, to be filled again.
  private var spare: [UInt8] = []

  init(limits: Limits) {
    self.limits = limits
  }

  /// So many wait that there may soon be no room.
  var isHalfFull: Bool { pending.count > limits.bytes / 2 || pendingLines > limits.lines / 2 }

  /// Whether the line was taken.
  mutating func append(_ line: [UInt8]) -> Bool {
    sequence += 1
    let fits =
      pending.count + writingBytes + line.count <= limits.bytes
      && pendingLines + writingLines < limits.lines
    guard fits, leftOut == 0 else {
      leftOut += 1
      return false
    }
    pending += line
    pendingLines += 1
    return true
  }

  /// What the writer writes next, or nil when nothing waits; to be followed by `finish`.
  mutating func take() -> Batch? {
    guard pendingLines > 0 || leftOut > 0 else { return nil }
    let batch = Batch(bytes: pending, lines: pendingLines, leftOut: leftOut + lost, sequence: sequence)
    (pending, spare) = (spare, [])
    writingBytes = batch.bytes.count
    writingLines = pendingLines
    pendingLines = 0
    leftOut = 0
    lost = 0
    return batch
  }

  /// Lines of a failed write are counted, and told of with the next batch: output that is gone is not written
  /// to again only to say so.
  mutating func finish(_ batch: consuming Batch, written: Bool) {
    if !written { lost += batch.lines + batch.leftOut }
    writingBytes = 0
    writingLines = 0
    finishedSequence = batch.sequence
    batch.bytes.removeAll(keepingCapacity: batch.bytes.capacity <= 1 << 18)
    spare = batch.bytes
  }
}
