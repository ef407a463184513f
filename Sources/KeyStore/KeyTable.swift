/// All keys in memory: 144 bytes a key in blocks that never move, found through an index of five bytes a
/// slot.
///
/// A key keeps its position for as long as it lives, so a walk in positions meets every key that was there
/// when it began, whatever is added and removed meanwhile. Removed positions are used again.
internal import Bytes
internal import System

struct KeyTable {
  struct Entry {
    var identifier: KeyIdentifier
    var publicKey: P256Point
    var registeredAt: Int64
    var lastUsedAt: Int64 = Self.never
    var revokedAt: Int64 = Self.never
    var signCount: UInt32
    var appID: UInt32 = 0
    var bundleVersion: UInt32 = 0
    var validationCategory: UInt32 = 0
    var hasCategory = false
    var environment = KeyEnvironment.unknown
    var isPresent = true

    var isRevoked: Bool { revokedAt != Self.never }

    static let never = Int64.min
  }

  private(set) var count = 0
  private(set) var revokedCount = 0
  var appIDs = Names()
  var bundleVersions = Names()
  /// Members of the key file that are not ours, as `,"name":value` without white space.
  var extras: [KeyIdentifier: [UInt8]] = [:]

  private var blocks: [[Entry]] = []
  private var vacant: [UInt32] = []
  /// Positions that were ever given out; every walk ends here.
  private(set) var positions = 0
  /// Open addressing, linear steps, a power of two. A slot's tag is `empty`, `removed`, or 128 and seven more
  /// bits of the hash, so that a key elsewhere in the run is passed by without a look at it.
  private var tags: [UInt8] = Array(repeating: Self.empty, count: 1024)
  private var slots: [UInt32] = Array(repeating: 0, count: 1024)
  private var usedSlots = 0
  /// Drawn at start: identifiers are chosen outside, their places in here are not.
  private let seed: (UInt64, UInt64)

  init(entropy: some Entropy) {
    var words: (UInt64, UInt64) = (0, 0)
    for byte in entropy.bytes(8) { words.0 = words.0 << 8 | UInt64(byte) }
    for byte in entropy.bytes(8) { words.1 = words.1 << 8 | UInt64(byte) }
    seed = words
  }

  // MARK: Finding

  func position(of identifier: KeyIdentifier) -> Int? {
    slot(of: identifier).map { Int(slots[$0]) }
  }

  subscript(position: Int) -> Entry {
    get { blocks[position >> Self.blockBits][position & Self.blockMask] }
    _modify { yield &blocks[position >> Self.blockBits][position & Self.blockMask] }
  }

  func record(of entry: Entry) -> KeyRecord {
    func time(_ milliseconds: Int64) -> UnixTime? {
      milliseconds == Entry.never ? nil : UnixTime(milliseconds: milliseconds)
    }
    return KeyRecord(
      publicKey: entry.publicKey, signCount: entry.signCount,
      registeredAt: UnixTime(milliseconds: entry.registeredAt), lastUsedAt: time(entry.lastUsedAt),
      appID: appIDs[entry.appID], environment: entry.environment,
      validationCategory: entry.hasCategory ? entry.validationCategory : nil,
      bundleVersion: bundleVersions[entry.bundleVersion], revokedAt: time(entry.revokedAt))
  }

  /// Copies the keys of the next `limit` positions behind what `entries` holds, and moves on.
  func copy(from position: inout Int, limit: Int, to entries: inout [Entry]) {
    let end = min(positions, position + limit)
    while position < end {
      let entry = self[position]
      if entry.isPresent { entries.append(entry) }
      position += 1
    }
  }

  // MARK: Changing

  /// The key must not be there.
  mutating func insert(_ entry: Entry) {
    if (usedSlots + 1) * 4 > slots.count * 3 { rebuildIndex() }
    let position: Int
    if let reused = vacant.popLast() {
      position = Int(reused)
      self[position] = entry
    } else {
      position = positions
      if position & Self.blockMask == 0 {
        var block: [Entry] = []
        block.reserveCapacity(1 << Self.blockBits)
        blocks.append(block)
      }
      blocks[position >> Self.blockBits].append(entry)
      positions += 1
    }
    place(position, entry.identifier)
    count += 1
    if entry.isRevoked { revokedCount += 1 }
  }

  mutating func remove(_ identifier: KeyIdentifier) {
    guard let slot = slot(of: identifier) else { return }
    let position = Int(slots[slot])
    if self[position].isRevoked { revokedCount -= 1 }
    tags[slot] = Self.removed
    self[position].isPresent = false
    vacant.append(UInt32(position))
    extras[identifier] = nil
    count -= 1
  }

  mutating func revoke(at position: Int, time: Int64) {
    guard !self[position].isRevoked else { return }
    self[position].revokedAt = time
    revokedCount += 1
  }

  private mutating func place(_ position: Int, _ identifier: KeyIdentifier) {
    let (first, tag) = firstSlot(identifier)
    var slot = first
    while tags[slot] > Self.removed { slot = (slot + 1) & (slots.count - 1) }
    if tags[slot] == Self.empty { usedSlots += 1 }
    tags[slot] = tag
    slots[slot] = UInt32(position)
  }

  /// Grows it, or sweeps out what removals left, whichever it takes to be at most half full.
  private mutating func rebuildIndex() {
    var size = 1024
    while size < (count + 1) * 2 { size *= 2 }
    tags = Array(repeating: Self.empty, count: size)
    slots = Array(repeating: 0, count: size)
    usedSlots = 0
    for position in 0..<positions where self[position].isPresent {
      place(position, self[position].identifier)
    }
  }

  /// Identifiers are digests, evenly spread; one folded product with a secret keeps the spread from being
  /// steered.
  private func firstSlot(_ identifier: KeyIdentifier) -> (slot: Int, tag: UInt8) {
    let (first, second) = identifier.digest.leadingWords
    let product = (first ^ seed.0).multipliedFullWidth(by: second ^ seed.1)
    let hash = product.high ^ product.low
    return (
      Int(truncatingIfNeeded: hash & UInt64(slots.count - 1)), 0x80 | UInt8(truncatingIfNeeded: hash >> 57)
    )
  }

  private func slot(of identifier: KeyIdentifier) -> Int? {
    let (first, tag) = firstSlot(identifier)
    var slot = first
    while tags[slot] != Self.empty {
      if tags[slot] == tag {
        let position = Int(slots[slot])
        if blocks[position >> Self.blockBits][position & Self.blockMask].identifier == identifier {
          return slot
        }
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  private static let empty: UInt8 = 0
  private static let removed: UInt8 = 1
  private static let blockBits = 12
  private static let blockMask = 1 << blockBits - 1
}

/// Strings that many keys share, by small numbers; 0 is none. Only genuine devices bring new ones, and few.
struct Names {
  private(set) var strings: [String] = []
  private var numbers: [String: UInt32] = [:]
  /// Most keys carry the name that the one before carried.
  private var last: UInt32 = 0

  subscript(number: UInt32) -> String? {
    number == 0 ? nil : strings[Int(number) - 1]
  }

  mutating func number(of string: String?) -> UInt32 {
    guard let string else { return 0 }
    if last != 0, strings[Int(last) - 1].utf8.elementsEqual(string.utf8) { return last }
    // Strings equal by Unicode but not by bytes get numbers of their own.
    if let known = numbers[string], strings[Int(known) - 1].utf8.elementsEqual(string.utf8) {
      last = known
    } else {
      strings.append(string)
      last = UInt32(strings.count)
      numbers[string] = last
    }
    return last
  }
}
