/// The slots of all kept sessions, in memory that outlives the gate: made before the sandbox is raised and given to the
/// store, or got back from it.
///
/// Its header counts starts that died, so that a session which the gate cannot live with does not end all others.
internal import Synchronization
package import System

package final class SlotFile: Sendable {
  private let memory: SharedMemory
  private let count: Int
  /// What it understands of what was left.
  private let layouts: [SlotLayout]
  private let places: Mutex<Places>

  /// Which slots are nobody's.
  private struct Places {
    /// The next one is the last.
    var free: [Int]
    /// How many more sessions may be kept.
    var room: Int
  }

  private init(
    _ memory: SharedMemory, count: Int, free: [Int], limit: Int,
    knowing layouts: [SlotLayout] = SlotLayout.known
  ) {
    self.memory = memory
    self.count = count
    self.layouts = layouts
    places = Mutex(Places(free: free, room: limit - (count - free.count)))
  }

  // MARK: Making

  /// A new one, empty.
  /// - Parameter limit: how many sessions are kept at most (`HOT_RESTART_MAX_SESSIONS`).
  package static func create(limit: Int) throws(SystemError) -> SlotFile {
    // A next process may be allowed more than this one; pages that nobody touches take no memory.
    let count = max(limit, usualCount)
    guard count <= mostSlots else { throw SystemError("\(count) slots", EFBIG) }
    let memory = try SharedMemory.create(name: "slots", wordCount: SlotGeometry.wordCount(slots: count))
    memory.store(UInt64(count), at: SlotGeometry.headerCount)
    memory.store(SlotGeometry.version, at: SlotGeometry.headerVersion)
    memory.store(SlotGeometry.magic, at: SlotGeometry.headerMagic)
    return SlotFile(memory, count: count, free: Array((0..<count).reversed()), limit: limit)
  }

  /// What an earlier process has left; each slot of it is somebody's until it is released.
  package static func adopt(
    _ descriptor: consuming OwnedDescriptor, limit: Int
  ) throws(SlotFileError) -> SlotFile {
    try adopt(descriptor, limit: limit, knowing: SlotLayout.known)
  }

  static func adopt(
    _ descriptor: consuming OwnedDescriptor, limit: Int, knowing layouts: [SlotLayout]
  ) throws(SlotFileError) -> SlotFile {
    let memory: SharedMemory
    do throws(SystemError) {
      memory = try SharedMemory.adopt(descriptor, limit: SlotGeometry.wordCount(slots: mostSlots))
    } catch {
      throw .system(error)
    }
    guard memory.wordCount > SlotGeometry.headerWords,
      memory.load(at: SlotGeometry.headerMagic) == SlotGeometry.magic
    else { throw .kept(.noSlotFile) }
    let version = memory.load(at: SlotGeometry.headerVersion)
    guard version == SlotGeometry.version else { throw .kept(.unknownLayout(version)) }
    let count = (memory.wordCount - SlotGeometry.headerWords) / SlotGeometry.slotWords
    guard memory.load(at: SlotGeometry.headerCount) == UInt64(count),
      memory.wordCount == SlotGeometry.wordCount(slots: count)
    else { throw .kept(.noSlotFile) }
    let free = (0..<count).reversed().filter { index in
      SlotOwner(word: memory.load(at: SlotGeometry.slot(index))).state == .free
    }
    return SlotFile(memory, count: count, free: free, limit: limit, knowing: layouts)
  }

  /// For the store; the file's own, open as long as the file is.
  package var descriptorNumber: Int32 { memory.descriptor.number }

  // MARK: Sessions

  /// A slot for a session that is about to begin, whose leg goes to the store before; nil when as many as may be are kept.
  /// Until `fill`, a next process takes it for one whose session is over, and closes the leg.
  package func reserve() -> Int? {
    let index = places.withLock { places -> Int? in
      guard places.room > 0, let index = places.free.popLast() else { return nil }
      places.room -= 1
      if UInt64(index) >= memory.load(at: SlotGeometry.headerUsed) {
        memory.store(UInt64(index + 1), at: SlotGeometry.headerUsed)
      }
      return index
    }
    guard let index else { return nil }
    let owner = SlotOwner(word: memory.load(at: SlotGeometry.slot(index)))
    memory.store(SlotOwner(.ending, claims: owner.claims).word, at: SlotGeometry.slot(index))
    return index
  }

  /// The session of a slot that was reserved, which is there from now on.
  package func fill(
    _ index: Int, _ description: KeptDescription, _ progress: KeptProgress
  ) -> SlotHandle {
    let writer = SlotWriter(claiming: index, of: memory, description, progress)
    writer.publish()
    return SlotHandle(writer)
  }

  /// Both at once.
  package func claim(_ description: KeptDescription, _ progress: KeptProgress) -> SlotHandle? {
    guard let index = reserve() else { return nil }
    return fill(index, description, progress)
  }

  /// The slot is nobody's any more. The store must not have a leg of this name: it would be taken for that of the next
  /// session that the slot is given to. Once more is nothing.
  package func release(_ index: Int) {
    let owner = SlotOwner(word: memory.load(at: SlotGeometry.slot(index)))
    guard owner.state != .free else { return }
    memory.store(SlotOwner(.free, claims: owner.claims).word, at: SlotGeometry.slot(index))
    places.withLock { places in
      places.free.append(index)
      places.room += 1
    }
  }

  /// Numbers up to this one may have been given to sessions.
  package var highestNumber: UInt64 { memory.load(at: SlotGeometry.headerNumbers) }

  /// To be told before one above it is given; in blocks, so that not each one has to be told.
  package func reserveNumbers(upTo number: UInt64) {
    places.withLock { _ in
      if number > highestNumber { memory.store(number, at: SlotGeometry.headerNumbers) }
    }
  }

  // MARK: What was left

  /// Slots that may be somebody's.
  package var used: Range<Int> { 0..<min(count, Int(clamping: memory.load(at: SlotGeometry.headerUsed))) }

  package func content(of index: Int) -> SlotContent {
    SlotContent(words(of: index), index: index, knowing: layouts)
  }

  /// The session of a slot goes on as `session` says. Nil if the slot does not have any.
  package func takeUp(_ index: Int, as session: KeptSession) -> SlotHandle? {
    guard let image = try? SlotImage(words(of: index), index: index) else { return nil }
    return SlotHandle(SlotWriter(continuing: index, of: memory, image, session))
  }

  private func words(of index: Int) -> [UInt64] {
    guard index >= 0, index < count else { fatalError("SlotFile: slot \(index) of \(count)") }
    let start = SlotGeometry.slot(index)
    return (start..<start + SlotGeometry.slotWords).map { memory.load(at: $0) }
  }

  // MARK: Starts

  /// Called once, before any slot is taken up. What died with the process before counts against the slots that it was
  /// taking up, or whose first event it was at.
  package func beginStart() -> StartPlan { StartBook(memory, used).begin() }

  /// The slot is being taken up, until `didTakeUp`.
  package func willTakeUp(_ index: Int) { StartBook(memory, used).note(index, isUnderWay: true) }
  package func didTakeUp(_ index: Int) { StartBook(memory, used).note(index, isUnderWay: false) }

  /// The start was a good one: it has served for 30 seconds, or ends in good order.
  package func endStart() { StartBook(memory, used).end() }

  /// As many as names of the store have room for: three digits of base 36.
  package static let mostSlots = 46_656
  private static let usualCount = 4096
  private static let EFBIG: Int32 = 27
}

package enum SlotFileError: Error, Equatable, Sendable, CustomStringConvertible {
  case system(SystemError)
  case kept(KeptError)

  package var description: String {
    switch self {
    case .system(let error): error.description
    case .kept(let error): error.description
    }
  }
}
