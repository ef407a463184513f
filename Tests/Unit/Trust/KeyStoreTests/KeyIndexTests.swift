import Kit
import Testing

@testable import KeyStore

@Suite struct KeyIndexTests {
  /// Loops wait for the store's lock while a key is entered: however many there are, only a bounded part may move.
  @Test func noInsertionMovesMoreThanOnePart() {
    var random = SplitMix(seed: 5)
    var index = KeyIndex()
    var hashes: [UInt64] = []
    var largest = 0
    for position in 0..<200_000 {
      hashes.append(random.next())
      var moved = 0
      index.insert(position, hash: hashes[position]) { other in
        moved += 1
        return hashes[other]
      }
      largest = max(largest, moved)
    }
    // A 1024th of them is 195.
    #expect(largest > 0)
    #expect(largest < 400)
    #expect(
      (0..<200_000).allSatisfy { position in
        index.position(hash: hashes[position]) { $0 == position } == position
      })
  }

  /// A look at a key of somebody else is a miss of the processor's caches: the slots are to say so beforehand.
  @Test func aLookupSeldomTouchesOtherKeys() {
    var random = SplitMix(seed: 7)
    var index = KeyIndex()
    var hashes: [UInt64] = []
    for position in 0..<200_000 {
      hashes.append(random.next())
      index.insert(position, hash: hashes[position]) { hashes[$0] }
    }
    var others = 0
    for position in 0..<200_000 {
      _ = index.position(hash: hashes[position]) { found in
        if found != position { others += 1 }
        return found == position
      }
    }
    // Runs are half a slot long beyond the key's own, and one tag in thirty is alike.
    #expect(others < 200_000 / 20)
  }

  /// Against a dictionary; with few different hashes as well, where all depends on telling keys apart.
  @Test(arguments: [UInt64.max, 0xC000_0003_0000_0007]) func behavesLikeADictionary(mask: UInt64) {
    var random = SplitMix(seed: 6)
    var index = KeyIndex()
    var hashes: [Int: UInt64] = [:]
    for _ in 0..<20_000 {
      let position = Int(random.next() % 500)
      if let hash = hashes[position] {
        #expect(index.position(hash: hash) { $0 == position } == position)
        #expect(index.remove(hash: hash) { $0 == position } == position)
        #expect(index.remove(hash: hash) { $0 == position } == nil)
        hashes[position] = nil
      } else {
        let hash = random.next() & mask
        #expect(index.position(hash: hash) { $0 == position } == nil)
        index.insert(position, hash: hash) { hashes[$0] ?? 0 }
        hashes[position] = hash
      }
    }
    for (position, hash) in hashes {
      #expect(index.position(hash: hash) { $0 == position } == position)
    }
  }
}
