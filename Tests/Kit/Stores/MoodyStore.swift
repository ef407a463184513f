/// An `AttestedKeyStore` that fails at random: it takes nothing, or has made a change and cannot say so.
package import Bytes
package import Identity
package import KeyStore
internal import Kit
internal import Synchronization
package import Time

package final class MoodyStore: AttestedKeyStore {
  private let store = MemoryStore()
  private let numbers: Mutex<SplitMix>
  package let orders = StoreOrders()

  package init(seed: UInt64) { numbers = Mutex(SplitMix(seed: seed)) }

  private func happens() -> Bool { numbers.withLock { $0.next(below: 3) == 0 } }

  /// What was made may be told as failed.
  private func moody(_ completion: @escaping Completion) -> Completion {
    let fails = happens()
    return { result in completion(fails ? .failed : result) }
  }

  package func find(_ identifier: KeyIdentifier, later: () -> FindCompletion) -> FindVerdict {
    happens() ? .found(.failed) : store.find(identifier, later: later)
  }
  package func isRevoked(_ identifier: KeyIdentifier) -> Bool { store.isRevoked(identifier) }
  package var isAccepting: Bool { !happens() }
  package var statistics: KeyStoreStatistics { store.statistics }

  package func register(
    _ key: NewKey, spending challenge: Unspent?, completion: @escaping Completion
  ) -> RegisterVerdict {
    if happens(), !store.isRevoked(key.identifier) { return .unavailable }
    return store.register(key, spending: challenge, completion: moody(completion))
  }

  package func advanceCounter(
    of identifier: KeyIdentifier, to signCount: UInt32, recording appID: String?,
    environment: AttestEnvironment?, now: UnixTime, spending challenge: Unspent?, isGathered: Bool,
    completion: @escaping Completion
  ) -> CounterVerdict {
    if happens(), let known = store.find(identifier), known.revokedAt == nil, signCount > known.signCount {
      return .unavailable
    }
    return store.advanceCounter(
      of: identifier, to: signCount, recording: appID, environment: environment, now: now,
      spending: challenge, isGathered: isGathered, completion: moody(completion))
  }

  package func commitGathered() {}

  package func revoke(
    _ identifier: KeyIdentifier, reason: RevocationReason?, now: UnixTime,
    verdict: @escaping @Sendable (RevokeVerdict) -> Void, completion: @escaping Completion
  ) {
    store.revoke(identifier, reason: reason, now: now, verdict: verdict, completion: moody(completion))
  }

  package func prune(
    unusedSince cutoff: UnixTime, isInUse: @escaping @Sendable (KeyIdentifier) -> Bool,
    removed: @escaping @Sendable (Int) -> Void, completion: @escaping Completion
  ) { store.prune(unusedSince: cutoff, isInUse: isInUse, removed: removed, completion: moody(completion)) }

  package func removeImports(
    overSince cutoff: UnixTime, isInUse: @escaping @Sendable (KeyIdentifier) -> Bool,
    removed: @escaping @Sendable (Int) -> Void, completion: @escaping Completion
  ) {
    store.removeImports(overSince: cutoff, isInUse: isInUse, removed: removed, completion: moody(completion))
  }

  package func adopt(
    _ keys: [ForeignKey], _ imported: KeyImport, appID: String?,
    verdict: @escaping @Sendable (ImportVerdict) -> Void, completion: @escaping Completion
  ) { store.adopt(keys, imported, appID: appID, verdict: verdict, completion: moody(completion)) }
}
