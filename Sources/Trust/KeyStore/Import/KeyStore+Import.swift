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
  /// follows in any case, and says `failed` when the store could not go on. For threads that the store's lock is for.
  package func adopt(
    _ keys: [ForeignKey], _ imported: KeyImport, appID: String?, completion: @escaping Completion
  ) -> ImportVerdict {
    var adoption = Adoption(keys)
    while !adoption.isDone { step(&adoption, imported, appID, completion) }
    return finish(adoption, completion)
  }

  package func adopt(
    _ keys: [ForeignKey], _ imported: KeyImport, appID: String?,
    verdict: @escaping @Sendable (ImportVerdict) -> Void, completion: @escaping Completion
  ) {
    adopt(Adoption(keys), imported, appID, verdict, completion)
  }

  /// Each piece is an order of its own, as in pruning.
  private func adopt(
    _ adoption: Adoption, _ imported: KeyImport, _ appID: String?,
    _ verdict: @escaping @Sendable (ImportVerdict) -> Void, _ completion: @escaping Completion
  ) {
    orders.give { [self] in
      var adoption = adoption
      step(&adoption, imported, appID, completion)
      if adoption.isDone { return verdict(finish(adoption, completion)) }
      adopt(adoption, imported, appID, verdict, completion)
    }
  }

  /// How far it has come.
  private struct Adoption {
    var rest: ArraySlice<ForeignKey>
    var verdict = ImportVerdict()
    var result = CommitResult.committed
    var isAwaited = false
    var isDone: Bool

    init(_ keys: [ForeignKey]) {
      rest = keys[...]
      isDone = keys.isEmpty
    }
  }

  private func step(
    _ adoption: inout Adoption, _ imported: KeyImport, _ appID: String?, _ completion: @escaping Completion
  ) {
    let some = adoption.rest.prefix(Self.importStride)
    adoption.rest = adoption.rest.dropFirst(some.count)
    state.withLock { state in
      guard state.isAccepting else {
        (adoption.result, adoption.isDone) = (.failed, true)
        return
      }
      for key in some where !adoption.verdict.isFull {
        enter(key, imported, appID, &state, &adoption.verdict)
      }
      adoption.isDone = adoption.rest.isEmpty || adoption.verdict.isFull
      adoption.isAwaited =
        adoption.isDone && adoption.verdict.taken > 0 && options.durability == .strict
      if adoption.isAwaited { state.pending.append(barrier: completion) }
    }
  }

  private func finish(_ adoption: Adoption, _ completion: @escaping Completion) -> ImportVerdict {
    if adoption.verdict.taken > 0 {
      wake(isFirstChange: state.withLock { $0.schedule.noteChange(at: clock.monotonic) })
    }
    if !adoption.isAwaited { completion(adoption.result) }
    return adoption.verdict
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
