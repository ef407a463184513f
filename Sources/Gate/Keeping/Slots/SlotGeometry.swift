/// Where things lie in the file of slots, in words of eight bytes. Fixed for all programs that shall ever read it: what a
/// session's words mean is said by the layout that each copy names.
///
/// | words | a slot's |
/// |---|---|
/// | 0 | owner: its state in the lowest byte, how often it was claimed above |
/// | 1 | reads of the leg that were begun |
/// | 2 | writes that were begun, and in the upper half how many messages the last one has |
/// | 3 | trials: how many in a row have died with it, and bit 32 while one is under way |
/// | 4 | bytes that the write which was begun last has offered to the socket |
/// | 8, 24 | two copies of the hot part |
/// | 40, 84 | two copies of the cold part |
///
/// | words | a hot copy's |
/// |---|---|
/// | 0 | checksum of the others |
/// | 1 | sequence: the higher one of two copies that check is the newer |
/// | 2 | layout in the lowest byte; which cold copy belongs to it; how many bytes that has, in the third and fourth |
/// | 3 | checksum of the cold copy |
/// | 4 | reads and, in the upper half, writes that were ended |
/// | 5 | by layout |

enum SlotGeometry {
  /// "PORTSLOT", lowest byte first.
  static let magic: UInt64 = 0x544F_4C53_5452_4F50
  static let version: UInt64 = 1

  // MARK: The header, a page

  static let headerWords = 512
  static let headerMagic = 0
  static let headerVersion = 1
  static let headerCount = 2
  /// Starts in a row that died with a session.
  static let headerDeaths = 3
  /// Numbers up to this one may have been given to sessions.
  static let headerNumbers = 4
  /// Slots above it were never claimed.
  static let headerUsed = 5

  // MARK: A slot

  static let slotWords = 128
  static let owner = 0
  static let reads = 1
  static let writes = 2
  static let trials = 3
  static let offered = 4
  static let hotWords = 16
  static let coldWords = 44

  static func hot(_ copy: Int) -> Int { 8 + copy * hotWords }
  static func cold(_ copy: Int) -> Int { 40 + copy * coldWords }

  // MARK: A hot copy

  static let checksum = 0
  static let sequence = 1
  static let naming = 2
  static let coldChecksum = 3
  static let ended = 4
  static let progress = 5

  static func slot(_ index: Int) -> Int { headerWords + index * slotWords }
  static func wordCount(slots: Int) -> Int { headerWords + slots * slotWords }
}

/// Whose a slot is.
enum SlotState: UInt8 {
  case free = 0
  /// A session's, which its gate serves.
  case kept = 1
  /// A session's, all of which went over: it has not moved since its snapshot was written.
  case handedOver = 2
  /// Its session is over, and the store may still hold its leg.
  case ending = 3
}

/// The first word of a slot.
struct SlotOwner: Equatable {
  /// Nil for one that no program has.
  let state: SlotState?
  /// So that nothing of an earlier session's is taken for this one's.
  let claims: UInt64

  init(_ state: SlotState, claims: UInt64) {
    self.state = state
    self.claims = claims & (1 << 56 - 1)
  }

  init(word: UInt64) {
    state = SlotState(rawValue: UInt8(truncatingIfNeeded: word))
    claims = word >> 8
  }

  var word: UInt64 { UInt64(state?.rawValue ?? .max) | claims << 8 }

  /// What the checksums of slot `index` begin with.
  func seed(_ index: Int) -> UInt64 { claims << 16 ^ UInt64(index) }
}
