/// The way from an upgrade request to its `101`, in the order of docs/protocol.md, "Admission": key found, assertion
/// verified, counter durable, the session that is to be resumed found or the game connected and its leg stored, key still good.
///
/// Each step may have to be waited for, finding the key too: a store in memory answers at once, another one later.
/// Where the session that is to be resumed is not there any more, the key is looked up once more: a later upgrade of the same
/// app may have it.
package import Bytes
internal import HTTPWire
package import KeyStore
package import PortcullisProtocol

package struct AdmissionMachine: ~Copyable {
  package enum State: Equatable, CaseIterable {
    /// The key's record is being looked up.
    case finding
    /// The assertion is being verified.
    case judging
    /// The counter is on its way to the disk.
    case committing
    /// The loop of the session that is to be resumed was asked for it.
    case resuming
    /// The key's record is being looked up again, as there is no such session any more.
    case recounting
    /// The game has been called.
    case connecting
    /// The leg to the game is on its way to the store that keeps it beyond the process.
    case storing
    case open
    case refused
  }

  package enum Action: Equatable {
    case find(KeyIdentifier)
    case judge(KeyRecord)
    /// Ask for the session that the upgrade names.
    case resume
    /// Look whether the key's counter has gone on since.
    case recount(KeyIdentifier)
    case connect
    /// Have the leg stored, so that the app can be promised that.
    case store
    /// Judge again what has let it in so far, then answer 101.
    case open
    case refuse(RefusalCode, step: String)
    /// The answer to what no longer waits.
    case nothing
  }

  package private(set) var state: State
  private let keyID: KeyIdentifier?
  private let resumes: Bool
  private let resumesOnly: Bool

  /// - Parameters:
  ///   - resumes: the upgrade names a session to go on with.
  ///   - resumesOnly: it proves nothing that would let it begin another.
  package init(_ credential: Credential, resumes: Bool = false, resumesOnly: Bool = false) {
    keyID = credential.keyID
    self.resumes = resumes
    self.resumesOnly = resumesOnly
    state = keyID != nil ? .finding : resumes ? .resuming : .connecting
  }

  /// The first step.
  package func begin() -> Action {
    keyID.map { .find($0) } ?? (resumes ? .resume : .connect)
  }

  package mutating func found(_ finding: KeyFinding) -> Action {
    switch state {
    case .finding:
      switch finding {
      case .unknown: return refuse(.keyUnknown, step: "key_unknown")
      case .failed: return refuse(.storeUnavailable, step: "find_failed")
      case .known(let record):
        if record.revokedAt != nil { return refuse(.keyRevoked, step: "key_revoked") }
        state = .judging
        return .judge(record)
      }
    case .judging, .committing, .resuming, .recounting, .connecting, .storing, .open, .refused:
      return .nothing
    }
  }

  /// The assertion is good, and its counter on the way to the disk.
  package mutating func accepted() -> Action {
    switch state {
    case .judging:
      state = .committing
      return .nothing
    case .finding, .committing, .resuming, .recounting, .connecting, .storing, .open, .refused:
      return .nothing
    }
  }

  package mutating func rejected(_ code: RefusalCode, step: String) -> Action {
    switch state {
    case .judging: return refuse(code, step: step)
    case .finding, .committing, .resuming, .recounting, .connecting, .storing, .open, .refused:
      return .nothing
    }
  }

  /// - Parameter refusal: nil when the counter is durable.
  package mutating func committed(_ refusal: Refusal?) -> Action {
    switch state {
    case .committing:
      if let refusal { return refuse(refusal.code, step: refusal.step) }
      state = resumes ? .resuming : .connecting
      return resumes ? .resume : .connect
    case .finding, .judging, .resuming, .recounting, .connecting, .storing, .open, .refused: return .nothing
    }
  }

  /// The session that the upgrade names is here.
  package mutating func resumed() -> Action {
    switch state {
    case .resuming:
      state = .open
      return .open
    case .finding, .judging, .committing, .recounting, .connecting, .storing, .open, .refused: return .nothing
    }
  }

  /// It is nowhere any more: a later upgrade of the same app may have it.
  package mutating func notThere() -> Action {
    switch state {
    case .resuming:
      // Only a key has a count.
      guard let keyID else { return notResumed() }
      state = .recounting
      return .recount(keyID)
    case .finding, .judging, .committing, .recounting, .connecting, .storing, .open, .refused: return .nothing
    }
  }

  /// There is none for this app: a new one begins, where one may.
  package mutating func notResumed() -> Action {
    switch state {
    case .resuming, .recounting:
      if resumesOnly { return refuse(.nonceInvalid, step: NonceRefusal.sessionless.rawValue) }
      state = .connecting
      return .connect
    case .finding, .judging, .committing, .connecting, .storing, .open, .refused: return .nothing
    }
  }

  /// - Parameter stores: the leg is to be stored before the session begins.
  package mutating func connected(stores: Bool = false) -> Action {
    switch state {
    case .connecting:
      state = stores ? .storing : .open
      return stores ? .store : .open
    case .finding, .judging, .committing, .resuming, .recounting, .storing, .open, .refused: return .nothing
    }
  }

  /// The store has the leg, or has not said so in time: the session begins either way.
  package mutating func stored() -> Action {
    switch state {
    case .storing:
      state = .open
      return .open
    case .finding, .judging, .committing, .resuming, .recounting, .connecting, .open, .refused:
      return .nothing
    }
  }

  /// No address of the game's could be reached.
  /// - Parameter step: how the last one failed.
  package mutating func connectFailed(step: String = "backend_connect") -> Action {
    switch state {
    case .connecting: return refuse(.backendUnavailable, step: step)
    case .finding, .judging, .committing, .resuming, .recounting, .storing, .open, .refused: return .nothing
    }
  }

  /// The game closed again before it could be told who plays.
  package mutating func gameLost() -> Action {
    switch state {
    case .open: return refuse(.backendUnavailable, step: "backend_proxy_header")
    case .finding, .judging, .committing, .resuming, .recounting, .connecting, .storing, .refused:
      return .nothing
    }
  }

  /// The time for the present wait is over.
  package mutating func expired() -> Action {
    switch state {
    case .finding, .recounting: return refuse(.storeUnavailable, step: "find_timeout")
    case .committing: return refuse(.storeUnavailable, step: "commit_timeout")
    case .resuming: return refuse(.overloaded, step: "resume_timeout")
    case .connecting: return refuse(.backendUnavailable, step: "backend_connect_timeout")
    // The session is not promised to be kept: no reason to refuse it.
    case .storing: return stored()
    case .judging, .open, .refused: return .nothing
    }
  }

  /// What has let it in so far does so no more.
  package mutating func shutOut(_ refusal: Refusal) -> Action {
    switch state {
    case .finding, .judging, .committing, .resuming, .recounting, .connecting, .storing, .open:
      return refuse(refusal.code, step: refusal.step)
    case .refused: return .nothing
    }
  }

  /// A newer session of the key took the place (docs/protocol.md, "Admission", 409).
  package mutating func superseded() -> Action {
    switch state {
    case .finding, .judging, .committing, .resuming, .recounting, .connecting, .storing:
      return refuse(.superseded, step: "superseded")
    case .open, .refused: return .nothing
    }
  }

  package mutating func draining() -> Action {
    switch state {
    case .finding, .judging, .committing, .resuming, .recounting, .connecting, .storing:
      return refuse(.shuttingDown, step: "draining")
    case .open, .refused: return .nothing
    }
  }

  /// A peer that speaks before `101` is not a WebSocket client (docs/protocol.md, "Admission").
  package mutating func spokeEarly() -> Action {
    switch state {
    case .finding, .judging, .committing, .resuming, .recounting, .connecting, .storing:
      return refuse(.badRequest, step: "bytes_before_101")
    case .open, .refused: return .nothing
    }
  }

  private mutating func refuse(_ code: RefusalCode, step: String) -> Action {
    state = .refused
    return .refuse(code, step: step)
  }
}
