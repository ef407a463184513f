/// The sessions of a key, and what ends them: revoking one key, pruning those that nobody uses.
package import Bytes
internal import Synchronization
package import System

extension KeyStore {
  // MARK: Sessions

  /// Oldest first.
  package func sessions(of identifier: KeyIdentifier) -> [SessionReference] {
    state.withLock { $0.sessions[identifier] ?? [] }
  }

  package func removeSession(_ session: SessionReference, of identifier: KeyIdentifier) {
    state.withLock { state in
      guard var list = state.sessions[identifier], let index = list.firstIndex(of: session) else { return }
      list.remove(at: index)
      state.sessions[identifier] = list.isEmpty ? nil : list
    }
  }

  /// The oldest sessions, as many as there are beyond `limit`; they stay in the list until they are removed.
  package func surplusSessions(of identifier: KeyIdentifier, limit: Int) -> [SessionReference] {
    state.withLock { state in
      guard let list = state.sessions[identifier], list.count > limit else { return [] }
      return Array(list.prefix(list.count - limit))
    }
  }

  // MARK: Revoking and pruning

  package enum RevokeVerdict: Equatable, Sendable {
    /// From this moment on the key is refused. The sessions are those it had; the completion follows.
    case revoked(since: UnixTime, sessions: [SessionReference])
    case unknownKey
    /// The store is closing.
    case unavailable
  }

  /// Takes effect in memory even while the journal cannot be written; the completion then says `failed`, and
  /// the snapshot that ends the outage holds it.
  package func revoke(_ identifier: KeyIdentifier, now: UnixTime, completion: @escaping Completion)
    -> RevokeVerdict
  {
    let isRelaxed = options.durability == .relaxed
    let (verdict, isStalled, isFirst) = state.withLock { state -> (RevokeVerdict, Bool, Bool) in
      guard !state.isClosing else { return (.unavailable, false, false) }
      guard let position = state.table.position(of: identifier) else { return (.unknownKey, false, false) }
      state.table.revoke(at: position, time: now.milliseconds)
      let since = UnixTime(milliseconds: state.table[position].revokedAt)
      let isStalled = state.service != .accepting
      state.pending.append(.revoked(identifier, at: since), isStalled || isRelaxed ? nil : completion)
      let isFirst = state.schedule.noteChange(at: clock.monotonic)
      return (.revoked(since: since, sessions: state.sessions[identifier] ?? []), isStalled, isFirst)
    }
    guard case .revoked = verdict else { return verdict }
    wake(isFirstChange: isFirst)
    if isStalled { completion(.failed) } else if isRelaxed { completion(.committed) }
    return verdict
  }

  /// Removes keys that were neither used nor registered since `cutoff`. Revoked keys stay, else they could
  /// register again; so do keys with live sessions. The completion follows in any case.
  /// - Returns: how many were removed.
  package func prune(unusedSince cutoff: UnixTime, completion: @escaping Completion) -> Int {
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
        for entry in candidates
        where !entry.isRevoked && max(entry.lastUsedAt, entry.registeredAt) < cutoff.milliseconds
          && state.sessions[entry.identifier] == nil
        {
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
