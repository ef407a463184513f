/// Slots in memory of the system's: made, given on, adopted; starts that die.
import Kit
import System
import Testing

@testable import Keeping

@Suite struct SlotFileTests {
  private func description(_ seed: UInt64 = 1) -> KeptDescription {
    var random = SplitMix(seed: seed)
    return .random(using: &random)
  }

  /// As another process would get it.
  private func again(_ file: SlotFile, limit: Int = 10) throws -> SlotFile {
    try SlotFile.adopt(try OwnedDescriptor.duplicate(file.descriptorNumber), limit: limit)
  }

  @Test func outlives() throws {
    let file = try SlotFile.create(limit: 10)
    #expect(file.used == 0..<0)
    var handle = try present(file.claim(description(), KeptProgress()))
    var progress = KeptProgress()
    progress.last = 3
    handle.willRead()
    handle.didRead(progress)
    handle.willWrite(messages: 2, bytes: 9)
    let next = try again(file)
    #expect(next.used == 0..<1)
    let session = KeptSession(
      description: description(), progress: progress, writing: 2, offered: 9, sequence: handle.sequence)
    #expect(next.content(of: 0) == .kept(session))
    progress.handled = 2
    progress.taken = 2
    handle.didWrite(progress)
    let sequence = handle.sequence
    handle.handOver()
    let left = KeptSession(description: description(), progress: progress, sequence: sequence)
    #expect(next.content(of: 0) == .handedOver(left))
    let taken = try present(next.takeUp(0, as: left))
    #expect(taken.index == 0)
    taken.end()
    #expect(try again(next).content(of: 0) == .ending)
    next.release(0)
    #expect(try again(next).content(of: 0) == .free)
  }

  @Test func limits() throws {
    let file = try SlotFile.create(limit: 2)
    let first = try present(file.claim(description(), KeptProgress()))
    let second = try present(file.claim(description(), KeptProgress()))
    #expect(first.index == 0 && second.index == 1)
    let isThird = file.claim(description(), KeptProgress()) != nil
    #expect(!isThird)
    first.end()
    // Not before the store has let go of its leg.
    let isEarly = file.claim(description(), KeptProgress()) != nil
    #expect(!isEarly)
    file.release(0)
    let third = try present(file.claim(description(2), KeptProgress()))
    #expect(third.index == 0)
    // A next program keeps fewer, or more.
    let isOver = try again(file, limit: 1).claim(description(), KeptProgress()) != nil
    #expect(!isOver)
    let fourth = try present(try again(file, limit: 3).claim(description(), KeptProgress()))
    #expect(fourth.index == 2)
  }

  /// As the other program would have left its newest copy.
  private func seal(_ memory: SharedMemory, _ index: Int, as layout: SlotLayout, sequence: UInt64) {
    let base = SlotGeometry.slot(index)
    let hot = base + SlotGeometry.hot(Int(sequence & 1))
    var words = (0..<SlotGeometry.hotWords).map { memory.load(at: hot + $0) }
    words[SlotGeometry.naming] = words[SlotGeometry.naming] & ~0xFF | UInt64(layout.number)
    words.swapAt(SlotGeometry.progress, SlotGeometry.progress + 1)
    let seed = SlotOwner(word: memory.load(at: base + SlotGeometry.owner)).seed(index)
    words[SlotGeometry.checksum] = SlotImage.hotChecksum(words.span, seed: seed)
    memory.store(words.span, at: hot)
  }

  /// A session of another layout goes on in this program's own, which the program behind it reads as any.
  @Test func anotherLayoutIsTakenUp() throws {
    let file = try SlotFile.create(limit: 10)
    var progress = KeptProgress()
    (progress.taken, progress.handled) = (7, 5)
    let handle = try present(file.claim(description(), progress))
    let memory = try SharedMemory.adopt(try OwnedDescriptor.duplicate(file.descriptorNumber), limit: 1 << 24)
    seal(memory, 0, as: .swapped, sequence: handle.sequence)
    handle.handOver()
    let left = KeptSession(description: description(), progress: progress, sequence: 1)

    #expect(try again(file).content(of: 0) == .unreadable(.unknownLayout(2)))
    let both = try SlotFile.adopt(
      try OwnedDescriptor.duplicate(file.descriptorNumber), limit: 10, knowing: [.first, .swapped])
    #expect(both.content(of: 0) == .handedOver(left))
    var taken = try present(both.takeUp(0, as: left))
    var next = left
    next.sequence = taken.sequence
    #expect(try again(file).content(of: 0) == .kept(next))
    // And on: the copy that comes next is this program's own as well.
    progress.handled = 6
    taken.note(progress)
    (next.progress, next.sequence) = (progress, taken.sequence)
    #expect(try again(file).content(of: 0) == .kept(next))
  }

