/// A writer that is killed between any two stores, with the words of one store in any order: what its slot then says is what
/// it said before or what it was to say, never anything else.
import Kit
import Testing

@testable import Keeping

@Suite struct KillTests {
  /// What a slot says, at one of the moments at which it says something definite.
  private enum Saying: Equatable {
    case nothing
    case session(KeptSession)
    case handedOver(KeptSession)
    case ending
    case error(KeptError)

    init(_ words: [UInt64], slot: Int) {
      let start = SlotGeometry.slot(slot)
      switch SlotContent(Array(words[start..<start + SlotGeometry.slotWords]), index: slot) {
      case .free: self = .nothing
      case .kept(let session): self = .session(session)
      case .handedOver(let session): self = .handedOver(session)
      case .ending: self = .ending
      case .unreadable(let error): self = .error(error)
      }
    }
  }

  private static let slot = 1
  private static let wordCount = SlotGeometry.wordCount(slots: 3)

  /// Plays `stores` on `words` and looks at each way in which they can have ended early.
  private func kill(
    _ words: inout [UInt64], _ stores: [NotedMemory.Store], expecting allowed: [Saying],
    using random: inout SplitMix
  ) -> Saying? {
    for store in stores {
      for _ in 0..<(store.count == 1 ? 1 : 24) {
        var torn = words
        for (index, word) in store where random.flip() { torn[index] = word }
        let said = Saying(torn, slot: Self.slot)
        if !allowed.contains(said) { return said }
      }
      // In order, and against it.
      for order in [store, store.reversed()] {
        var torn = words
        for (index, word) in order {
          torn[index] = word
          let said = Saying(torn, slot: Self.slot)
          if !allowed.contains(said) { return said }
        }
      }
      for (index, word) in store { words[index] = word }
    }
    return nil
  }

  @Test(arguments: 0..<12) func eachPrefix(seed: UInt64) {
    var random = SplitMix(seed: seed)
    // What was there before is of other sessions, or rubbish.
    var before = (0..<Self.wordCount).map { _ in random.flip() ? 0 : random.next() }
    before[SlotGeometry.slot(Self.slot)] = SlotOwner(.free, claims: random.next()).word
    let memory = NotedMemory(before)
    for _ in 0..<2 {
      play(memory, using: &random)
    }
  }

