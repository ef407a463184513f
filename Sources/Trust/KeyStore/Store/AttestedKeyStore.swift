/// What a gate asks of whatever keeps its attested keys: this package's file with its journal (`KeyStore`), a database, or
/// a test's memory.
///
/// Loops call it, so every method answers at once; what takes time comes as a completion: being durable, and where others
/// share the store, what they have done meanwhile. What a store over a database has to keep in memory is which keys are
/// revoked, as that is asked with each `101`; a key may be looked up there (`find`), and its compare-and-set of the counter has
/// to hold for all who share it before the completion says `committed`.
package import Bytes
package import Identity
package import Time

package protocol AttestedKeyStore: AnyObject, Sendable {
  typealias Completion = @Sendable (CommitResult) -> Void
  typealias FindCompletion = @Sendable (KeyFinding) -> Void

  /// - Parameter later: makes the completion; called only where the store cannot answer at once, so that one that can costs
  ///   its callers no allocation.
  func find(_ identifier: KeyIdentifier, later: () -> FindCompletion) -> FindVerdict
  func isRevoked(_ identifier: KeyIdentifier) -> Bool
  /// Whether changes can become durable just now.
  var isAccepting: Bool { get }

  /// A key that is known keeps its counter; one that is revoked is refused.
  /// - Parameter challenge: that it was registered by, spent in the same step; nil where there is none. Then what is already
  ///   there is there as it was, however often it comes.
  func register(
    _ key: NewKey, spending challenge: Unspent?, completion: @escaping Completion
  ) -> RegisterVerdict

  /// Sets the counter if the key is there, not revoked, and the counter greater than what is stored: in one step, so
  /// that of two assertions with one counter one wins.
  /// - Parameters:
  ///   - appID: recorded when the key has none yet.
  ///   - environment: recorded when the key's is unknown.
  ///   - challenge: that was signed, spent in the same step; nil where there is none.
  ///   - isGathered: `commitGathered` follows soon, and the change may wait for it.
  func advanceCounter(
    of identifier: KeyIdentifier, to signCount: UInt32, recording appID: String?,
    environment: AttestEnvironment?, now: UnixTime, spending challenge: Unspent?, isGathered: Bool,
    completion: @escaping Completion
  ) -> CounterVerdict
  /// Makes what was gathered durable, all at once.
  func commitGathered()

  /// Revokes a key, without waiting for anything: from all threads but the loops'. From the moment at which `verdict` is told
  /// that it is revoked, the key is refused; that holds even while nothing can become durable. A key that was revoked before
  /// keeps its time, and the reason that was given first.
  /// - Parameters:
  ///   - verdict: told once, on a thread of the loops' priority.
  ///   - completion: may come before it.
  func revoke(
    _ identifier: KeyIdentifier, reason: RevocationReason?, now: UnixTime,
    verdict: @escaping @Sendable (RevokeVerdict) -> Void, completion: @escaping Completion
  )

  /// Removes keys unused since `cutoff`, but neither revoked ones nor those in use, which is asked in the same step in
  /// which a key is removed. From the threads that `revoke` is for, and without waiting either.
  /// - Parameters:
  ///   - removed: told once, how many were.
  ///   - completion: follows in any case, and may come before that.
  func prune(
    unusedSince cutoff: UnixTime, isInUse: @escaping @Sendable (KeyIdentifier) -> Bool,
    removed: @escaping @Sendable (Int) -> Void, completion: @escaping Completion
  )

  /// Removes keys that were imported and good until before `cutoff`; otherwise as `prune`.
  func removeImports(
    overSince cutoff: UnixTime, isInUse: @escaping @Sendable (KeyIdentifier) -> Bool,
    removed: @escaping @Sendable (Int) -> Void, completion: @escaping Completion
  )

  /// Takes keys that another gate had registered, good until the import says; one that is there stays as it is. Otherwise as
  /// `prune`.
  func adopt(
    _ keys: [ForeignKey], _ imported: KeyImport, appID: String?,
    verdict: @escaping @Sendable (ImportVerdict) -> Void, completion: @escaping Completion
  )

  /// Through which all threads but the loops' ask for what takes the lock that loops wait for.
  var orders: StoreOrders { get }
  /// To be asked for by `orders`, where the thread has less priority than the loops.
  var statistics: KeyStoreStatistics { get }
}

/// What the store knows of a key.
package enum KeyFinding: Equatable, Sendable {
  case known(KeyRecord)
  case unknown
  /// It cannot say: answer 503 `store_unavailable`.
  case failed

  /// How long a caller should wait for it before it answers 503.
  package static let deadline: Duration = .seconds(3)
}

package enum FindVerdict: Equatable, Sendable {
  case found(KeyFinding)
  /// The completion follows, once, on a thread of the store's; in the other case it does not.
  case later
}

/// What has become of a change; said once, on a thread of the store's.
package enum CommitResult: Equatable, Sendable {
  case committed
  /// It stands in memory and may or may not be on disk: answer 503 `store_unavailable`.
  case failed
  /// Of a registration or a counter: nothing was changed, as somebody else who shares the store was first. It is refused as if
  /// the verdict had said so.
  case lost(Loss)

  package enum Loss: Equatable, Sendable {
    case unknownKey
    case revoked
    /// Not strictly greater than what is stored.
    case replayed(stored: UInt32)
    /// As many keys are there as there may be.
    case full
    /// The challenge was used elsewhere.
    case spent
  }

  /// How long a caller should wait for it before it answers 503; the store itself keeps no deadline, since a call that
  /// hangs in the kernel cannot be called back.
  package static let deadline: Duration = .seconds(3)
}

package enum RegisterVerdict: Equatable, Sendable {
  /// The completion follows, and may still say that it is lost; in the other cases it does not.
  case accepted(isNew: Bool)
  case revoked
  /// As many keys are there as there may be.
  case full
  case unavailable
}

package enum CounterVerdict: Equatable, Sendable {
  /// The completion follows, and may still say that it is lost; in the other cases it does not.
  case accepted
  case unknownKey
  case revoked
  /// Not strictly greater than what is stored.
  case replayed(stored: UInt32)
  case unavailable
}

package enum RevokeVerdict: Equatable, Sendable {
  /// The completion follows; in the other cases it does not. A key that was revoked before keeps its time.
  case revoked(since: UnixTime)
  case unknownKey
  /// The store is closing.
  case unavailable
}
