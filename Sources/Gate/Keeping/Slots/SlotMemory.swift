/// What slots are written to, a word at a time: shared memory, or what tests have in its place to kill a writer between any
/// two stores.
internal import System

protocol SlotMemory: Sendable {
  func load(at index: Int) -> UInt64
  /// Behind whatever was stored before.
  func store(_ word: UInt64, at index: Int)
  /// All of them behind whatever was stored before, in no order among themselves.
  func store(_ words: Span<UInt64>, at index: Int)
}

extension SharedMemory: SlotMemory {}
