/// What takes keys out of use: revoking one, pruning those that nobody uses.
package import Bytes
internal import Synchronization
package import Time

extension KeyStore {
  /// Takes effect in memory even while the journal cannot be written; the completion then says `failed`, and
  /// the snapshot that ends the outage holds it.
  package func revoke(
    _ identifier: KeyIdentifier, reason: RevocationReason? = nil, now: UnixTime,
    completion: @escaping Completion
  ) -> RevokeVerdict {
    let isRelaxed = options.durability == .relaxed
    let (verdict, isStalled, isFirst) = state.withLock { state -> (RevokeVerdict, Bool, Bool) in
      guard !state.isClosing else { return (.unavailable, false, false) }
      guard let position = state.table.position(of: identifier) else { return (.unknownKey, false, false) }
      state.table.revoke(at: position, time: now.milliseconds, reason: reason?.text)
      let since = UnixTime(milliseconds: state.table[position].revokedAt)
      let isStalled = state.service != .accepting
      state.pending.append(
        .revoked(identifier, at: since, reason: reason?.text), isStalled || isRelaxed ? nil : completion)
      let isFirst = state.schedule.noteChange(at: clock.monotonic)
      return (.revoked(since: since), isStalled, isFirst)
    }
    guard case .revoked = verdict else { return verdict }
    wake(isFirstChange: isFirst)
    if isStalled { completion(.failed) } else if isRelaxed { completion(.committed) }
    return verdict
  }

  package func revoke(
    _ identifier: KeyIdentifier, reason: RevocationReason?, now: UnixTime,
    verdict: @escaping @Sendable (RevokeVerdict) -> Void, completion: @escaping Completion
  ) {
    orders.give { [self] in
      verdict(revoke(identifier, reason: reason, now: now, completion: completion))
    }
  }

  /// Removes keys that were neither used nor registered since `cutoff`. Revoked keys stay, else they could
  /// register again. The completion follows in any case.
  /// - Parameter isInUse: keys that stay as well. It is asked under the store's lock: it must not call the store, nor wait.
  /// - Returns: how many were removed.
  package func prune(
    unusedSince cutoff: UnixTime, isInUse: (KeyIdentifier) -> Bool = { _ in false },
    completion: @escaping Completion
  ) -> Int {
    remove(completion) { entry in
      max(entry.lastUsedAt, entry.registeredAt) < cutoff.milliseconds && !isInUse(entry.identifier)
    }
  }

  /// Removes keys that were imported and good until before `cutoff`, and were not registered since: nobody comes in by them,
  /// and they take others' places. Otherwise as `prune`.
  package func removeImports(
    overSince cutoff: UnixTime, isInUse: (KeyIdentifier) -> Bool, completion: @escaping Completion
  ) -> Int {
    remove(completion) { entry in entry.isOver(at: cutoff) && !isInUse(entry.identifier) }
  }

  private func remove(_ completion: @escaping Completion, _ isMeant: (KeyTable.Entry) -> Bool) -> Int {
    var removed = 0
    var position = 0
    var result = CommitResult.committed
    var isDone = false
    while !isDone {
      state.withLock { state in
        guard state.service == .accepting, !state.isClosing else {
          (result, isDone) = (.failed, true)
          return
        }
        var candidates: [KeyTable.Entry] = []
        state.table.copy(from: &position, limit: Self.pruneStride, to: &candidates)
        for entry in candidates where !entry.isRevoked && isMeant(entry) {
          state.table.remove(entry.identifier)
          state.pending.append(.removed(entry.identifier), nil)
          removed += 1
        }
        isDone = position >= state.table.positions
        if isDone, removed > 0, options.durability == .strict { state.pending.append(barrier: completion) }
      }
    }
    if removed > 0 { wake(isFirstChange: state.withLock { $0.schedule.noteChange(at: clock.monotonic) }) }
    if removed == 0 || result == .failed || options.durability == .relaxed { completion(result) }
    return removed
  }

  /// Positions looked at under one hold of the lock.
  private static let pruneStride = 256
}
