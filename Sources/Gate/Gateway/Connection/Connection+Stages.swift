/// A connection's ways from one stage to another, and out of its life: what each stage gives back when it is left.
internal import Admission
internal import Requests
internal import Scheduling
internal import System
internal import Telemetry
internal import Time
internal import TLS

extension Connection {
  /// A refused upgrade leaves nothing behind but its place in the exchange.
  func returnToExchange(from admission: AdmissionAttempt) {
    leaveStage()
    move(to: .exchange(admission.exchange))
  }

  /// Says close_notify and FIN on the client's side, and waits a while for the peers' ends, reading nothing of use.
  func finish() {
    switch stage {
    case .lingering, .closed: return
    case .session(let attachment):
      // Counted among those that part before it is no session any more, so that a drain misses it at no moment.
      loop.shared.parting.increment()
      // What is queued for the game still goes there, unless the session lives on without this connection.
      leaveStage(keeping: attachment.session)
      beginLingering(
        Lingering(attachment.session.state == .ended ? attachment.session : nil, isParting: true))
    case .proxyHeader, .handshake, .exchange, .admission:
      noteLeaving()
      leaveStage()
      beginLingering(Lingering(nil, isParting: false))
    }
  }

  private func beginLingering(_ lingering: Lingering) {
    loop.shared.lingering.increment()
    move(to: .lingering(lingering))
    client.tls.finishSending()
    arm(at: loop.now + Lingering.time)
    loop.continueLater(self)
  }

  /// The client has not waited for the answer.
  private func noteLeaving() {
    switch stage {
    case .exchange(let exchange): counters.noteLeft(exchange.asked)
    case .admission: counters.noteLeft(.upgrade)
    case .proxyHeader, .handshake, .session, .lingering, .closed: break
    }
  }

  /// Frees everything at the end of this turn: the one way out.
  func close() {
    if case .closed = stage { return }
    noteLeaving()
    leaveStage()
    leaveCount()
    move(to: .closed)
    loop.closed(self)
  }

  /// Gives back what the present stage holds; every way out of a stage but the one forward passes here.
  /// - Parameter kept: a session whose leg has still something to say.
  private func leaveStage(keeping kept: GameSession? = nil) {
    switch stage {
    case .admission(let admission):
      // One that was to be resumed, and is here already, goes on without this connection (`Loop.staysDetached`).
      if admission.session.state == .opening {
        loop.end(admission.session, because: nil)
        loop.release(admission.session)
      }
      if role == .proxyWithFields { leaveCount() }
    case .session(let attachment):
      loop.part(attachment.session, from: self, because: attachment.stream.end)
      if kept == nil, attachment.session.state == .ended { loop.release(attachment.session) }
    case .lingering(let lingering):
      loop.shared.lingering.decrement()
      if lingering.isParting { loop.shared.parting.decrement() }
      if let session = lingering.session { loop.release(session) }
    case .exchange(let exchange): abandon(exchange)
    case .proxyHeader, .handshake, .closed: break
    }
  }
}

extension ConnectionState {
  /// Nil for one that is gone.
  init?(_ stage: Connection.Stage) {
    switch stage {
    case .proxyHeader: self = .proxyHeader
    case .handshake: self = .handshake
    case .exchange: self = .exchange
    case .admission: self = .admission
    case .session: self = .session
    case .lingering: self = .lingering
    case .closed: return nil
    }
  }
}
