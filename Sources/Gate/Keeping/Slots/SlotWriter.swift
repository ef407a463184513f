/// Writes one slot so that a kill at any instruction leaves it readable.
///
/// What a session is, its progress and its description, stands there twice. A new progress takes the place of the older
/// copy, behind a new description where there is one, which takes the place that the newer copy does not name. So until the
/// last of its words is there, with the checksum of the others and of the description that it names, the copy from before
/// is whole and counts.
///
/// A read of the leg or a write to it is under way when more were begun, as a word of its own says, than the newer copy
/// says were ended: that copy ends it and tells what came of it in one step.
internal import System

struct SlotWriter<Memory: SlotMemory>: ~Copyable, Sendable {
  private let memory: Memory
  let index: Int
  private let base: Int
  private var owner: SlotOwner
  /// What checksums begin with.
  private let seed: UInt64
  private(set) var sequence: UInt64
  /// That were ended, and that were begun: as many, or one more.
  private var reads: UInt32
  private var readsBegun: UInt32
  private var writes: UInt32
  private var writesBegun: UInt32
  /// Where the newer copy of the description stands, how long it is, and its checksum.
  private var coldCopy: Int
  private var coldBytes = 0
  private var coldSum: UInt64 = 0

  /// A slot that is nobody's: nothing of it counts before `publish`.
  init(claiming index: Int, of memory: Memory, _ description: KeptDescription, _ progress: KeptProgress) {
    let base = SlotGeometry.slot(index)
    let before = SlotOwner(word: memory.load(at: base + SlotGeometry.owner))
    self.init(index, memory, owner: SlotOwner(.free, claims: before.claims &+ 1), sequence: 0, coldCopy: 0)
    memory.store(owner.word, at: base + SlotGeometry.owner)
    memory.store(0, at: base + SlotGeometry.reads)
    memory.store(0, at: base + SlotGeometry.writes)
    memory.store(0, at: base + SlotGeometry.trials)
    memory.store(0, at: base + SlotGeometry.offered)
    describe(description, progress)
  }

  /// A slot whose session goes on as `session` says, which was made of `image`.
  init(continuing index: Int, of memory: Memory, _ image: SlotImage, _ session: KeptSession) {
    self.init(
      index, memory, owner: image.owner, sequence: image.sequence, coldCopy: image.coldCopy)
    // What is under way of it stays so: bytes that were read and that telnet has not had are in the snapshot, and lost if
    // this process is killed before telnet has had them.
    (reads, readsBegun) = (image.readsBegun &- (session.wasReading ? 1 : 0), image.readsBegun)
    (writes, writesBegun) = (image.writesBegun, image.writesBegun)
    describe(session.description, session.progress)
    owner = SlotOwner(.kept, claims: owner.claims)
    memory.store(owner.word, at: base + SlotGeometry.owner)
  }

  private init(_ index: Int, _ memory: Memory, owner: SlotOwner, sequence: UInt64, coldCopy: Int) {
    self.memory = memory
    self.index = index
    self.owner = owner
    seed = owner.seed(index)
    self.sequence = sequence
    self.coldCopy = coldCopy
    base = SlotGeometry.slot(index)
    (reads, readsBegun) = (0, 0)
    (writes, writesBegun) = (0, 0)
  }

  // MARK: States

  func publish() { set(.kept) }
  func handOver() { set(.handedOver) }
  func end() { set(.ending) }

  private func set(_ state: SlotState) {
    memory.store(SlotOwner(state, claims: owner.claims).word, at: base + SlotGeometry.owner)
  }

  // MARK: Marks

  @inline(__always)
  mutating func willRead() {
    readsBegun = reads &+ 1
    memory.store(UInt64(readsBegun), at: base + SlotGeometry.reads)
  }

  /// There was nothing.
  @inline(__always)
  mutating func didReadNothing() {
    readsBegun = reads
    memory.store(UInt64(reads), at: base + SlotGeometry.reads)
  }

  @inline(__always)
  mutating func didRead(_ progress: KeptProgress) {
    reads = readsBegun
    note(progress)
  }

  mutating func didRead(_ description: KeptDescription, _ progress: KeptProgress) {
    reads = readsBegun
    describe(description, progress)
  }

  @inline(__always)
  mutating func willWrite(messages: Int, bytes: Int) {
    writesBegun = writes &+ 1
    memory.store(UInt64(bytes), at: base + SlotGeometry.offered)
    let count = UInt64(UInt32(clamping: messages))
    memory.store(UInt64(writesBegun) | count << 32, at: base + SlotGeometry.writes)
  }

  @inline(__always)
  mutating func didWrite(_ progress: KeptProgress) {
    writes = writesBegun
    note(progress)
  }

  mutating func didWrite(_ description: KeptDescription, _ progress: KeptProgress) {
    writes = writesBegun
    describe(description, progress)
  }

  func willTry() { setTrial(isUnderWay: true) }
  func didTry() { setTrial(isUnderWay: false) }

  private func setTrial(isUnderWay: Bool) {
    var trials = SlotTrials(word: memory.load(at: base + SlotGeometry.trials))
    trials.isUnderWay = isUnderWay
    memory.store(trials.word, at: base + SlotGeometry.trials)
  }

  // MARK: Copies

  mutating func describe(_ description: KeptDescription, _ progress: KeptProgress) {
    let bytes = description.coded()
    var words = InlineArray<44, UInt64>(repeating: 0)
    for index in bytes.indices { words[index / 8] |= UInt64(bytes[index]) << UInt64(index % 8 * 8) }
    coldCopy = 1 - coldCopy
    coldBytes = bytes.count
    coldSum = SlotImage.coldChecksum(words.span, count: bytes.count, seed: seed)
    memory.store(words.span, at: base + SlotGeometry.cold(coldCopy))
    note(progress)
  }

  @inline(__always)
  mutating func note(_ progress: KeptProgress) {
    // Whatever number somebody has written there.
    sequence &+= 1
    let naming = UInt64(SlotLayout.current) | UInt64(coldCopy) << 8 | UInt64(coldBytes) << 16
    let fields = progress.words
    var words: InlineArray<16, UInt64> = [
      0, sequence, naming, coldSum, UInt64(reads) | UInt64(writes) << 32, fields[0], fields[1], fields[2],
      fields[3], fields[4], fields[5], fields[6], fields[7], fields[8], fields[9], fields[10],
    ]
    words[SlotGeometry.checksum] = SlotImage.hotChecksum(words.span, seed: seed)
    memory.store(words.span, at: base + SlotGeometry.hot(Int(sequence & 1)))
  }
}

/// What a slot says of starts that died with it.
struct SlotTrials {
  var deaths: UInt32
  var isUnderWay: Bool

  init(word: UInt64) {
    deaths = UInt32(truncatingIfNeeded: word)
    isUnderWay = word >> 32 & 1 == 1
  }

  var word: UInt64 { UInt64(deaths) | (isUnderWay ? 1 << 32 : 0) }
}
