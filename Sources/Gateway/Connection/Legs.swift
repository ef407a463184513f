/// The two sides of a connection in one piece, so that a turn takes hold of both at once.
internal import Sockets
internal import TLS

struct Legs: ~Copyable {
  var client: ClientLeg
  var backend: BackendLeg?

  /// What a turn has come to.
  struct Settlement {
    let sending: FlushResult
    /// All that had waited for the client has left.
    let hasDrained: Bool
    /// Something waits for one of the sides.
    let waits: Bool
    /// One of them took some of what waited.
    let hasProgressed: Bool
  }

  /// The poller reported one of them.
  mutating func note(_ event: ReadyEvent, of leg: Token.Leg) {
    switch leg {
    case .client: client.note(event)
    case .backend: backend?.note(event)
    }
  }

  /// Ends a turn: what was encrypted leaves for the kernel.
  mutating func settle(_ outbox: Outbox) -> Settlement {
    let wasBlocked = !client.unsent.isEmpty
    let sending = client.flush(outbox)
    let clientProgressed = client.takeProgress()
    let backendProgressed = backend?.takeProgress() ?? false
    return Settlement(
      sending: sending, hasDrained: wasBlocked && client.unsent.isEmpty,
      waits: !client.unsent.isEmpty || backendWaits, hasProgressed: clientProgressed || backendProgressed)
  }

  /// The game has not taken yet what the player sent.
  var backendWaits: Bool {
    switch backend {
    case .some(let leg): !leg.unsent.isEmpty
    case nil: false
    }
  }

  var backendMayHaveInput: Bool {
    switch backend {
    case .some(let leg): leg.mayHaveInput
    case nil: false
    }
  }
}
