/// What the key store's lock guards: the table, and what waits to be made durable.
internal import Bytes
internal import System
internal import Time

struct StoreState {
  enum Service: Equatable {
    case accepting
    /// The journal cannot be written; until a new snapshot and a new segment are, nothing is accepted.
    case stalled(SystemError)
  }

  var table: KeyTable
  /// Nil while no key for pseudonyms was ever noted.
  var pseudonymKeyMadeAt: UnixTime?
  var pending = PendingFacts()
  var service = Service.accepting
  var isClosing = false

  /// Written to by the committer alone.
  var segment: JournalSegment
  /// Revoked in memory while the journal could not be written; empty again with the snapshot that ends the outage.
  var unwrittenRevocations: [KeyIdentifier] = []
  /// Taken up by the committer before its next batch.
  var nextSegment: JournalSegment?
  /// Created while the journal is given up; takes the place of `segment` when a snapshot has ended the outage.
  var recoverySegment: JournalSegment?
  /// The last snapshot failed, and the segment begun for it serves the next attempt.
  var keepsSegment = false
  /// Bytes of batches in each segment that is on disk, oldest first.
  var segmentBytes: [(number: UInt64, bytes: Int64)]

  var schedule: SnapshotSchedule
  /// When the snapshot thread means to wake; nil while it waits to be rung.
  var snapshotWake: MonotonicTime?

  var commits: UInt64 = 0
  var batches: UInt64 = 0
  var commitTimes = DurationReading()
  var snapshots: UInt64 = 0
  var snapshotTimes = DurationReading()
  var lastSnapshotAt: UnixTime?

  /// When the committer began to write the current batch; nil between batches.
  var commitBegan: MonotonicTime?
  /// The current batch has taken longer than `CommitResult.deadline`: nothing new is accepted until the disk answers.
  var isHanging = false

  var isAccepting: Bool {
    service == .accepting && !isClosing && !isHanging && pending.bytes < PendingFacts.limit
  }

  var journalBytes: Int64 { segmentBytes.reduce(0) { $0 + $1.bytes } }

  /// Where facts that come from now on will go.
  var newestSegment: JournalSegment { nextSegment ?? segment }

  mutating func takeUpNextSegment() {
    guard let next = nextSegment else { return }
    segment = next
    nextSegment = nil
  }
}

/// Facts in the order in which they happened, cut into batches of a bounded size.
struct PendingFacts {
  struct Batch {
    var facts: [UInt8] = []
    var count = 0
    var completions: [KeyStore.Completion] = []
    var revoked: [KeyIdentifier] = []
  }

  private var batches: [Batch] = []
  private(set) var bytes = 0

  mutating func append(_ fact: Fact, _ completion: KeyStore.Completion?) {
    if batches.isEmpty || batches[batches.count - 1].facts.count >= Self.batchLength {
      batches.append(Batch())
    }
    let last = batches.count - 1
    let before = batches[last].facts.count
    fact.append(to: &batches[last].facts)
    bytes += batches[last].facts.count - before
    batches[last].count += 1
    if case .revoked(let key, _, _) = fact { batches[last].revoked.append(key) }
    if let completion { batches[last].completions.append(completion) }
  }

  /// A completion without a fact of its own: called when all facts before it are durable.
  mutating func append(barrier completion: @escaping KeyStore.Completion) {
    if batches.isEmpty { batches.append(Batch()) }
    batches[batches.count - 1].completions.append(completion)
  }

  mutating func takeFirst() -> Batch? {
    guard !batches.isEmpty else { return nil }
    let first = batches.removeFirst()
    bytes -= first.facts.count
    return first
  }

  mutating func takeAll() -> [Batch] {
    defer { self = PendingFacts() }
    return batches
  }

  var revoked: [KeyIdentifier] { batches.flatMap(\.revoked) }

  /// A batch is closed beyond this; with its last fact it stays far below `JournalBatch.maximumLength`.
  static let batchLength = 1 << 20
  /// A disk that hangs must not fill the memory: beyond this nothing new is accepted.
  static let limit = 8 << 20
}
