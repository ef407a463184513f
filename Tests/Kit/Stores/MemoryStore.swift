package import Bytes
package import Identity
package import KeyStore
internal import Synchronization
internal import System
package import Time

/// The least that an `AttestedKeyStore` can be: a dictionary, durable for as long as the process lives.
package final class MemoryStore: AttestedKeyStore {
  private let records = Mutex<[KeyIdentifier: KeyRecord]>([:])
  private let spent = Mutex<Set<Bytes32>>([])

  /// Whoever shares it has used the challenge; false where it was used before.
  package func spend(_ nonce: Bytes32) -> Bool { spent.withLock { $0.insert(nonce).inserted } }

  package init() {}

  private let callers = Mutex<[Int32]>([])

  /// The niceness of each thread that has registered a key.
  package var registrants: [Int32] { callers.withLock { $0 } }

  package func find(_ identifier: KeyIdentifier) -> KeyRecord? { records.withLock { $0[identifier] } }
  package func find(_ identifier: KeyIdentifier, later: () -> FindCompletion) -> FindVerdict {
    .found(find(identifier).map { .known($0) } ?? .unknown)
  }
  package func isRevoked(_ identifier: KeyIdentifier) -> Bool { find(identifier)?.revokedAt != nil }
  package var isAccepting: Bool { true }

  package func register(
    _ key: NewKey, spending challenge: Unspent? = nil, completion: @escaping Completion
  ) -> RegisterVerdict {
    callers.withLock { $0.append(Thread.niceness) }
    let verdict = records.withLock { records -> RegisterVerdict in
      if records[key.identifier]?.revokedAt != nil { return .revoked }
      let known = records[key.identifier]
      records[key.identifier] = KeyRecord(
        publicKey: key.publicKey, signCount: known?.signCount ?? 0, registeredAt: key.registeredAt,
        appID: key.appID, environment: key.environment, validationCategory: key.validationCategory,
        bundleVersion: key.bundleVersion)
      return .accepted(isNew: known == nil)
    }
    if case .accepted = verdict { completion(.committed) }
    return verdict
  }

  package func advanceCounter(
    of identifier: KeyIdentifier, to signCount: UInt32, recording appID: String?,
    environment: AttestEnvironment?, now: UnixTime, spending challenge: Unspent?, isGathered: Bool,
    completion: @escaping Completion
  ) -> CounterVerdict {
    let verdict = records.withLock { records -> CounterVerdict in
      guard var record = records[identifier] else { return .unknownKey }
      if record.revokedAt != nil { return .revoked }
      if record.isOver(at: now) { return .unknownKey }
      guard signCount > record.signCount else { return .replayed(stored: record.signCount) }
      (record.signCount, record.lastUsedAt) = (signCount, now)
      record.appID = record.appID ?? appID
      record.environment = record.environment ?? environment
      records[identifier] = record
      return .accepted
    }
    if verdict == .accepted { completion(.committed) }
    return verdict
  }

  package func removeImports(
    overSince cutoff: UnixTime, isInUse: (KeyIdentifier) -> Bool, completion: @escaping Completion
  ) -> Int {
    defer { completion(.committed) }
    return records.withLock { records in
      let over = records.filter { $1.isOver(at: cutoff) && $1.revokedAt == nil && !isInUse($0) }
      for key in over.keys { records[key] = nil }
      return over.count
    }
  }

  package func adopt(
    _ keys: [ForeignKey], _ imported: KeyImport, appID: String?, completion: @escaping Completion
  ) -> ImportVerdict {
    defer { completion(.committed) }
    return records.withLock { records in
      var verdict = ImportVerdict()
      for key in keys {
        guard records[key.identifier] == nil else {
          verdict.known += 1
          continue
        }
        records[key.identifier] = KeyRecord(
          publicKey: key.publicKey, signCount: key.signCount, registeredAt: key.registeredAt,
          lastUsedAt: key.lastUsedAt, appID: appID, imported: imported)
        verdict.taken += 1
      }
      return verdict
    }
  }

  package func commitGathered() {}

  package func revoke(
    _ identifier: KeyIdentifier, reason: RevocationReason?, now: UnixTime,
    verdict: @escaping @Sendable (RevokeVerdict) -> Void, completion: @escaping Completion
  ) {
    verdict(revoke(identifier, reason: reason, now: now, completion: completion))
  }

  @discardableResult
  package func revoke(
    _ identifier: KeyIdentifier, reason: RevocationReason? = nil, now: UnixTime,
    completion: Completion = { _ in }
  ) -> RevokeVerdict {
    let since = records.withLock { records -> UnixTime? in
      guard let record = records[identifier] else { return nil }
      let since = record.revokedAt ?? now
      records[identifier]?.revokedAt = since
      if record.revokedReason == nil { records[identifier]?.revokedReason = reason?.text }
      return since
    }
    guard let since else { return .unknownKey }
    completion(.committed)
    return .revoked(since: since)
  }

  package func prune(
    unusedSince cutoff: UnixTime, isInUse: (KeyIdentifier) -> Bool, completion: @escaping Completion
  ) -> Int {
    let removed = records.withLock { records in
      let unused = records.filter { identifier, record in
        record.revokedAt == nil && !isInUse(identifier)
          && max(record.lastUsedAt ?? record.registeredAt, record.registeredAt).milliseconds
            < cutoff.milliseconds
      }
      for identifier in unused.keys { records[identifier] = nil }
      return unused.count
    }
    completion(.committed)
    return removed
  }

  package let orders = StoreOrders()
  package var statistics: KeyStoreStatistics {
    var statistics = KeyStoreStatistics()
    statistics.keys = records.withLock { $0.count }
    return statistics
  }

  package func prune(
    unusedSince cutoff: UnixTime, isInUse: @escaping @Sendable (KeyIdentifier) -> Bool,
    removed: @escaping @Sendable (Int) -> Void, completion: @escaping Completion
  ) { removed(prune(unusedSince: cutoff, isInUse: isInUse, completion: completion)) }

  package func removeImports(
    overSince cutoff: UnixTime, isInUse: @escaping @Sendable (KeyIdentifier) -> Bool,
    removed: @escaping @Sendable (Int) -> Void, completion: @escaping Completion
  ) { removed(removeImports(overSince: cutoff, isInUse: isInUse, completion: completion)) }

  package func adopt(
    _ keys: [ForeignKey], _ imported: KeyImport, appID: String?,
    verdict: @escaping @Sendable (ImportVerdict) -> Void, completion: @escaping Completion
  ) { verdict(adopt(keys, imported, appID: appID, completion: completion)) }
}
