/// From a key's hash to its position in the table, in four bytes a slot.
///
/// The index is cut into 1024 parts, each of which grows by itself. Loops wait for the store's lock, so nothing under it
/// may take time in proportion to all keys: one insertion moves at most the keys of one part, some 2,000 of two million. Few enough parts that
/// what is looked at of each stays in the processor's cache.

struct KeyIndex {
  private var parts = [Part](repeating: Part(), count: 1 << Self.partBits)

  /// Open addressing with linear steps; as many slots as a power of two, or none.
  private struct Part {
    var slots: [Slot] = []
    /// Slots that are not empty, removed ones among them.
    var used: UInt32 = 0
    var count: UInt32 = 0

    func slot(_ hash: UInt64, _ isKey: (Int) -> Bool) -> Int? {
      if slots.isEmpty { return nil }
      let tag = Slot.tag(of: hash)
      var slot = KeyIndex.first(hash, slots.count)
      while slots[slot] != .empty {
        if slots[slot].tag == tag, isKey(slots[slot].position) { return slot }
        slot = (slot + 1) & (slots.count - 1)
      }
      return nil
    }
  }

  /// - Parameter isKey: whether the key at this position is the one that is looked for.
  func position(hash: UInt64, isKey: (Int) -> Bool) -> Int? {
    let part = Self.part(of: hash)
    return parts[part].slot(hash, isKey).map { parts[part].slots[$0].position }
  }

  /// The key must not be there.
  /// - Parameter hashOf: of the key at a position that was inserted before.
  mutating func insert(_ position: Int, hash: UInt64, hashOf: (Int) -> UInt64) {
    let part = Self.part(of: hash)
    if (Int(parts[part].used) + 1) * 4 > parts[part].slots.count * 3 { rebuild(part, hashOf) }
    let wasEmpty = Self.place(position, hash, in: &parts[part].slots)
    parts[part].used += wasEmpty ? 1 : 0
    parts[part].count += 1
  }

  /// - Returns: the position at which the key was; nil when it was not there.
  mutating func remove(hash: UInt64, isKey: (Int) -> Bool) -> Int? {
    let part = Self.part(of: hash)
    guard let slot = parts[part].slot(hash, isKey) else { return nil }
    let position = parts[part].slots[slot].position
    parts[part].slots[slot] = .removed
    parts[part].count -= 1
    return position
  }

  /// Grows a part, or sweeps out what removals left, whichever it takes to be at most half full.
  private mutating func rebuild(_ part: Int, _ hashOf: (Int) -> UInt64) {
    var size = Self.smallestPart
    while size < (Int(parts[part].count) + 1) * 2 { size *= 2 }
    var slots = [Slot](repeating: .empty, count: size)
    for slot in parts[part].slots where slot.isTaken {
      _ = Self.place(slot.position, hashOf(slot.position), in: &slots)
    }
    parts[part].slots = slots
    parts[part].used = parts[part].count
  }

  /// - Returns: whether the slot was empty, rather than a removed key's.
  private static func place(_ position: Int, _ hash: UInt64, in slots: inout [Slot]) -> Bool {
    var slot = first(hash, slots.count)
    while slots[slot].isTaken { slot = (slot + 1) & (slots.count - 1) }
    let wasEmpty = slots[slot] == .empty
    slots[slot] = Slot(position: position, tag: Slot.tag(of: hash))
    return wasEmpty
  }

  // The part, the slot within it and the tag come from bits of their own: the highest 10, the lowest, and 20 between.

  private static func part(of hash: UInt64) -> Int { Int(hash >> UInt64(64 - partBits)) }

  private static func first(_ hash: UInt64, _ slots: Int) -> Int {
    Int(truncatingIfNeeded: hash) & (slots - 1)
  }

  /// A position of 27 bits, more than KEYSTORE_MAX_KEYS may ask for, with five more bits of the hash beside it: a key
  /// elsewhere in the run is passed by without a look at it, and a lookup touches a key in one place.
  private struct Slot: Equatable {
    private let word: UInt32

    static let empty = Slot(word: 0)
    static let removed = Slot(word: 1)

    private init(word: UInt32) { self.word = word }

    init(position: Int, tag: UInt32) {
      guard position < 1 << 27 else { fatalError("KeyIndex: more keys than a slot can tell apart") }
      word = UInt32(position) << 5 | tag
    }

    var position: Int { Int(word >> 5) }
    /// 0 when empty, 1 when removed.
    var tag: UInt32 { word & 31 }
    var isTaken: Bool { tag > 1 }

    /// 2 to 31.
    static func tag(of hash: UInt64) -> UInt32 {
      2 + ((UInt32(truncatingIfNeeded: hash >> 32) & 0xFFFFF) * 30) >> 20
    }
  }

  private static let partBits = 10
  private static let smallestPart = 8
}
