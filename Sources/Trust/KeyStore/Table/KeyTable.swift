/// All keys in memory: 144 bytes a key in blocks that never move, found through `KeyIndex`.
///
/// A key keeps its position for as long as it lives, so a walk in positions meets every key that was there
/// when it began, whatever is added and removed meanwhile. Removed positions are used again.
internal import Bytes
internal import Identity
internal import Time

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
    var revokedReason: UInt32 = 0
    var origin = Origin.attested
    var environment: AttestEnvironment?
    var isPresent = true

    /// Where the key's trust comes from. What is said of an app's launch comes with an attestation, so one word of memory
    /// is enough for either.
    enum Origin: Equatable {
      case attested
      case attestedWith(category: UInt32)
      /// From another gate's file, and good before this second of Unix time.
      case imported(KeySource, until: UInt32)
    }

    var isRevoked: Bool { revokedAt != Self.never }

    /// Whether it was taken from another gate, and its time is over.
    func isOver(at now: UnixTime) -> Bool {
      guard case .imported(_, let second) = origin else { return false }
      return now.milliseconds >= Int64(second) * 1000
    }

    /// In an entry that is not present: the vacant position after this one in the list of them, plus one; 0 ends it.
    fileprivate var nextVacant: UInt32 {
      get { signCount }
      set { signCount = newValue }
    }

    static let never = Int64.min
  }

  private(set) var count = 0
  private(set) var revokedCount = 0
  var appIDs = Names()
  var bundleVersions = Names()
  /// Many keys have the same one; those of an operator's own words are as few as he types.
  var revokedReasons = Names()
  /// Since when there is a key for devices' pseudonyms, or `Entry.never` (docs/key-store.md, "The pseudonym key").
  var pseudonymKeyMadeAt = Entry.never
  /// Members of the key file that are not ours, as `,"name":value` without white space.
  var extras: [KeyIdentifier: [UInt8]] = [:]

  private var blocks: [[Entry]] = []
  /// The first of a list through the vacant entries themselves, plus one; 0 when there are none. An array of them would
  /// be copied whole whenever it grows.
  private var firstVacant: UInt32 = 0
  /// Positions that were ever given out; every walk ends here.
  private(set) var positions = 0
  private var index = KeyIndex()
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
    index.position(hash: Self.hash(of: identifier, seed)) { self[$0].identifier == identifier }
  }

  subscript(position: Int) -> Entry {
    get { blocks[position >> Self.blockBits][position & Self.blockMask] }
    _modify { yield &blocks[position >> Self.blockBits][position & Self.blockMask] }
  }

  func record(at position: Int) -> KeyRecord { record(of: self[position]) }

  func record(of entry: Entry) -> KeyRecord {
    func time(_ milliseconds: Int64) -> UnixTime? {
      milliseconds == Entry.never ? nil : UnixTime(milliseconds: milliseconds)
    }
    return KeyRecord(
      publicKey: entry.publicKey, signCount: entry.signCount,
      registeredAt: UnixTime(milliseconds: entry.registeredAt), lastUsedAt: time(entry.lastUsedAt),
      appID: appIDs[entry.appID], environment: entry.environment,
      validationCategory: entry.origin.category,
      bundleVersion: bundleVersions[entry.bundleVersion], revokedAt: time(entry.revokedAt),
      revokedReason: revokedReasons[entry.revokedReason], imported: entry.origin.imported)
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

  /// Keys whose `appId` in the key file is not `<team id>.<bundle id>`; nil when there are none.
  func malformedAppIDs() -> (keys: Int, first: KeyIdentifier)? {
    let malformed = appIDs.strings.indices.filter { AppID(appIDs.strings[$0]) == nil }
      .map { UInt32($0) + 1 }
    if malformed.isEmpty { return nil }
    var found: (keys: Int, first: KeyIdentifier)?
    for position in 0..<positions where self[position].isPresent && malformed.contains(self[position].appID) {
      found = ((found?.keys ?? 0) + 1, found?.first ?? self[position].identifier)
    }
    return found
  }

  // MARK: Changing

  /// The key must not be there.
  mutating func insert(_ entry: Entry) {
    let position: Int
    if firstVacant > 0 {
      position = Int(firstVacant) - 1
      firstVacant = self[position].nextVacant
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
    let (blocks, seed) = (blocks, seed)
    index.insert(position, hash: Self.hash(of: entry.identifier, seed)) { position in
      Self.hash(of: blocks[position >> Self.blockBits][position & Self.blockMask].identifier, seed)
    }
    count += 1
    if entry.isRevoked { revokedCount += 1 }
  }

  mutating func remove(_ identifier: KeyIdentifier) {
    guard let position = takeFromIndex(identifier) else { return }
    if self[position].isRevoked { revokedCount -= 1 }
    self[position].isPresent = false
    self[position].nextVacant = firstVacant
    firstVacant = UInt32(position) + 1
    extras[identifier] = nil
    count -= 1
  }

  /// By itself: while it holds on to the blocks, a change of one would copy it.
  private mutating func takeFromIndex(_ identifier: KeyIdentifier) -> Int? {
    let blocks = blocks
    return index.remove(hash: Self.hash(of: identifier, seed)) { position in
      blocks[position >> Self.blockBits][position & Self.blockMask].identifier == identifier
    }
  }

  /// A key that was revoked before keeps its time, and the reason that was given first.
  mutating func revoke(at position: Int, time: Int64, reason: String?) {
    if let reason, self[position].revokedReason == 0 {
      let number = revokedReasons.number(of: reason)
      self[position].revokedReason = number
    }
    guard !self[position].isRevoked else { return }
    self[position].revokedAt = time
    revokedCount += 1
  }

  /// Identifiers are digests, evenly spread; one folded product with a secret keeps the spread from being
  /// steered.
  private static func hash(of identifier: KeyIdentifier, _ seed: (UInt64, UInt64)) -> UInt64 {
    let (first, second) = identifier.digest.leadingWords
    let product = (first ^ seed.0).multipliedFullWidth(by: second ^ seed.1)
    return product.high ^ product.low
  }

  private static let blockBits = 12
  private static let blockMask = 1 << blockBits - 1
}

extension KeyTable.Entry.Origin {
  var category: UInt32? {
    if case .attestedWith(let category) = self { category } else { nil }
  }

  var imported: KeyImport? {
    if case .imported(let source, let second) = self {
      KeyImport(from: source, untilSecond: second)
    } else {
      nil
    }
  }

  init(_ record: KeyRecord) {
    if let imported = record.imported {
      self = .imported(imported.source, until: imported.untilSecond)
    } else {
      self = record.validationCategory.map { .attestedWith(category: $0) } ?? .attested
    }
  }
}

extension UnixTime {
  /// Nil for `KeyTable.Entry.never`.
  init?(noted milliseconds: Int64) {
    if milliseconds == KeyTable.Entry.never { return nil }
    self.init(milliseconds: milliseconds)
  }
}

/// Strings that many keys share, each kept once under a small number; 0 stands for none. There are few, since only
/// attested devices bring new ones.
struct Names {
  private(set) var strings: [String] = []
  private var numbers: [String: UInt32] = [:]
  /// The number given last: most keys have the same string as the key before them.
  private var last: UInt32 = 0
  /// The same for strings that come as bytes.
  private var lastRead: (text: [UInt8], number: UInt32) = ([], 0)

  subscript(number: UInt32) -> String? {
    number == 0 ? nil : strings[Int(number) - 1]
  }

  /// Of a string's UTF-8, which need not become a string when it is the one that came last.
  mutating func number(of text: Span<UInt8>) -> UInt32 {
    if lastRead.number != 0, lastRead.text.count == text.count,
      text.indices.allSatisfy({ text[$0] == lastRead.text[$0] })
    {
      return lastRead.number
    }
    var bytes: [UInt8] = []
    bytes.append(copying: text)
    lastRead = (bytes, number(of: String(decoding: bytes, as: UTF8.self)))
    return lastRead.number
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
