import Bytes
import Identity
import Kit
import Stores
import Synchronization
import Time

@testable import KeyStore

/// Any store of keys, and what makes come true what waits in it.
struct StoreUnderTest {
  enum Kind: CaseIterable {
    case file, fileOnAFailingDisk, memory, late, moody

    /// Whether a change may fail.
    var fails: Bool { self == .moody || self == .fileOnAFailingDisk }
  }

  /// What a change has come to, whether the verdict has said so or the completion.
  enum Result: Equatable {
    case done, failed
    case lost(CommitResult.Loss)
    /// Whoever waits for it waits for ever, or heard it twice.
    case answers(Int)
  }

  let kind: Kind
  let store: any AttestedKeyStore
  private let settle: @Sendable () -> Void
  let start = UnixTime(milliseconds: 1_771_286_400_000)

  init(_ kind: Kind, seed: UInt64 = 1) throws {
    self.kind = kind
    switch kind {
    case .file, .fileOnAFailingDisk:
      let bench = Bench()
      let store = try bench.open()
      self.store = store
      guard kind.fails else {
        settle = { store.commitAll() }
        return
      }
      let numbers = Mutex(SplitMix(seed: seed))
      settle = {
        if numbers.withLock({ $0.next(below: 3) == 0 }) { bench.files.failAll(5) }
        store.commitAll()
        bench.files.failAll(nil)
        bench.clock.advance(.seconds(60))
        _ = store.snapshotStep()
        store.commitAll()
      }
    case .memory:
      store = MemoryStore()
      settle = {}
    case .late:
      let late = LateStore(MemoryStore())
      store = late
      settle = {
        while late.findCount > 0 { late.answerFind() }
        late.answerChanges()
      }
    case .moody:
      store = MoodyStore(seed: seed)
      settle = {}
    }
  }

  // MARK: What is asked

  func register(_ number: Int, at time: Int64 = 0, by challenge: Unspent? = nil) -> Result {
    let key = newKey(number, at: UnixTime(milliseconds: start.milliseconds + time))
    return result { completion in
      switch store.register(key, spending: challenge, completion: completion) {
      case .accepted: nil
      case .revoked: .lost(.revoked)
      case .full: .lost(.full)
      case .unavailable: .failed
      }
    }
  }

  func count(_ number: Int, to signCount: UInt32, by challenge: Unspent? = nil) -> Result {
    result { completion in
      let verdict = store.advanceCounter(
        of: identifier(number), to: signCount, recording: nil, environment: nil, now: start,
        spending: challenge, isGathered: true, completion: completion)
      store.commitGathered()
      return switch verdict {
      case .accepted: nil
      case .unknownKey: .lost(.unknownKey)
      case .revoked: .lost(.revoked)
      case .replayed(let stored): .lost(.replayed(stored: stored))
      case .unavailable: .failed
      }
    }
  }

  /// - Returns: the verdict, and whether the key was refused when it came.
  func revoke(_ number: Int, reason: String? = nil, at time: Int64 = 0) -> (
    RevokeVerdict?, isRefused: Bool, Result
  ) {
    let told = Recorder<(RevokeVerdict, Bool)>()
    let store = store
    let result = result { completion in
      store.revoke(
        identifier(number), reason: reason.flatMap { RevocationReason($0) },
        now: UnixTime(milliseconds: start.milliseconds + time),
        verdict: { told.append(($0, store.isRevoked(identifier(number)))) }, completion: completion)
      if case .revoked? = told.all.first?.0 { return nil }
      return .lost(.unknownKey)
    }
    return (told.all.count == 1 ? told.all.first?.0 : nil, told.all.first?.1 == true, result)
  }

  func find(_ number: Int) -> KeyFinding {
    let found = Recorder<KeyFinding>()
    switch store.find(identifier(number), later: { { found.append($0) } }) {
    case .found(let finding): return finding
    case .later:
      settle()
      return found.all.count == 1 ? found.all[0] : .failed
    }
  }

  /// Until it says.
  func record(_ number: Int) -> KeyRecord? {
    for _ in 0..<100 {
      switch find(number) {
      case .known(let record): return record
      case .unknown: return nil
      case .failed: continue
      }
    }
    return nil
  }

  /// Until it does not fail.
  func again(_ change: () -> Result) -> Result {
    for _ in 0..<100 {
      let result = change()
      if result != .failed { return result }
    }
    return .failed
  }

  /// - Parameter change: nil where the completion has to follow; else it must not.
  func result(_ change: (@escaping AttestedKeyStore.Completion) -> Result?) -> Result {
    let heard = Recorder<CommitResult>()
    let verdict = change { heard.append($0) }
    settle()
    if let verdict { return heard.all.isEmpty ? verdict : .answers(heard.all.count) }
    guard heard.all.count == 1 else { return .answers(heard.all.count) }
    switch heard.all[0] {
    case .committed: return .done
    case .failed: return .failed
    case .lost(let loss): return .lost(loss)
    }
  }
}
