package import Bytes
package import Identity
package import KeyStore
internal import Synchronization
package import Time

/// An `AttestedKeyStore` over a database that others share: nothing but revocations is at hand, keys are looked up there, and
/// a change comes true there, or is lost. Both wait until the test says that the database answers.
package final class LateStore: AttestedKeyStore {
  package let database: MemoryStore

  private struct Waiting {
    var finds: [(KeyIdentifier, FindCompletion)] = []
    var changes: [@Sendable () -> Void] = []
  }

  private let waiting = Mutex(Waiting())

  package init(_ database: MemoryStore) { self.database = database }

  /// How many finds wait.
  package var findCount: Int { waiting.withLock { $0.finds.count } }
  package var changeCount: Int { waiting.withLock { $0.changes.count } }

  /// The database answers what was asked first.
  /// - Parameter finding: in the place of what it knows by now.
  package func answerFind(_ finding: KeyFinding? = nil) {
    guard let (identifier, completion) = waiting.withLock({ $0.finds.isEmpty ? nil : $0.finds.removeFirst() })
    else { return }
    completion(finding ?? database.find(identifier).map { .known($0) } ?? .unknown)
  }

  package func answerChanges() {
    for change in waiting.withLock({ waiting in exchange(&waiting.changes, with: []) }) { change() }
  }

  // MARK: What the gate asks

  package func find(_ identifier: KeyIdentifier, later: () -> FindCompletion) -> FindVerdict {
    let completion = later()
    waiting.withLock { $0.finds.append((identifier, completion)) }
    return .later
  }

  package func isRevoked(_ identifier: KeyIdentifier) -> Bool { database.isRevoked(identifier) }
  package var isAccepting: Bool { true }

  package func register(
    _ key: NewKey, spending challenge: Unspent? = nil, completion: @escaping Completion
  ) -> RegisterVerdict {
    let database = database
    wait {
      if let challenge, !database.spend(challenge.nonce) { return completion(.lost(.spent)) }
      switch database.register(key, completion: { _ in }) {
      case .accepted: completion(.committed)
      case .revoked: completion(.lost(.revoked))
      case .full: completion(.lost(.full))
      case .unavailable: completion(.failed)
      }
    }
    return .accepted(isNew: true)
  }

  package func advanceCounter(
    of identifier: KeyIdentifier, to signCount: UInt32, recording appID: String?,
    environment: AttestEnvironment?, now: UnixTime, spending challenge: Unspent?, isGathered: Bool,
    completion: @escaping Completion
  ) -> CounterVerdict {
    let database = database
    wait {
      if let challenge, !database.spend(challenge.nonce) { return completion(.lost(.spent)) }
      let verdict = database.advanceCounter(
        of: identifier, to: signCount, recording: appID, environment: environment, now: now, spending: nil,
        isGathered: false, completion: { _ in })
      switch verdict {
      case .accepted: completion(.committed)
      case .unknownKey: completion(.lost(.unknownKey))
      case .revoked: completion(.lost(.revoked))
      case .replayed(let stored): completion(.lost(.replayed(stored: stored)))
      case .unavailable: completion(.failed)
      }
    }
    return .accepted
  }

  private func wait(_ change: @escaping @Sendable () -> Void) {
    waiting.withLock { $0.changes.append(change) }
  }

  // MARK: What it is not asked here

  package func commitGathered() {}
  package let orders = StoreOrders()
  package var statistics: KeyStoreStatistics { database.statistics }

  package func revoke(
    _ identifier: KeyIdentifier, reason: RevocationReason?, now: UnixTime,
    verdict: @escaping @Sendable (RevokeVerdict) -> Void, completion: @escaping Completion
  ) {
    database.revoke(identifier, reason: reason, now: now, verdict: verdict, completion: completion)
  }

  package func prune(
    unusedSince cutoff: UnixTime, isInUse: @escaping @Sendable (KeyIdentifier) -> Bool,
    removed: @escaping @Sendable (Int) -> Void, completion: @escaping Completion
  ) { database.prune(unusedSince: cutoff, isInUse: isInUse, removed: removed, completion: completion) }

  package func removeImports(
    overSince cutoff: UnixTime, isInUse: @escaping @Sendable (KeyIdentifier) -> Bool,
    removed: @escaping @Sendable (Int) -> Void, completion: @escaping Completion
  ) { database.removeImports(overSince: cutoff, isInUse: isInUse, removed: removed, completion: completion) }

  package func adopt(
    _ keys: [ForeignKey], _ imported: KeyImport, appID: String?,
    verdict: @escaping @Sendable (ImportVerdict) -> Void, completion: @escaping Completion
  ) { database.adopt(keys, imported, appID: appID, verdict: verdict, completion: completion) }
}
