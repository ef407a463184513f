/// The waits between an accepted upgrade request and its `101`, in the order of SPEC §3: counter durable, game
/// connected, key still good.
internal import HTTPWire

struct AdmissionMachine: ~Copyable {
  enum State: Equatable {
    /// The counter is on its way to the disk.
    case committing
    /// The game has been called.
    case connecting
    case open
    case refused
  }

  enum Action: Equatable {
    case connect
    /// Look whether the key was revoked meanwhile, then answer 101.
    case open
    case refuse(RefusalCode, step: String)
    /// The answer to what no longer waits.
    case nothing
  }

  private(set) var state: State

  /// - Parameter commits: whether a counter has to become durable first; without a key there is none.
  init(commits: Bool) {
    state = commits ? .committing : .connecting
  }

  mutating func committed(durably: Bool) -> Action {
    switch state {
    case .committing:
      if durably {
        state = .connecting
        return .connect
      }
      return refuse(.storeUnavailable, step: "commit_failed")
    case .connecting, .open, .refused: return .nothing
    }
  }

  mutating func connected() -> Action {
    switch state {
    case .connecting:
      state = .open
      return .open
    case .committing, .open, .refused: return .nothing
    }
  }

  mutating func connectFailed() -> Action {
    switch state {
    case .connecting: return refuse(.backendUnavailable, step: "backend_connect")
    case .committing, .open, .refused: return .nothing
    }
  }

  /// The game closed again before it could be told who plays.
  mutating func gameLost() -> Action {
    switch state {
    case .open: return refuse(.backendUnavailable, step: "backend_proxy_header")
    case .committing, .connecting, .refused: return .nothing
    }
  }

  /// The time for the present wait is over.
  mutating func expired() -> Action {
    switch state {
    case .committing: return refuse(.storeUnavailable, step: "commit_timeout")
    case .connecting: return refuse(.backendUnavailable, step: "backend_connect_timeout")
    case .open, .refused: return .nothing
    }
  }

  mutating func revoked() -> Action {
    switch state {
    case .committing, .connecting, .open: return refuse(.keyRevoked, step: "key_revoked")
    case .refused: return .nothing
    }
  }

  /// A newer session of the key took the place (SPEC §3, 409).
  mutating func superseded() -> Action {
    switch state {
    case .committing, .connecting: return refuse(.superseded, step: "superseded")
    case .open, .refused: return .nothing
    }
  }

  mutating func draining() -> Action {
    switch state {
    case .committing, .connecting: return refuse(.shuttingDown, step: "draining")
    case .open, .refused: return .nothing
    }
  }

  /// A peer that speaks before `101` is not a WebSocket client (SPEC §3).
  mutating func spokeEarly() -> Action {
    switch state {
    case .committing, .connecting: return refuse(.badRequest, step: "bytes_before_101")
    case .open, .refused: return .nothing
    }
  }

  private mutating func refuse(_ code: RefusalCode, step: String) -> Action {
    state = .refused
    return .refuse(code, step: step)
  }
}