  /// One session, from claim to release.
  private func play(_ memory: NotedMemory, using random: inout SplitMix) {
    var words = memory.words
    var description = KeptDescription.random(using: &random)
    var progress = KeptProgress.random(using: &random)
    var writer = SlotWriter(claiming: Self.slot, of: memory, description, progress)
    var session = KeptSession(description: description, progress: progress, sequence: 1)
    #expect(kill(&words, memory.takeStores(), expecting: [.nothing], using: &random) == nil)
    writer.publish()
    #expect(
      kill(&words, memory.takeStores(), expecting: [.nothing, .session(session)], using: &random) == nil)
    for step in 0..<60 {
      let old = session
      switch Int.random(in: 0...7, using: &random) {
      case 0:
        writer.willRead()
        session.wasReading = true
      case 1:
        writer.didReadNothing()
        session.wasReading = false
      case 2, 3:
        if !session.wasReading { continue }
        progress = .random(using: &random)
        writer.didRead(progress)
        session.wasReading = false
      case 4:
        if session.writing != nil { continue }
        let messages = Int.random(in: 0...5, using: &random)
        session.offered = Int.random(in: 0...1 << 40, using: &random)
        writer.willWrite(messages: messages, bytes: session.offered)
        session.writing = messages
      case 5, 6:
        if session.writing == nil { continue }
        progress = .random(using: &random)
        if random.flip() {
          writer.didWrite(progress)
        } else {
          description = .random(using: &random)
          writer.didWrite(description, progress)
        }
        (session.writing, session.offered) = (nil, 0)
      default:
        description = .random(using: &random)
        writer.describe(description, progress)
      }
      session.description = description
      session.progress = progress
      session.sequence = writer.sequence
      let allowed = [Saying.session(old), .session(session)]
      let said = kill(&words, memory.takeStores(), expecting: allowed, using: &random)
      guard said == nil, words == memory.words, Saying(words, slot: Self.slot) == .session(session) else {
        Issue.record("step \(step): \(String(describing: said)), and not \(allowed)")
        return
      }
    }
    end(memory, writer, session, &words, using: &random)
  }

  /// Handed over or not, it is taken up by another process, which ends it.
  private func end(
    _ memory: NotedMemory, _ writer: consuming SlotWriter<NotedMemory>, _ session: KeptSession,
    _ words: inout [UInt64], using random: inout SplitMix
  ) {
    var session = session
    var before = Saying.session(session)
    if session.writing == nil, random.flip() {
      writer.handOver()
      before = .handedOver(session)
      #expect(
        kill(&words, memory.takeStores(), expecting: [.session(session), before], using: &random) == nil)
    }
    let start = SlotGeometry.slot(Self.slot)
    let left = Array(words[start..<start + SlotGeometry.slotWords])
    guard let image = try? SlotImage(left, index: Self.slot) else {
      Issue.record("nothing is left")
      return
    }
    session.description = .random(using: &random)
    session.progress = .random(using: &random)
    // It goes on with what was read and not taken, or that is lost.
    session.wasReading = session.wasReading && random.flip()
    (session.writing, session.offered) = (nil, 0)
    let next = SlotWriter(continuing: Self.slot, of: memory, image, session)
    session.sequence = next.sequence
    // As it was, as it is, or as it is and still handed over.
    let said = kill(
      &words, memory.takeStores(), expecting: [before, .session(session), .handedOver(session)],
      using: &random)
    #expect(said == nil)
    #expect(Saying(words, slot: Self.slot) == .session(session))
    next.end()
    #expect(
      kill(&words, memory.takeStores(), expecting: [.session(session), .ending], using: &random) == nil)
    memory.store(SlotOwner(.free, claims: image.owner.claims).word, at: start)
    #expect(kill(&words, memory.takeStores(), expecting: [.ending, .nothing], using: &random) == nil)
  }

  /// What was not begun is ended without harm, and what was begun twice is begun once.
  @Test func unpaired() {
    var random = SplitMix(seed: 3)
    let memory = NotedMemory([UInt64](repeating: 0, count: Self.wordCount))
    let description = KeptDescription.random(using: &random)
    let progress = KeptProgress.random(using: &random)
    var writer = SlotWriter(claiming: Self.slot, of: memory, description, progress)
    writer.publish()
    writer.didRead(progress)
    writer.didWrite(progress)
    writer.willRead()
    writer.willRead()
    writer.willWrite(messages: 1, bytes: 7)
    writer.willWrite(messages: 2, bytes: 8)
    var session = KeptSession(
      description: description, progress: progress, wasReading: true, writing: 2, offered: 8,
      sequence: writer.sequence)
    #expect(Saying(memory.words, slot: Self.slot) == .session(session))
    writer.didRead(progress)
    writer.didRead(progress)
    writer.didReadNothing()
    writer.didWrite(progress)
    (session.wasReading, session.writing, session.offered) = (false, nil, 0)
    session.sequence = writer.sequence
    #expect(Saying(memory.words, slot: Self.slot) == .session(session))
  }

  /// What an earlier session of the slot has left does not count for a later one, also where nothing else is readable.
  @Test func foreignCopies() {
    var random = SplitMix(seed: 1)
    let memory = NotedMemory([UInt64](repeating: 0, count: Self.wordCount))
    let first = SlotWriter(
      claiming: Self.slot, of: memory, .random(using: &random), .random(using: &random))
    first.publish()
    let start = SlotGeometry.slot(Self.slot)
    memory.store(SlotOwner(.free, claims: 1).word, at: start)
    let second = SlotWriter(
      claiming: Self.slot, of: memory, .random(using: &random), .random(using: &random))
    second.publish()
    let second1 = SlotGeometry.hot(1)
    memory.store(memory.load(at: start + second1 + 4) ^ 1, at: start + second1 + 4)
    #expect(Saying(memory.words, slot: Self.slot) == .error(.noCopyChecks))
  }

  /// Each bit of the newest copy, and of what it names: the one from before is taken, or none.
  @Test func eachBit() {
    var random = SplitMix(seed: 2)
    let memory = NotedMemory([UInt64](repeating: 0, count: Self.wordCount))
    var writer = SlotWriter(
      claiming: Self.slot, of: memory, .random(using: &random), .random(using: &random))
    writer.publish()
    let old = Saying(memory.words, slot: Self.slot)
    writer.describe(.random(using: &random), .random(using: &random))
    let words = memory.words
    let new = Saying(words, slot: Self.slot)
    let start = SlotGeometry.slot(Self.slot)
    let image = try? SlotImage(Array(words[start..<start + SlotGeometry.slotWords]), index: Self.slot)
    #expect(image != nil && old != new)
    let hot = SlotGeometry.hot(0)
    let cold = SlotGeometry.cold(image?.coldCopy ?? 0)
    let coldWords = ((image?.cold.count ?? 0) + 7) / 8
    for place in Array(hot..<hot + SlotGeometry.hotWords) + Array(cold..<cold + coldWords) {
      for bit in 0..<64 {
        var broken = words
        broken[start + place] ^= 1 << UInt64(bit)
        let said = Saying(broken, slot: Self.slot)
        if said != old { Issue.record("word \(place), bit \(bit): \(said)") }
      }
    }
  }
}
