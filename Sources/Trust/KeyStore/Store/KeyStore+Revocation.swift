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

  // MARK: Removing

  /// Removes keys that were neither used nor registered since `cutoff`. Revoked keys stay, else they could
  /// register again. The completion follows in any case. For threads that the store's lock is for.
  /// - Parameter isInUse: keys that stay as well. It is asked under the store's lock: it must not call the store, nor wait.
  /// - Returns: how many were removed.
  package func prune(
    unusedSince cutoff: UnixTime, isInUse: (KeyIdentifier) -> Bool = { _ in false },
    completion: @escaping Completion
  ) -> Int {
    var removal = Removal()
    while !removal.isDone {
      step(&removal, completion) { Self.isUnused($0, since: cutoff) && !isInUse($0.identifier) }
    }
    return finish(removal, completion)
  }

  package func prune(
    unusedSince cutoff: UnixTime, isInUse: @escaping @Sendable (KeyIdentifier) -> Bool,
    removed: @escaping @Sendable (Int) -> Void, completion: @escaping Completion
  ) {
    remove(removed, completion) { Self.isUnused($0, since: cutoff) && !isInUse($0.identifier) }
  }

  /// Removes keys that were imported and good until before `cutoff`, and were not registered since: nobody comes in by them,
  /// and they take others' places. Otherwise as `prune`.
  package func removeImports(
    overSince cutoff: UnixTime, isInUse: @escaping @Sendable (KeyIdentifier) -> Bool,
    removed: @escaping @Sendable (Int) -> Void, completion: @escaping Completion
  ) {
    remove(removed, completion) { $0.isOver(at: cutoff) && !isInUse($0.identifier) }
  }

  private static func isUnused(_ entry: KeyTable.Entry, since cutoff: UnixTime) -> Bool {
    max(entry.lastUsedAt, entry.registeredAt) < cutoff.milliseconds
  }

  /// How far a walk through the table has come.
  private struct Removal {
    var position = 0
    var removed = 0
    var result = CommitResult.committed
    var isDone = false
  }

  /// Each piece is an order of its own: a revocation that comes meanwhile does not wait for the whole table.
  private func remove(
    from removal: Removal = Removal(), _ removed: @escaping @Sendable (Int) -> Void,
    _ completion: @escaping Completion, _ isMeant: @escaping @Sendable (KeyTable.Entry) -> Bool
  ) {
    orders.give { [self] in
      var removal = removal
      step(&removal, completion, isMeant)
      if removal.isDone { return removed(finish(removal, completion)) }
      remove(from: removal, removed, completion, isMeant)
    }
  }

  private func step(
    _ removal: inout Removal, _ completion: @escaping Completion, _ isMeant: (KeyTable.Entry) -> Bool
  ) {
    state.withLock { state in
      guard state.service == .accepting, !state.isClosing else {
        (removal.result, removal.isDone) = (.failed, true)
        return
      }
      var candidates: [KeyTable.Entry] = []
      state.table.copy(from: &removal.position, limit: Self.pruneStride, to: &candidates)
      for entry in candidates where !entry.isRevoked && isMeant(entry) {
        state.table.remove(entry.identifier)
        state.pending.append(.removed(entry.identifier), nil)
        removal.removed += 1
      }
      removal.isDone = removal.position >= state.table.positions
      if removal.isDone, removal.removed > 0, options.durability == .strict {
        state.pending.append(barrier: completion)
      }
    }
  }

  private func finish(_ removal: Removal, _ completion: @escaping Completion) -> Int {
    let (removed, result) = (removal.removed, removal.result)
    if removed > 0 { wake(isFirstChange: state.withLock { $0.schedule.noteChange(at: clock.monotonic) }) }
    if removed == 0 || result == .failed || options.durability == .relaxed { completion(result) }
    return removed
  }

  /// Positions looked at under one hold of the lock.
  private static let pruneStride = 256
}
