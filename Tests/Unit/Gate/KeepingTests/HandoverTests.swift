/// The file of snapshot between two processes: records that are there, cut off, of another time, not to be believed.
import Kit
import System
import Testing

@testable import Keeping

@Suite struct HandoverTests {
  private func snapshot(_ seed: UInt64) throws -> RestartSnapshot {
    var random = SplitMix(seed: seed)
    var play = Play(client: nil)
    for _ in 0..<30 { play.play(.random(using: &random)) }
    play.detach()
    let taken = play.snapshot()
    return try #require(taken)
  }

  private func reader(_ file: borrowing OwnedDescriptor) throws -> HandoverReader {
    try HandoverReader(try OwnedDescriptor.duplicate(file.number))
  }

  @Test func eachOne() throws {
    let handover = try Handover.create()
    for slot in 0..<50 { try handover.append(snapshot(UInt64(slot)), slot: slot, sequence: UInt64(slot + 7)) }
    // A later word counts.
    try handover.append(snapshot(100), slot: 3, sequence: 11)
    let next = try HandoverReader(try OwnedDescriptor.duplicate(handover.descriptorNumber))
    let slots = next.slots
    #expect(slots == Array(0..<50))
    for slot in 0..<50 where slot != 3 {
      let found = next.snapshot(of: slot, sequence: UInt64(slot + 7))
      #expect(try found == snapshot(UInt64(slot)))
    }
    let third = next.snapshot(of: 3, sequence: 11)
    #expect(try third == snapshot(100))
    let isOld = next.snapshot(of: 3, sequence: 10) != nil
    let isNobodys = next.snapshot(of: 50, sequence: 57) != nil
    #expect(!isOld && !isNobodys)
  }

  /// Whatever byte of it is another one, and wherever it ends: a session's own snapshot or none.
  @Test func broken() throws {
    let handover = try Handover.create()
    for slot in 0..<2 { try handover.append(snapshot(UInt64(slot)), slot: slot, sequence: 1) }
    let source = try OwnedDescriptor.duplicate(handover.descriptorNumber)
    let bytes = try source.read(try source.length(), at: 0)
    let whole = try [snapshot(0), snapshot(1)]
    func look(_ bytes: [UInt8], allowing: (Int) -> Bool) throws {
      let file = try SharedMemory.file(name: "test")
      try file.write(bytes, at: 0)
      let next = try reader(file)
      for slot in 0..<2 {
        let found = next.snapshot(of: slot, sequence: 1)
        #expect(found == nil || found == whole[slot] && allowing(slot))
      }
    }
    for place in bytes.indices where place % 3 == 0 {
      var other = bytes
      other[place] ^= 0x10
      try look(other) { _ in true }
      try look(Array(bytes[..<place])) { slot in slot == 0 }
    }
    // A length that nobody has memory for.
    try look(Array(bytes[..<24]) + [UInt8](repeating: 0xFF, count: 24)) { _ in false }
    try look([]) { _ in false }
  }
}
