/// Takes keys that another gate had registered, for a while (docs/key-store.md, "Imported keys").
internal import Bytes
internal import Synchronization
internal import System
internal import Time

/// What came of some keys of another gate.
package struct ImportVerdict: Equatable, Sendable {
  package var taken = 0
  /// Were there before, and are as they were.
  package var known = 0
  /// Found no room; nothing after the first of them was looked at.
  package var isFull = false

  package init(taken: Int = 0, known: Int = 0, isFull: Bool = false) {
    self.taken = taken
    self.known = known
    self.isFull = isFull
  }
}

extension KeyStore {
  /// A key that is there, revoked or over as it may be, stays as it is: so doing it again changes nothing. The completion
  /// follows in any case, and says `failed` when the store could not go on.
  package func adopt(
    _ keys: [ForeignKey], _ imported: KeyImport, appID: String?, completion: @escaping Completion
  ) -> ImportVerdict {
    var verdict = ImportVerdict()
    var rest = keys[...]
    var result = CommitResult.committed
    var isAwaited = false
    while !rest.isEmpty, !verdict.isFull, result == .committed {
      let some = rest.prefix(Self.importStride)
      rest = rest.dropFirst(some.count)
      state.withLock { state in
        guard state.isAccepting else {
          result = .failed
          return
        }
        for key in some where !verdict.isFull { enter(key, imported, appID, &state, &verdict) }
        let isLast = rest.isEmpty || verdict.isFull
        isAwaited = isLast && verdict.taken > 0 && options.durability == .strict
        if isAwaited { state.pending.append(barrier: completion) }
      }
    }
    if verdict.taken > 0 {
      wake(isFirstChange: state.withLock { $0.schedule.noteChange(at: clock.monotonic) })
    }
    if !isAwaited { completion(result) }
    return verdict
  }

  private func enter(
    _ key: ForeignKey, _ imported: KeyImport, _ appID: String?, _ state: inout StoreState,
    _ verdict: inout ImportVerdict
  ) {
    if state.table.position(of: key.identifier) != nil {
      verdict.known += 1
    } else if state.table.count >= options.maximumKeys {
      verdict.isFull = true
    } else {
      let fact = Fact.imported(
        key.identifier,
        KeyRecord(
          publicKey: key.publicKey, signCount: key.signCount, registeredAt: key.registeredAt,
          lastUsedAt: key.lastUsedAt, appID: appID, imported: imported))
      state.table.apply(fact)
      state.pending.append(fact, nil)
      verdict.taken += 1
    }
  }

  /// Keys that enter under one hold of the lock, which loops wait for.
  private static let importStride = 64
}
