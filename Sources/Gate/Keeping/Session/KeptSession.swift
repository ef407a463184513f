/// A session as its slot says it was when the gate's process ended.

package struct KeptSession: Equatable, Sendable {
  package var description: KeptDescription
  package var progress: KeptProgress
  /// Bytes of the game's may have been read that nobody has any more.
  package var wasReading: Bool
  /// The messages in the write that was under way; nil when none was.
  package var writing: Int?
  /// The bytes that it has offered to the socket; 0 when none was.
  package var offered: Int
  /// Grows with each change: snapshot belongs to one of them.
  package var sequence: UInt64

  package init(
    description: KeptDescription, progress: KeptProgress, wasReading: Bool = false, writing: Int? = nil,
    offered: Int = 0, sequence: UInt64 = 0
  ) {
    self.description = description
    self.progress = progress
    self.wasReading = wasReading
    self.writing = writing
    self.offered = offered
    self.sequence = sequence
  }
}

extension KeptSession {
  init(_ image: SlotImage, knowing layouts: [SlotLayout] = SlotLayout.known) throws(KeptError) {
    guard let layout = layouts.first(where: { $0.number == image.layout }) else {
      throw .unknownLayout(UInt64(image.layout))
    }
    let progress = try layout.progress(image.progress)
    // A mark is at most one ahead of what has ended.
    let reads = image.readsBegun &- image.readsEnded
    let writes = image.writesBegun &- image.writesEnded
    guard reads <= 1, writes <= 1 else { throw .unfit(.counts) }
    self.init(
      description: try layout.description(image.cold), progress: progress, wasReading: reads == 1,
      writing: writes == 1 ? Int(image.messagesOfWrite) : nil,
      offered: writes == 1 ? Int(clamping: image.bytesOfWrite) : 0, sequence: image.sequence)
  }
}
