/// What a slot says that some program has left, read from a copy of its words: whatever stands there, it comes to a session,
/// to nothing, or to an error.

struct SlotImage {
  let owner: SlotOwner
  let sequence: UInt64
  let layout: UInt8
  let coldCopy: Int
  let readsBegun: UInt32
  let writesBegun: UInt32
  let readsEnded: UInt32
  let writesEnded: UInt32
  /// Of the write that was begun last.
  let messagesOfWrite: UInt32
  let bytesOfWrite: UInt64
  let progress: KeptProgress.Words
  /// The description.
  let cold: [UInt8]

  /// - Parameter words: all of slot `index`, which is somebody's.
  init(_ words: [UInt64], index: Int) throws(KeptError) {
    guard words.count == SlotGeometry.slotWords else { throw .endsEarly }
    let owner = SlotOwner(word: words[SlotGeometry.owner])
    var best: Int?
    for copy in 0..<2 where Self.checks(words, copy, owner.seed(index)) {
      let sequence = words[SlotGeometry.hot(copy) + SlotGeometry.sequence]
      if let other = best, words[SlotGeometry.hot(other) + SlotGeometry.sequence] > sequence { continue }
      best = copy
    }
    guard let best else { throw .noCopyChecks }
    let hot = words[SlotGeometry.hot(best)..<SlotGeometry.hot(best) + SlotGeometry.hotWords]
    let start = hot.startIndex
    let naming = Naming(hot[start + SlotGeometry.naming])
    let ended = hot[start + SlotGeometry.ended]
    self.owner = owner
    sequence = hot[start + SlotGeometry.sequence]
    layout = naming.layout
    coldCopy = naming.copy
    readsBegun = UInt32(truncatingIfNeeded: words[SlotGeometry.reads])
    writesBegun = UInt32(truncatingIfNeeded: words[SlotGeometry.writes])
    messagesOfWrite = UInt32(truncatingIfNeeded: words[SlotGeometry.writes] >> 32)
    bytesOfWrite = words[SlotGeometry.offered]
    readsEnded = UInt32(truncatingIfNeeded: ended)
    writesEnded = UInt32(truncatingIfNeeded: ended >> 32)
    progress = KeptProgress.Words { hot[start + SlotGeometry.progress + $0] }
    cold = Self.cold(words, naming)
  }

  /// Which copy of the description a copy of the progress names.
  private struct Naming {
    let layout: UInt8
    let copy: Int
    let bytes: Int
    let isPossible: Bool

    init(_ word: UInt64) {
      layout = UInt8(truncatingIfNeeded: word)
      copy = Int(word >> 8 & 1)
      bytes = Int(word >> 16 & 0xFFFF)
      isPossible = word >> 32 == 0 && word >> 8 & 0xFF < 2 && bytes <= SlotGeometry.coldWords * 8
    }
  }

  private static func checks(_ words: [UInt64], _ copy: Int, _ seed: UInt64) -> Bool {
    let start = SlotGeometry.hot(copy)
    let hot = words.span.extracting(start..<start + SlotGeometry.hotWords)
    guard hot[SlotGeometry.checksum] == hotChecksum(hot, seed: seed) else { return false }
    let naming = Naming(hot[SlotGeometry.naming])
    guard naming.isPossible else { return false }
    let cold = SlotGeometry.cold(naming.copy)
    return coldChecksum(
      words.span.extracting(cold..<cold + SlotGeometry.coldWords), count: naming.bytes, seed: seed)
      == hot[SlotGeometry.coldChecksum]
  }

  private static func cold(_ words: [UInt64], _ naming: Naming) -> [UInt8] {
    let start = SlotGeometry.cold(naming.copy)
    return (0..<naming.bytes).map { UInt8(truncatingIfNeeded: words[start + $0 / 8] >> UInt64($0 % 8 * 8)) }
  }

  // MARK: Checksums

  /// Of all but the first word.
  @inline(__always)
  static func hotChecksum(_ words: Span<UInt64>, seed: UInt64) -> UInt64 {
    // Two sums, which the processor makes at the same time.
    var odd = Checksum(seed: seed)
    var even = Checksum(seed: ~seed)
    odd.add(words[1])
    for index in 1..<SlotGeometry.hotWords / 2 {
      even.add(words[index * 2])
      odd.add(words[index * 2 + 1])
    }
    odd.add(even.value)
    return odd.value
  }

  static func coldChecksum(_ words: Span<UInt64>, count: Int, seed: UInt64) -> UInt64 {
    var sum = Checksum(seed: seed &+ UInt64(count))
    for index in 0..<(count + 7) / 8 { sum.add(words[index]) }
    return sum.value
  }
}