  @Test func numbers() throws {
    let file = try SlotFile.create(limit: 1)
    #expect(file.highestNumber == 0)
    file.reserveNumbers(upTo: 1024)
    file.reserveNumbers(upTo: 512)
    #expect(try again(file).highestNumber == 1024)
  }

  // MARK: What is no file of slots

  private func adopted(_ words: [UInt64]) throws -> SlotFileError? {
    let memory = try SharedMemory.create(name: "test", wordCount: words.count)
    memory.store(words.span, at: 0)
    let descriptor = try OwnedDescriptor.duplicate(memory.descriptor.number)
    do throws(SlotFileError) {
      _ = try SlotFile.adopt(descriptor, limit: 1)
      return nil
    } catch {
      return error
    }
  }

  @Test func refused() throws {
    var words = [UInt64](repeating: 0, count: SlotGeometry.wordCount(slots: 2))
    #expect(try adopted(words) == .kept(.noSlotFile))
    words[SlotGeometry.headerMagic] = SlotGeometry.magic
    #expect(try adopted(words) == .kept(.unknownLayout(0)))
    words[SlotGeometry.headerVersion] = 2
    #expect(try adopted(words) == .kept(.unknownLayout(2)))
    words[SlotGeometry.headerVersion] = 1
    #expect(try adopted(words) == .kept(.noSlotFile))
    words[SlotGeometry.headerCount] = .max
    #expect(try adopted(words) == .kept(.noSlotFile))
    words[SlotGeometry.headerCount] = 2
    #expect(try adopted(words) == nil)
    #expect(try adopted(words + [0]) == .kept(.noSlotFile))
    #expect(try adopted([1]) == .kept(.noSlotFile))
    // Whatever else stands in its header.
    words[SlotGeometry.headerUsed] = .max
    words[SlotGeometry.headerDeaths] = .max
    #expect(try adopted(words) == nil)
  }

  /// Memory that somebody may shrink under the gate is not mapped.
  @Test func notSealed() throws {
    let file = try SharedMemory.file(name: "test")
    try file.write([UInt8](repeating: 0, count: 8192), at: 0)
    #expect(throws: SystemError.self) {
      try SharedMemory.adopt(try OwnedDescriptor.duplicate(file.number), limit: 9999)
    }
    let sealed = try SharedMemory.create(name: "test", wordCount: 16)
    #expect(throws: SystemError("memory of 128 bytes", 27)) {
      try SharedMemory.adopt(try OwnedDescriptor.duplicate(sealed.descriptor.number), limit: 15)
    }
    #expect(throws: SystemError.self) { try sealed.descriptor.write([1], at: 128) }
  }

  // MARK: Starts

  @Test func deathsInARow() throws {
    let file = try SlotFile.create(limit: 5)
    for seed in 0..<3 { try present(file.claim(description(UInt64(seed)), KeptProgress())).end() }
    func die(with slot: Int?) throws -> StartPlan {
      let next = try again(file)
      let plan = next.beginStart()
      if let slot { next.willTakeUp(slot) }
      return plan
    }
    let all = StartPlan(dropped: [], isEmpty: false)
    // Whoever is killed from outside dies with none.
    for _ in 0..<10 { #expect(try die(with: nil) == all) }
    #expect(try die(with: 1) == all)
    #expect(try die(with: 1) == all)
    // Not in a row.
    #expect(try die(with: nil) == all)
    for _ in 0..<3 { #expect(try die(with: 1) == all) }
    #expect(try die(with: 2) == StartPlan(dropped: [1], isEmpty: false))
    #expect(try die(with: nil) == StartPlan(dropped: [0, 1, 2], isEmpty: true))
    #expect(try die(with: nil) == all)
  }

  @Test func goodStart() throws {
    let file = try SlotFile.create(limit: 5)
    var handle = try present(file.claim(description(), KeptProgress()))
    for _ in 0..<2 {
      _ = file.beginStart()
      handle.willTry()
    }
    _ = file.beginStart()
    handle.didTry()
    file.endStart()
    for _ in 0..<3 {
      #expect(file.beginStart() == StartPlan(dropped: [], isEmpty: false))
      handle.willTry()
    }
    #expect(file.beginStart() == StartPlan(dropped: [0], isEmpty: false))
    handle.end()
  }
}
