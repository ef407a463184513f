import Bytes
import Identity
import KeyStore
import Synchronization
import Time

/// An `AttestedKeyStore` over a database that others share: nothing but revocations is at hand, keys are looked up there, and
/// a change comes true there, or is lost. Both wait until the test says that the database answers.
final class LateStore: AttestedKeyStore {
  let database: MemoryStore

  private struct Waiting {
    var finds: [(KeyIdentifier, FindCompletion)] = []
    var changes: [@Sendable () -> Void] = []
  }

  private let waiting = Mutex(Waiting())

  init(_ database: MemoryStore) { self.database = database }

  /// How many finds wait.
  var findCount: Int { waiting.withLock { $0.finds.count } }
  var changeCount: Int { waiting.withLock { $0.changes.count } }

  /// The database answers what was asked first.
  /// - Parameter finding: in the place of what it knows by now.
  func answerFind(_ finding: KeyFinding? = nil) {
    guard let (identifier, completion) = waiting.withLock({ $0.finds.isEmpty ? nil : $0.finds.removeFirst() })
    else { return }
    completion(finding ?? database.find(identifier).map { .known($0) } ?? .unknown)
  }

  func answerChanges() {
    for change in waiting.withLock({ waiting in exchange(&waiting.changes, with: []) }) { change() }
  }

  // MARK: What the gate asks

  func find(_ identifier: KeyIdentifier, later: () -> FindCompletion) -> FindVerdict {
    let completion = later()
    waiting.withLock { $0.finds.append((identifier, completion)) }
    return .later
  }

  func isRevoked(_ identifier: KeyIdentifier) -> Bool { database.isRevoked(identifier) }
  var isAccepting: Bool { true }

  func register(_ key: NewKey, completion: @escaping Completion) -> RegisterVerdict {
    let database = database
    wait {
      switch database.register(key, completion: { _ in }) {
      case .accepted: completion(.committed)
      case .revoked: completion(.lost(.revoked))
      case .full: completion(.lost(.full))
      case .unavailable: completion(.failed)
      }
    }
    return .accepted(isNew: true)
  }

  func advanceCounter(
    of identifier: KeyIdentifier, to signCount: UInt32, recording appID: String?,
    environment: AttestEnvironment?, now: UnixTime, isGathered: Bool, completion: @escaping Completion
  ) -> CounterVerdict {
    let database = database
    wait {
      let verdict = database.advanceCounter(
        of: identifier, to: signCount, recording: appID, environment: environment, now: now,
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

  func commitGathered() {}
  let orders = StoreOrders()
  var statistics: KeyStoreStatistics { database.statistics }

  func revoke(
    _ identifier: KeyIdentifier, reason: RevocationReason?, now: UnixTime,
    verdict: @escaping @Sendable (RevokeVerdict) -> Void, completion: @escaping Completion
  ) {
    database.revoke(identifier, reason: reason, now: now, verdict: verdict, completion: completion)
  }

  func prune(
    unusedSince cutoff: UnixTime, isInUse: (KeyIdentifier) -> Bool, completion: @escaping Completion
  ) -> Int { database.prune(unusedSince: cutoff, isInUse: isInUse, completion: completion) }

  func removeImports(
    overSince cutoff: UnixTime, isInUse: (KeyIdentifier) -> Bool, completion: @escaping Completion
  ) -> Int { database.removeImports(overSince: cutoff, isInUse: isInUse, completion: completion) }

  func adopt(
    _ keys: [ForeignKey], _ imported: KeyImport, appID: String?, completion: @escaping Completion
  ) -> ImportVerdict { database.adopt(keys, imported, appID: appID, completion: completion) }
}
