/// The gate's own `AttestedKeyStore` (docs/key-store.md): keys in memory for the loops, durable by a journal and a
/// snapshot beside them.
///
/// Flow of a change: 1. a loop changes the table and appends a fact, under one lock (this file). 2. The
/// committer writes all waiting facts as one batch and syncs it (`KeyStore+Commit`). 3. Completions run; the
/// loop answers its peer. 4. From time to time the snapshot is rewritten and the journal begins anew
/// (`KeyStore+Snapshot`).
package import Bytes
package import Identity
internal import Synchronization
internal import System
package import Time

package final class KeyStore: AttestedKeyStore {
  let paths: StorePaths
  let files: any StoreFiles
  let options: Options
  let clock: any Clock
  let entropy: any Entropy
  let report: @Sendable (KeyStoreEvent) -> Void
  let state: PromptMutex<StoreState>
  let commitSignal = Signal()
  let snapshotSignal = Signal()
  let lifetime: Mutex<Lifetime>
  package let orders = StoreOrders()

  package struct Options: Sendable {
    package enum Durability: Sendable {
      /// Completions run once the fact is synced.
      case strict
      /// Completions run at once, on the calling thread; the journal follows.
      case relaxed
    }

    package var durability: Durability
    /// A registration beyond it is refused; nothing is ever evicted.
    package var maximumKeys: Int
    /// SHA-256 of a point's 65 bytes, which is the key's identifier. With it, opening reports keys whose identifier
    /// does not belong to their point.
    package var fingerprint: (@Sendable (P256Point) -> Bytes32)?

    /// A file that the first start makes once it has the lock: with both of them and no snapshot, there was a store.
    package var witness: String?

    package init(
      durability: Durability = .strict, maximumKeys: Int = 2_000_000,
      fingerprint: (@Sendable (P256Point) -> Bytes32)? = nil, witness: String? = nil
    ) {
      self.witness = witness
      self.durability = durability
      self.maximumKeys = maximumKeys
      self.fingerprint = fingerprint
    }
  }

  struct Lifetime: ~Copyable {
    var lock: (any StoreLock)?
    var committer: Thread?
    var snapshotter: Thread?
    var writer: SnapshotWriter?
  }

  init(
    paths: StorePaths, options: Options, files: any StoreFiles, clock: any Clock, entropy: any Entropy,
    report: @escaping @Sendable (KeyStoreEvent) -> Void, state: sending StoreState, lock: any StoreLock
  ) {
    self.paths = paths
    self.options = options
    self.files = files
    self.clock = clock
    self.entropy = entropy
    self.report = report
    self.state = PromptMutex(state)
    lifetime = Mutex(Lifetime(lock: lock))
  }

  // MARK: Looking

  package func find(_ identifier: KeyIdentifier) -> KeyRecord? {
    state.withLock { state in
      guard let position = state.table.position(of: identifier) else { return nil }
      return state.table.record(at: position)
    }
  }

  /// At once, as all of it is in memory.
  package func find(_ identifier: KeyIdentifier, later: () -> FindCompletion) -> FindVerdict {
    .found(find(identifier).map { .known($0) } ?? .unknown)
  }

  /// Whether changes can become durable just now; while they cannot, requests are refused before they use anything up.
  package var isAccepting: Bool { state.withLock { $0.isAccepting } }

  package func isRevoked(_ identifier: KeyIdentifier) -> Bool {
    state.withLock { state in
      state.table.position(of: identifier).map { state.table[$0].isRevoked } ?? false
    }
  }

  // MARK: Registering

  /// A key that is known keeps its counter and the time of its first registration; what the attestation says
  /// (app, environment, launch) replaces what an earlier one said, and counts as use. Its challenge was spent when it was
  /// checked, as nobody shares the store. Without one, the same attestation may come again and again: where it says nothing
  /// new, nothing is written.
  package func register(
    _ key: NewKey, spending: Unspent? = nil, completion: @escaping Completion
  ) -> RegisterVerdict {
    change(completion) { state throws(Refused<RegisterVerdict>) in
      var record = KeyRecord(
        publicKey: key.publicKey, registeredAt: key.registeredAt, appID: key.appID,
        environment: key.environment,
        validationCategory: key.validationCategory, bundleVersion: key.bundleVersion)
      let position = state.table.position(of: key.identifier)
      if let position {
        let entry = state.table[position]
        if entry.isRevoked { throw Refused(.revoked) }
        record.signCount = entry.signCount
        record.registeredAt = UnixTime(milliseconds: entry.registeredAt)
        record.lastUsedAt = UnixTime(milliseconds: max(entry.lastUsedAt, key.registeredAt.milliseconds))
      } else if state.table.count >= options.maximumKeys {
        throw Refused(.full)
      }
      guard state.isAccepting else { throw Refused(.unavailable) }
      if spending == nil, let position, state.table.record(at: position).saysTheSame(as: record) {
        return Change(nil, .accepted(isNew: false))
      }
      let fact = Fact.registered(key.identifier, record)
      state.table.apply(fact)
      return Change(fact, .accepted(isNew: position == nil))
    }
  }

  // MARK: Admitting

  /// Compares and commits the counter in one critical section: of two assertions with one counter one wins, and after a
  /// revocation none does.
  /// - Parameters: - appID: recorded when the key has none yet. - environment: recorded when the key's is
  ///   unknown. - isGathered: the committer is not told; `commitGathered` has to follow, soon.
  package func advanceCounter(
    of identifier: KeyIdentifier, to signCount: UInt32, recording appID: String? = nil,
    environment: AttestEnvironment? = nil, now: UnixTime, spending: Unspent? = nil, isGathered: Bool = false,
    completion: @escaping Completion
  ) -> CounterVerdict {
    change(completion, isGathered: isGathered) { state throws(Refused<CounterVerdict>) in
      guard let position = state.table.position(of: identifier) else { throw Refused(.unknownKey) }
      let entry = state.table[position]
      if entry.isRevoked { throw Refused(.revoked) }
      if entry.isOver(at: now) { throw Refused(.unknownKey) }
      guard signCount > entry.signCount else { throw Refused(.replayed(stored: entry.signCount)) }
      guard state.isAccepting else { throw Refused(.unavailable) }
      let newAppID = entry.appID == 0 ? appID : nil
      state.table.count(
        at: position, signCount: signCount, time: now.milliseconds, appID: newAppID, environment: environment)
      let fact = Fact.counted(
        identifier, signCount: signCount, at: now, appID: newAppID, environment: environment)
      return Change(fact, .accepted)
    }
  }

  /// Wakes the committer once for all gathered changes, so that they share one batch and one sync.
  package func commitGathered() {
    commitSignal.ring()
  }

  // MARK: The shape of a change

  private struct Change<Verdict> {
    /// Nil where nothing is written, and the answer waits for what was written before.
    let fact: Fact?
    let verdict: Verdict

    init(_ fact: Fact?, _ verdict: Verdict) {
      self.fact = fact
      self.verdict = verdict
    }
  }

  private struct Refused<Verdict: Sendable>: Error {
    let verdict: Verdict

    init(_ verdict: Verdict) {
      self.verdict = verdict
    }
  }

  /// Runs `body` under the lock, queues the fact in the same critical section, and wakes who must know.
  private func change<Verdict: Sendable>(
    _ completion: @escaping Completion, isGathered: Bool = false,
    _ body: (inout StoreState) throws(Refused<Verdict>) -> Change<Verdict>
  ) -> Verdict {
    let isRelaxed = options.durability == .relaxed
    do throws(Refused<Verdict>) {
      let (verdict, isFirst) = try state.withLock { state throws(Refused<Verdict>) in
        let change = try body(&state)
        guard let fact = change.fact else {
          if !isRelaxed { state.pending.append(barrier: completion) }
          return (change.verdict, false)
        }
        state.pending.append(fact, isRelaxed ? nil : completion)
        return (change.verdict, state.schedule.noteChange(at: clock.monotonic))
      }
      wake(isFirstChange: isFirst, isGathered: isGathered)
      if isRelaxed { completion(.committed) }
      return verdict
    } catch {
      return error.verdict
    }
  }

  /// Wakes the committer, unless the caller gathers changes and will call `commitGathered`; and the snapshot's thread
  /// if this is the first change since the last snapshot began.
  func wake(isFirstChange: Bool, isGathered: Bool = false) {
    if !isGathered { commitSignal.ring() }
    if isFirstChange { snapshotSignal.ring() }
  }
}

extension KeyRecord {
  /// Whether `other` says the same of the key, whenever either of them was used.
  fileprivate func saysTheSame(as other: KeyRecord) -> Bool {
    var other = other
    other.lastUsedAt = lastUsedAt
    return self == other
  }
}
