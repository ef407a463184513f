/// The layouts of a session's words in a slot: the one that is written, and all that are understood.

struct SlotLayout: Sendable {
  let number: UInt8
  let progress: @Sendable (KeptProgress.Words) throws(KeptError) -> KeptProgress
  let description: @Sendable ([UInt8]) throws(KeptError) -> KeptDescription

  /// What `KeptProgress.words` and `KeptDescription.coded` write.
  static let current: UInt8 = 1

  static let first = SlotLayout(
    number: 1, progress: { (words) throws(KeptError) in try KeptProgress(words: words) },
    description: { (bytes) throws(KeptError) in try KeptDescription(coded: bytes) })

  /// What this program goes on with.
  static let known = [first]
}
